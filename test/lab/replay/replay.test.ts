import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { readFileSync, readdirSync } from 'node:fs'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  type IngestOptions,
  type Receipt,
  type ReplayOptions,
  connect,
  ingest,
  replay,
  verify,
} from '../../../src/index.js'
import { failureOf, newIndex } from '../../contracts/options.js'
import { index, lab, path, shareLab, way, work } from '../../support/lab/shared-lab.js'

shareLab()

/** An index whose field `n` takes whole numbers alone. */
async function numbersAlone(name = index): Promise<void> {
  await using open = await connect(way())
  await open.client.indices.create({ index: name, mappings: { properties: { n: { type: 'long' } } } })
}

async function load(lines: readonly string[], more: Partial<IngestOptions> = {}): Promise<Receipt> {
  await writeFile(path('in.ndjson'), lines.map(line => `${line}\n`).join(''))
  return await ingest({ ...way(), source: path('in.ndjson'), index, deadLetters: path('dead.ndjson'), ...more })
}

async function again(more: Partial<ReplayOptions> = {}): Promise<Receipt> {
  return await replay({
    ...way(),
    source: path('dead.ndjson'),
    deadLetters: path('again.ndjson'),
    stateDir: path('state'),
    ...more,
  })
}

interface Letter {
  readonly operation: string
  readonly run: string
  readonly index: string
  readonly id?: string
  readonly routing?: string
  readonly origin: { readonly input: string; readonly document: number; readonly line: number; readonly offset: number }
  readonly attempts: number
  readonly type: string
  readonly document?: unknown
  readonly line?: string
}

function lettersIn(name: string): Letter[] {
  return readFileSync(path(name), 'utf8')
    .trimEnd()
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Letter)
}

const asText = (one: unknown, other: unknown) => (String(one) < String(other) ? -1 : 1)

const stored = (letter: Letter) => lab.control.source(index, letter.id ?? '')?.toString()

describe('a replay', () => {
  test('stores what was repaired, under the ids that it had, and keeps the rest with its first origin', async () => {
    await numbersAlone()
    await load(['{"n":1}', '{ "n":"two",  "big":1234567890123456789 }', '[3]', '{"n":"four"}', '{"n":5'])
    const before = lettersIn('dead.ndjson')
    expect(before.map(({ id }) => id?.split('-')[1]).toSorted(asText)).toEqual(['2', '3', '4', '5'])
    const text = await readFile(path('dead.ndjson'), 'utf8')
    await writeFile(path('dead.ndjson'), text.replace('"two"', '2').replace('"{\\"n\\":5"', '"{\\"n\\":5}"'))

    const receipt = await again()
    expect(receipt).toMatchObject({ status: 'finished', read: 4, created: 2, rejected: 2, duplicate: 0 })
    expect(receipt.rejections.map(({ type, field }) => [type, field]).toSorted(asText)).toEqual([
      ['DOCUMENT_NOT_JSON', undefined],
      ['document_parsing_exception', 'n'],
    ])
    expect(lab.control.count(index)).toBe(3)
    const byNumber = (number: number) => before.find(({ origin }) => origin.document === number) as Letter
    expect(stored(byNumber(2))).toBe('{ "n":2,  "big":1234567890123456789 }')
    expect(stored(byNumber(5))).toBe('{"n":5}')
    const left = lettersIn('again.ndjson')
    expect(left.map(({ origin, id, index: where }) => ({ origin, id, where })).toSorted(byDocument)).toEqual(
      [byNumber(3), byNumber(4)].map(({ origin, id, index: where }) => ({ origin, id, where })),
    )
    expect(left.every(({ run }) => run === receipt.run)).toBe(true)
    expect(left.find(({ origin }) => origin.document === 4)).toMatchObject({ attempts: 2, document: { n: 'four' } })
    expect(left.find(({ origin }) => origin.document === 3)).toMatchObject({ attempts: 0, line: '[3]' })

    // What is left is a file like the first.
    const rest = await readFile(path('again.ndjson'), 'utf8')
    await writeFile(path('again.ndjson'), rest.replace('"four"', '4').replace('"line":"[3]"', '"document":{"n":3}'))
    const last = await again({ source: path('again.ndjson'), deadLetters: path('last.ndjson') })
    expect(last).toMatchObject({ created: 2, rejected: 0 })
    expect(last).not.toHaveProperty('deadLetters')
    expect(lab.control.count(index)).toBe(5)
  })

  const byDocument = (one: Pick<Letter, 'origin'>, other: Pick<Letter, 'origin'>) =>
    one.origin.document - other.origin.document

  test('counts as duplicate what is stored already under an id of Sluice’s own', async () => {
    await numbersAlone()
    await load(['{"n":"one"}', '{"n":"two"}'])
    const text = await readFile(path('dead.ndjson'), 'utf8')
    await writeFile(path('dead.ndjson'), text.replace('"one"', '1').replace('"two"', '2'))
    expect(await again()).toMatchObject({ created: 2 })
    expect(await again()).toMatchObject({ created: 0, requests: 0, inputs: [{ alreadyLoaded: true }] })
    expect(await again({ again: true })).toMatchObject({ created: 0, duplicate: 2, rejected: 0 })
    expect(lab.control.count(index)).toBe(2)
  })

  test('sends ids of a field, routing and the operation as they were, and an id that is taken is refused again', async () => {
    const more = { op: 'create', ids: 'field', idField: 'sku', routingField: 'shop' } as const
    await numbersAlone()
    await load(['{"sku":"a","shop":"x","n":1}'], more)
    await load(['{"sku":"a","shop":"x","n":2}', '{"sku":"b","shop":"y","n":"three"}', '{"shop":"z","n":4}'], more)
    const before = lettersIn('dead.ndjson')
    expect(before.map(({ id, routing }) => [id, routing]).toSorted(asText)).toEqual([
      [undefined, undefined],
      ['a', 'x'],
      ['b', 'y'],
    ])
    const text = await readFile(path('dead.ndjson'), 'utf8')
    await writeFile(path('dead.ndjson'), text.replace('"three"', '3').replace('{"shop":"z"', '{"sku":"c","shop":"z"'))
    expect(await again()).toMatchObject({ created: 2, rejected: 1, duplicate: 0, unknown: 0 })
    expect(lettersIn('again.ndjson')).toMatchObject([{ id: 'a', routing: 'x', attempts: 2 }])
    expect(['b', 'c'].map(id => lab.control.source(index, id)?.toString())).toEqual([
      '{"sku":"b","shop":"y","n":3}',
      '{"sku":"c","shop":"z","n":4}',
    ])
    expect(await again({ again: true, onConflict: 'skip' })).toMatchObject({ skipped: 3, rejected: 0 })
  })

  test('is no run whose ids can be looked up: its documents belong to the run that refused them', async () => {
    await numbersAlone()
    const first = await load(['{"n":1}', '{"n":"two"}'], { stateDir: path('state') })
    await writeFile(path('dead.ndjson'), (await readFile(path('dead.ndjson'), 'utf8')).replace('"two"', '2'))
    const second = await again()
    const look = async (run: string) => await verify({ ...way(), run, stateDir: path('state') })
    expect((await failureOf(look(second.run))).code).toBe('RUN_IDS_UNKNOWN')
    expect(await look(first.run)).toMatchObject({ missing: 0 })
  })

  test('sends what had no id without one', async () => {
    await numbersAlone()
    await load(['{"n":"one"}', '{"n":"two"}'], { ids: 'cluster', op: 'index' })
    expect(lettersIn('dead.ndjson').map(({ id, operation }) => [id, operation])).toEqual([
      [undefined, 'index'],
      [undefined, 'index'],
    ])
    await writeFile(path('dead.ndjson'), (await readFile(path('dead.ndjson'), 'utf8')).replaceAll(/"(one|two)"/g, '7'))
    expect(await again()).toMatchObject({ created: 2 })
    expect(lab.control.count(index)).toBe(2)
  })

  test('sends each document to the index that it was meant for, or all of them where they are told to go', async () => {
    const other = newIndex('replay')
    await numbersAlone()
    await numbersAlone(other)
    await load(['{"n":"one"}'])
    await load(['{"n":"two"}'], { index: other })
    await writeFile(path('dead.ndjson'), (await readFile(path('dead.ndjson'), 'utf8')).replaceAll(/"(one|two)"/g, '7'))
    expect(await again()).toMatchObject({ created: 2 })
    expect([lab.control.count(index), lab.control.count(other)]).toEqual([1, 1])
    const third = newIndex('replay')
    expect(await again({ index: third })).toMatchObject({ created: 2 })
    expect(lab.control.count(third)).toBe(2)
  })

  test('names a record that a kill has torn, keeps it, and sends the others', async () => {
    await numbersAlone()
    await load(['{"n":"one"}', '{"n":"two"}'])
    const [first = '', second = ''] = (await readFile(path('dead.ndjson'), 'utf8')).split('\n')
    const torn = second.slice(0, -12)
    await writeFile(path('dead.ndjson'), `${first.replace('"one"', '1')}\n${torn}`)
    const documents: string[] = []
    const receipt = await again({
      onEvent: event => {
        if (event.type === 'rejected') documents.push(...event.documents.map(({ reason }) => reason))
      },
    })
    expect(receipt).toMatchObject({ created: 1, rejected: 1, rejections: [{ status: 0, type: 'DEAD_LETTER_BROKEN' }] })
    expect(documents).toEqual([expect.stringMatching(/^not a dead letter: broken JSON/)])
    const origin = { input: path('dead.ndjson'), document: 2, line: 2 }
    expect(lettersIn('again.ndjson')).toMatchObject([{ type: 'DEAD_LETTER_BROKEN', line: torn, origin }])
  })

  test('reads gzip, and stdin where it is told the index', async () => {
    await numbersAlone()
    await load(['{"n":"one"}'])
    const bytes = Buffer.from((await readFile(path('dead.ndjson'), 'utf8')).replace('"one"', '1'))
    await writeFile(path('dead.ndjson.gz'), gzipSync(bytes))
    expect(await again({ source: path('dead.ndjson.gz') })).toMatchObject({ created: 1 })
    const stdin = () => Readable.from([bytes])
    expect(await again({ source: '-', stdin: stdin(), index })).toMatchObject({ duplicate: 1 })
    expect(await failureOf(again({ source: '-', stdin: stdin() }))).toMatchObject({
      code: 'OPTION_INVALID',
      evidence: { option: 'index', problem: 'is not set, and - can be read only once' },
    })
  })

  test('writes nothing in a dry run', async () => {
    await numbersAlone()
    await load(['{"n":"one"}', 'no'])
    expect(await again({ dryRun: true })).toMatchObject({ unsent: 1, rejected: 1, requests: 0 })
    expect(readdirSync(work).toSorted()).toEqual(['dead.ndjson', 'in.ndjson'])
  })
})

describe('an interrupted replay', () => {
  const batches = { batchDocs: 10, concurrency: 2 }

  /** Replays and is aborted once so many were refused again. */
  async function interrupted(after: number, more: Partial<ReplayOptions> = {}): Promise<Receipt> {
    const controller = new AbortController()
    const onEvent: ReplayOptions['onEvent'] = event => {
      if (event.type === 'progress' && event.counts.rejected >= after) controller.abort('test')
    }
    const stopped = await failureOf(again({ ...batches, ...more, signal: controller.signal, onEvent }))
    expect(stopped.code).toBe('RUN_INTERRUPTED')
    return stopped.receipt as Receipt
  }

  test('goes on where it stopped, and writes every document down once', async () => {
    await numbersAlone()
    await load(Array.from({ length: 600 }, (_, n) => `{"n":${n % 3 === 0 ? `"x${n}"` : n}}`))
    const before = lettersIn('dead.ndjson')
    expect(before).toHaveLength(200)
    const first = await interrupted(60)
    expect(first.read).toBeLessThan(200)
    const second = await again(batches)
    expect(second).toMatchObject({ run: first.run, status: 'finished', read: 200, rejected: 200, unsent: 0 })
    expect(second.thisProcess.read).toBeLessThan(200)
    const ids = (letters: Letter[]) => letters.map(({ id }) => id).toSorted(asText)
    expect(ids(lettersIn('again.ndjson'))).toEqual(ids(before))
    expect(lettersIn('again.ndjson').every(({ attempts }) => attempts === 2)).toBe(true)
  })

  test('is refused where the file was edited meanwhile', async () => {
    await numbersAlone()
    await load(Array.from({ length: 300 }, (_, n) => `{"n":"x${n}"}`))
    await interrupted(60)
    await writeFile(path('dead.ndjson'), (await readFile(path('dead.ndjson'), 'utf8')).replace('"x0"', '0'))
    expect((await failureOf(again(batches))).code).toBe('INPUT_CHANGED')
  })
})

describe('a replay to several indices', { tags: 'long' }, () => {
  /** Dead letters that are repaired already, so many for each index. */
  async function repaired(counts: Readonly<Record<string, number>>): Promise<void> {
    const lines = Object.entries(counts).flatMap(([name, count], at) =>
      Array.from({ length: count }, (_, n) => {
        const [id, origin] = [`${'abcdefg'.charAt(at).repeat(16)}-${n + 1}`, { input: 'a', document: n + 1 }]
        return `${JSON.stringify({ operation: 'create', origin, index: name, id, attempts: 1, document: { n } })}\n`
      }),
    )
    await writeFile(path('dead.ndjson'), lines.join(''))
  }

  async function remake(name: string): Promise<void> {
    await using open = await connect(way())
    await open.client.indices.delete({ index: name })
    await open.client.indices.create({ index: name })
  }

  /** A replay, aborted once so many were stored, and what it warned of. */
  async function replayed(more: Partial<ReplayOptions> = {}, until = Infinity): Promise<[Receipt, string[]]> {
    const controller = new AbortController()
    const warnings: string[] = []
    const onEvent: ReplayOptions['onEvent'] = event => {
      if (event.type === 'warning') warnings.push(event.message)
      if (event.type === 'progress' && event.counts.created >= until) controller.abort('test')
    }
    const running = again({ batchDocs: 10, concurrency: 1, ...more, signal: controller.signal, onEvent })
    return [until === Infinity ? await running : ((await failureOf(running)).receipt as Receipt), warnings]
  }

  const lost = (names: string, run: string) =>
    `${names} the index that run ${run} loaded into. Sluice loads everything again`
  const twice = '. If documents without an id still exist, it stores them twice'

  test('begins anew, and says so, where any of them was made anew since it was interrupted', async () => {
    const other = newIndex('replay')
    await repaired({ [index]: 20, [other]: 200 })
    const [first] = await replayed({}, 100)
    expect(first.read).toBeLessThan(220)
    await remake(other)
    const [second, warnings] = await replayed()
    expect(warnings).toEqual([lost(`${other} is no longer`, first.run) + twice])
    expect(second).toMatchObject({ read: 220, created: 200, duplicate: 20, rejected: 0 })
    expect(second.run).not.toBe(first.run)
    expect([lab.control.count(index), lab.control.count(other)]).toEqual([20, 200])
  })

  test('goes on in a third process where the indices are those of the first', async () => {
    const other = newIndex('replay')
    await repaired({ [index]: 20, [other]: 200 })
    const [{ run }] = await replayed({}, 60)
    const [second, none] = await replayed({}, 130)
    expect([second.run, none]).toEqual([run, []])
    await remake(index)
    const [third, warnings] = await replayed()
    expect(warnings).toEqual([lost(`${index} is no longer`, run) + twice])
    expect(third.created + third.duplicate).toBe(220)
    expect([lab.control.count(index), lab.control.count(other)]).toEqual([20, 200])
  })

  test('that is through is made again where all of them are gone; for a part of them that is only said', async () => {
    const other = newIndex('replay')
    await repaired({ [index]: 20, [other]: 20 })
    const [{ run }] = await replayed()
    await remake(other)
    const [told, warnings] = await replayed()
    const observed = `${other} is no longer the index that run ${run} loaded into`
    expect(warnings).toEqual([`${observed}. To load everything again, pass --again`])
    expect([told.requests, lab.control.count(other)]).toEqual([0, 0])
    await remake(index)
    expect((await replayed())[0]).toMatchObject({ created: 40 })
  })

  test('or to the one that it is told is the same one for all of it', async () => {
    const other = newIndex('replay')
    await repaired({ [index]: 20, [other]: 200 })
    const [{ run }] = await replayed({}, 100)
    const codes: string[] = []
    for (const more of [{ index: other }, { pipeline: 'p' }, { index: other, pipeline: 'p' }]) {
      const { code, evidence } = await failureOf(again(more))
      codes.push(`${code} ${String(evidence['run'] === run)} ${String(evidence['differences'])}`)
    }
    expect(codes).toEqual([
      `RUN_OPTIONS_CHANGED true index was not set but is now ${other}`,
      'RUN_OPTIONS_CHANGED true pipeline was not set but is now p',
      `RUN_OPTIONS_CHANGED true index was not set but is now ${other},pipeline was not set but is now p`,
    ])
    expect((await replayed())[0]).toMatchObject({ run, read: 220, rejected: 0 })

    const third = newIndex('replay')
    const [told] = await replayed({ index: third }, 100)
    expect(await failureOf(again())).toMatchObject({
      code: 'RUN_OPTIONS_CHANGED',
      evidence: { run: told.run, differences: [`index was ${third} but is now not set`] },
    })
    expect((await replayed({ index: third }))[0]).toMatchObject({ run: told.run, read: 220 })
    expect(lab.control.count(third)).toBe(220)
  })

  test('begins anew where the one that it was told is gone', async () => {
    const third = newIndex('replay')
    await repaired({ [index]: 200 })
    const [{ run }] = await replayed({ index: third }, 100)
    await remake(third)
    const [second, warnings] = await replayed({ index: third })
    expect(warnings).toEqual([lost(`${third} is no longer`, run)])
    expect(second).toMatchObject({ read: 200, created: 200 })
  })
})

test.each(['index', 'pipeline'])(
  'a dead letter whose %s is half a character stops no others',
  { tags: 'long' },
  async name => {
    const of = (n: number, more = {}) =>
      JSON.stringify({
        operation: 'create',
        index,
        id: `a${n}`,
        ...more,
        origin: { input: 'a', document: n },
        document: { n },
      })
    await writeFile(path('dead.ndjson'), `${of(1)}\n${of(2, { [name]: '\ud800' })}\n${of(3)}\n`)
    expect(await again()).toMatchObject({ created: 2, rejected: 1 })
    expect(lettersIn('again.ndjson').map(({ type }) => type)).toEqual(['DEAD_LETTER_BROKEN'])
  },
)

describe('before anything is sent', () => {
  test('a file is refused that holds no dead letter, and one without an index where none is told', async () => {
    lab.control.forgetConnections()
    await writeFile(path('dead.ndjson'), '\n{"n":1}\n{"n":2}\n')
    expect(await failureOf(again())).toMatchObject({
      code: 'NOT_DEAD_LETTERS',
      evidence: {
        problem:
          'none of its lines is a dead letter. The first line: its operation is not one of create, index, update, upsert, delete',
      },
    })
    const problem = 'it is UTF-16 text. Convert it to UTF-8'
    await writeFile(path('dead.ndjson'), Buffer.from('\ufeff{"n":1}\n', 'utf16le'))
    expect(await failureOf(again())).toMatchObject({ code: 'NOT_DEAD_LETTERS', evidence: { problem } })
    await writeFile(path('dead.ndjson'), '')
    expect((await failureOf(again())).code).toBe('OPTION_INVALID')
    const old = { operation: 'create', id: 'a', origin: { input: 'a', document: 1 }, document: {} }
    await writeFile(path('dead.ndjson'), JSON.stringify(old))
    expect(await failureOf(again())).toMatchObject({ code: 'OPTION_INVALID', evidence: { option: 'index' } })
    expect(await failureOf(again({ source: path('none.ndjson') }))).toMatchObject({ code: 'INPUT_NOT_FOUND' })
    expect(lab.control.connections()).toEqual([])
    expect(await again({ index })).toMatchObject({ created: 1 })
  })

  test('options are refused that the dead letters say themselves, and those of a guarded load', async () => {
    const ofIngest = [{ ids: 'field' }, { op: 'index' }, { format: 'json' }, { idField: 'n' }, { swapAlias: 'a' }]
    for (const option of [...ofIngest, { checkHits: 2 }, { source: [] }, { source: 7 }])
      expect((await failureOf(again(option as Partial<ReplayOptions>))).code).toBe('OPTION_INVALID')
    expect((await failureOf(again({ index: 'Upper' }))).code).toBe('INDEX_NAME_INVALID')
  })

  test('dead letters are refused that are the file itself, or a pipe', async () => {
    await numbersAlone()
    await load(['{"n":"one"}'])
    expect(await failureOf(again({ deadLetters: path('dead.ndjson') }))).toMatchObject({
      code: 'OPTION_INVALID',
      evidence: { option: 'deadLetters' },
    })
    execFileSync('mkfifo', [path('pipe')])
    expect((await failureOf(again({ deadLetters: path('pipe') }))).code).toBe('DEAD_LETTERS_UNWRITABLE')
  })
})

test('a destination that is made anew during a replay is named, and the next replay sends all of it again', async () => {
  const count = 60
  await numbersAlone()
  await load(Array.from({ length: count }, (_, n) => `{"n":"${n}x"}`))
  const whole = lettersIn('dead.ndjson').map((letter, n) => `${JSON.stringify({ ...letter, document: { n } })}\n`)
  await writeFile(path('dead.ndjson'), whole.join(''))
  await using direct = await connect(way())
  let isDeleted = false
  const more: Partial<ReplayOptions> = {
    batchDocs: 5,
    concurrency: 1,
    onEvent: ({ type }) => {
      if (type !== 'progress' || isDeleted) return
      isDeleted = true
      void direct.client.indices.delete({ index })
    },
  }
  lab.control.plant({ latencyMs: 40 })
  const first = await failureOf(again(more))
  lab.control.heal()
  expect([isDeleted, first.code]).toEqual([true, 'INDEX_REPLACED'])
  await again()
  expect(lab.control.count(index)).toBe(count)
})
