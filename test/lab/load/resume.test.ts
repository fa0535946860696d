import { appendFile, chmod, readFile, readdir, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type IngestEvent, type IngestOptions, type Receipt, ingest, isSluiceError } from '../../../src/index.js'
import { codeOf, lines } from '../../support/lab/run-world.js'
import { tokenOf } from '../../../src/base/checksum/tokens.js'
import { lastRun, rewriteRun } from '../../support/state/stored-runs.js'
import { checkpoint, index, lab, otherIndex, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

const state = () => path('state')

type More = Partial<IngestOptions>

/** A load of files in the working folder, in small batches. */
async function load(source: IngestOptions['source'], more: More = {}): Promise<Receipt> {
  return await ingest({ source, ...smallBatches(), ...more })
}

/** The same, aborted once so many documents were booked. */
async function interrupted(source: IngestOptions['source'], after: number, more: More = {}): Promise<Receipt> {
  const controller = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'progress' && event.counts.created + event.counts.duplicate >= after) controller.abort('test')
  }
  try {
    await load(source, { ...more, signal: controller.signal, onEvent })
  } catch (error) {
    if (isSluiceError(error) && error.code === 'RUN_INTERRUPTED') return error.receipt as Receipt
    throw error
  }
  throw new Error('the run was not interrupted')
}

async function warningsOf(run: (onEvent: IngestOptions['onEvent']) => Promise<unknown>): Promise<string[]> {
  const warnings: string[] = []
  await run(event => {
    if (event.type === 'warning') warnings.push(event.message)
  })
  return warnings
}

describe('dead letters of before', () => {
  const begun = async () => {
    await writeFile(path('a.ndjson'), `not json\n${lines(400)}`)
    return await interrupted(path('a.ndjson'), 100)
  }

  test('stay in the receipt and the checkpoint where a resume is given another file', { tags: 'long' }, async () => {
    await begun()
    const warnings = await warningsOf(async onEvent => {
      const receipt = await load(path('a.ndjson'), { deadLetters: path('other.ndjson'), onEvent })
      expect(receipt).toMatchObject({ rejected: 1, deadLetters: path('dead.ndjson') })
    })
    expect(warnings).toContain(`documents that were rejected before stay in ${path('dead.ndjson')}`)
    expect((await checkpoint()).deadLetters?.path).toBe(path('dead.ndjson'))
  })

  test('that are gone are missed aloud', { tags: 'long' }, async () => {
    await begun()
    await rm(path('dead.ndjson'))
    const warnings = await warningsOf(async onEvent => await load(path('a.ndjson'), { onEvent }))
    expect(warnings.join()).toContain(`${path('dead.ndjson')} no longer holds all documents`)
  })
})

describe('an interrupted run', () => {
  test('with a name is not loaded again: its ids would be the same', async () => {
    await writeFile(path('a.ndjson'), lines(3))
    expect(await codeOf(load(path('a.ndjson'), { runId: 'nightly', again: true }))).toMatch(/^OPTION_INVALID: again: /)
  })

  test('goes on where it stopped, and its receipt is that of the whole', { tags: 'long' }, async () => {
    await writeFile(path('a.ndjson'), `${lines(200)}not json\n\n${lines(300, 201)}`)
    const first = await interrupted(path('a.ndjson'), 60)
    expect(first.checkpoint).toBe(path(`state/runs/${(await readdir(path('state/runs')))[0]}`))
    const kept = await checkpoint()
    expect(kept).toMatchObject({ status: 'interrupted', run: first.run, target: { index } })

    const second = await load(path('a.ndjson'))
    expect(second).toMatchObject({ run: first.run, status: 'finished', read: 502, rejected: 1, skipped: 1, unsent: 0 })
    expect(second.created + second.duplicate).toBe(500)
    expect(second.inputs).toMatchObject([{ read: 502, resumedAt: kept.inputs[0]?.mark.document }])
    expect(second.thisProcess.read).toBe(502 - kept.counts.read)
    expect(second.thisProcess.read).toBeLessThan(502)
    expect(lab.control.count(index)).toBe(500)
    expect((await readFile(path('dead.ndjson'), 'utf8')).trimEnd().split('\n')).toHaveLength(1)
    expect((await checkpoint()).status).toBe('finished')
  })

  test('reads only what is left, of plain files and of compressed ones', { tags: 'long' }, async () => {
    const bytes = lines(500)
    await writeFile(path('a.ndjson'), bytes)
    await writeFile(path('b.ndjson.gz'), gzipSync(bytes))
    for (const name of ['a.ndjson', 'b.ndjson.gz']) {
      otherIndex()
      await interrupted(path(name), 200)
      const receipt = await load(path(name))
      expect(receipt.bytes.read).toBeLessThan(bytes.length)
      expect(receipt.created + receipt.duplicate).toBe(500)
      expect(lab.control.count(index)).toBe(500)
    }
  })

  test('goes on within a JSON document', { tags: 'long' }, async () => {
    const documents = Array.from({ length: 500 }, (_, n) => ({ n }))
    await writeFile(path('a.json'), JSON.stringify({ hits: documents }, undefined, 1))
    const first = await interrupted(path('a.json'), 100, { pick: 'hits' })
    const receipt = await load(path('a.json'), { pick: 'hits' })
    expect(receipt).toMatchObject({ run: first.run, read: 500, rejected: 0 })
    expect(receipt.created + receipt.duplicate).toBe(500)
    const { inputs } = await checkpoint()
    expect(lab.control.source(index, `${inputs[0]?.token}-500`)?.toString()).toBe('{"n":499}')
    expect(lab.control.count(index)).toBe(500)
  })

  test('finishes the inputs that are left, and names those that are done', async () => {
    await writeFile(path('a.ndjson'), lines(50))
    await writeFile(path('b.ndjson'), lines(300))
    await interrupted([path('a.ndjson'), path('b.ndjson')], 150)
    await writeFile(path('c.ndjson'), lines(5))
    const glob = await load([path('a.ndjson'), path('b.ndjson')])
    expect(glob.inputs).toMatchObject([{ alreadyLoaded: true, read: 50 }, { read: 300 }])
    expect(lab.control.count(index)).toBe(350)
  })

  test('counts against the limit of rejections as a whole', async () => {
    const text = `${'nothing\n'.repeat(30)}${lines(200)}`
    await writeFile(path('a.ndjson'), `${text}${'nothing\n'.repeat(30)}${lines(10)}`)
    await interrupted(path('a.ndjson'), 100, { maxRejected: 50 })
    expect(await codeOf(load(path('a.ndjson'), { maxRejected: 50 }))).toMatch(/^TOO_MANY_REJECTED: 60 documents/)
  })

  test('is refused where what it read has changed, and goes on once that is back', { tags: 'long' }, async () => {
    const before = lines(500)
    await writeFile(path('a.ndjson'), before)
    const { run } = await interrupted(path('a.ndjson'), 200)
    for (const changed of [`${before.slice(0, 10)}X${before.slice(11)}`, lines(500, 7), lines(10)]) {
      await writeFile(path('a.ndjson'), changed)
      expect(await codeOf(load(path('a.ndjson')))).toMatch(new RegExp(`^INPUT_CHANGED: .*a.ndjson .* run ${run} `))
    }
    await writeFile(path('a.ndjson'), before + lines(5, 501))
    const receipt = await load(path('a.ndjson'))
    expect(receipt.created + receipt.duplicate).toBe(505)
    expect(lab.control.count(index)).toBe(505)
  })

  test('is refused with other options', async () => {
    await writeFile(path('a.ndjson'), lines(300))
    await interrupted(path('a.ndjson'), 100)
    expect(await codeOf(load(path('a.ndjson'), { ids: 'field', idField: 'n' }))).toMatch(
      /^RUN_OPTIONS_CHANGED: .*: ids was run but is now field, idField was not set but is now n$/,
    )
    expect((await load(path('a.ndjson'))).status).toBe('finished')
  })

  test('is refused with ids from other fields, or made in another way', { tags: 'long' }, async () => {
    await writeFile(path('a.ndjson'), lines(300).replaceAll('}', ',"text":"x"}'))
    const byFields = { ids: 'field', idField: 'n,text' } as const
    await interrupted(path('a.ndjson'), 100, byFields)
    for (const [more, change] of [
      [{ idField: 'text,n' }, 'idField was n,text but is now text,n'],
      [{ idSeparator: '-' }, 'idSeparator was not set but is now -'],
      [{ ids: 'hash' }, 'ids was field but is now hash'],
    ] as const)
      expect(await codeOf(load(path('a.ndjson'), { ...byFields, ...more }))).toContain(change)
    // Naming the default changes nothing.
    expect(await load(path('a.ndjson'), { ...byFields, idSeparator: '|' })).toMatchObject({
      status: 'finished',
      rejected: 0,
    })
    expect(lab.control.count(index)).toBe(300)
  })

  test('with ids of the cluster says that documents may be doubled, where that may be', async () => {
    await writeFile(path('a.ndjson'), lines(300))
    await interrupted(path('a.ndjson'), 100, { ids: 'cluster' })
    const kept = await lastRun(state())
    await rewriteRun(kept.path, { ...kept.checkpoint, isDoubtful: true })
    expect(await warningsOf(async onEvent => await load(path('a.ndjson'), { ids: 'cluster', onEvent }))).toEqual([
      expect.stringContaining('may be stored twice') as string,
    ])
  })

  test('keeps every batch whose answer was lost, and sends it again', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.plant({ drop: { after: 3, times: 1000 } })
    expect(await codeOf(load(path('a.ndjson'), { concurrency: 1, maxElapsedMs: 1 }))).toMatch(/^CLUSTER_UNAVAILABLE/)
    expect((await checkpoint()).inputs[0]?.mark.document).toBe(31)
    lab.control.heal()
    const receipt = await load(path('a.ndjson'))
    expect(receipt).toMatchObject({ read: 100, unsent: 0, unknown: 0 })
    expect(receipt.duplicate).toBeGreaterThan(0)
    expect(lab.control.count(index)).toBe(100)
  })
})

describe('a finished run', () => {
  test('is not loaded again, and the receipt says which run loaded it', async () => {
    await writeFile(path('a.ndjson'), `${lines(20)}[]\n`)
    const first = await load(path('a.ndjson'))
    const again = await load(path('a.ndjson'))
    expect(again).toMatchObject({ status: 'finished', read: 0, created: 0, rejected: 0, requests: 0 })
    expect(again.run).not.toBe(first.run)
    const loadedBy = { run: first.run, at: expect.stringMatching(/^\d{4}-.*Z$/) as string }
    expect(again.inputs).toEqual([
      { name: path('a.ndjson'), status: 'finished', read: 0, alreadyLoaded: true, loadedBy },
    ])
    expect(lab.control.count(index)).toBe(20)
  })

  test('is loaded again where that is asked for, as another run', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    const first = await load(path('a.ndjson'))
    const again = await load(path('a.ndjson'), { again: true })
    expect(again.run).not.toBe(first.run)
    expect(again.created).toBe(20)
    expect(lab.control.count(index)).toBe(40)
  })

  test('goes on behind its end where lines were appended, and their numbers go on', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    const first = await load(path('a.ndjson'))
    await appendFile(path('a.ndjson'), lines(5, 21))
    const more = await load(path('a.ndjson'))
    expect(more).toMatchObject({ read: 5, created: 5, inputs: [{ resumedAt: 21 }] })
    expect(more.run).not.toBe(first.run)
    const { inputs } = await checkpoint()
    expect(lab.control.source(index, `${inputs[0]?.token}-25`)?.toString()).toBe('{"n":25}')
    expect(lab.control.count(index)).toBe(25)
  })

  test('reads a last line without a line end again from its start once it has grown', async () => {
    await writeFile(path('a.ndjson'), `${lines(2)}{"n":`)
    expect(await load(path('a.ndjson'))).toMatchObject({ created: 2, rejected: 1 })
    expect((await load(path('a.ndjson'))).thisProcess.read).toBe(0)
    await appendFile(path('a.ndjson'), '3}')
    expect(await load(path('a.ndjson'))).toMatchObject({ read: 1, created: 1, inputs: [{ resumedAt: 3 }] })
    // It has only got its line end.
    await appendFile(path('a.ndjson'), '\n{"n":4}\n')
    expect(await load(path('a.ndjson'))).toMatchObject({ read: 1, created: 1, rejected: 0, inputs: [{ resumedAt: 4 }] })
    expect(lab.control.count(index)).toBe(4)
  })

  test.each([
    ['a.ndjson', '\n'],
    ['a.ndjson', '\r\n'],
    ['a.ndjson.gz', '\n'],
  ])(
    'of which a last line has got its line end continues behind it, also with ids of the cluster: %s, %j',
    { tags: 'long' },
    async (name, lineEnd) => {
      const packed = (text: string) => (name.endsWith('.gz') ? gzipSync(text) : text)
      const ids = 'cluster'
      await writeFile(path(name), packed(`${lines(2)}{"n":3}`))
      await load(path(name), { ids })
      await appendFile(path(name), packed(`${lineEnd}{"n":4}`))
      const warnings = await warningsOf(async onEvent => {
        expect(await load(path(name), { ids, onEvent })).toMatchObject({ read: 1, created: 1 })
      })
      expect(warnings).toEqual([])
      await appendFile(path(name), packed(lineEnd))
      expect(await load(path(name), { ids })).toMatchObject({ read: 0 })
      expect(lab.control.count(index)).toBe(4)
    },
  )

  test('counts a last line of blanks again, which has no number', async () => {
    await writeFile(path('a.ndjson'), `${lines(2)}  `)
    await load(path('a.ndjson'))
    await appendFile(path('a.ndjson'), '\n{"n":3}\n')
    expect(await load(path('a.ndjson'))).toMatchObject({ created: 1, skipped: 1, inputs: [{ resumedAt: 3 }] })
    const { inputs } = await checkpoint()
    expect(lab.control.source(index, `${inputs[0]?.token}-3`)?.toString()).toBe('{"n":3}')
  })

  test('takes other content under the same name for another input', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    await load(path('a.ndjson'))
    await writeFile(path('a.ndjson'), lines(20, 1000))
    expect(await load(path('a.ndjson'))).toMatchObject({ created: 20 })
    await truncate(path('a.ndjson'), lines(3, 1000).length)
    expect(await load(path('a.ndjson'))).toMatchObject({ created: 3 })
    expect(lab.control.count(index)).toBe(43)
  })

  test('belongs to its index: one that was made anew is loaded anew, and it says so', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    await load(path('a.ndjson'))
    const { url, apiKey, caFile } = lab.line.cluster
    const { connect } = await import('../../../src/index.js')
    await using way = await connect({
      target: { url, apiKey, ca: await readFile(caFile) },
      proxy: lab.line.proxy.http,
      preflightConnections: 1,
    })
    for (const recreate of [async () => {}, async () => void (await way.client.indices.create({ index }))]) {
      await way.client.indices.delete({ index })
      await recreate()
      const warnings = await warningsOf(async onEvent => {
        expect(await load(path('a.ndjson'), { onEvent })).toMatchObject({ created: 20, read: 20 })
      })
      expect(warnings).toEqual([expect.stringContaining(`${index} is no longer the index`) as string])
    }
    expect(lab.control.count(index)).toBe(20)
  })

  test('knows its inputs whatever the command calls them', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    await load(path('a.ndjson'))
    expect(await load([path('a.ndjson')])).toMatchObject({ thisProcess: { read: 0 } })
    expect(await load(path('a.ndjson'), { runId: 'other' })).toMatchObject({ run: 'other', created: 0 })
    expect(await load(path('*.ndjson'))).toMatchObject({ created: 0 })
  })
})

describe('a named run', () => {
  test(
    'with its state, loads another content of the same name, size and first bytes under other ids',
    { tags: 'long' },
    async () => {
      const text = `{"n":0,"fill":"${'x'.repeat(70_000)}"}\n${lines(20)}`
      const named = { runId: 'nightly' }
      await writeFile(path('a.ndjson'), text)
      expect(await load(path('a.ndjson'), named)).toMatchObject({ created: 21 })
      await writeFile(path('a.ndjson'), text.replace('{"n":20}', '{"n":99}'))
      expect(await load(path('a.ndjson'), named)).toMatchObject({ created: 21, duplicate: 0 })
      expect(await load(path('a.ndjson'), named)).toMatchObject({ thisProcess: { read: 0 } })
      expect(lab.control.count(index)).toBe(42)
    },
  )

  test('has the same ids without its state, as long as the input is the same', { tags: 'long' }, async () => {
    await writeFile(path('a.ndjson'), lines(20))
    const named = { runId: 'nightly.2026-11-21' }
    expect(await load(path('a.ndjson'), named)).toMatchObject({ run: named.runId, created: 20 })
    await rm(state(), { recursive: true })
    expect(await load(path('a.ndjson'), named)).toMatchObject({ created: 0, duplicate: 20, rejected: 0 })
    expect(await load(path('a.ndjson'), { ...named, stateDir: undefined })).toMatchObject({ duplicate: 20 })
    expect(await load(Buffer.from(lines(5)), named)).toMatchObject({ created: 5 })
    expect(await load(Buffer.from(lines(5)), named)).toMatchObject({ duplicate: 5 })

    await rm(state(), { recursive: true })
    await writeFile(path('a.ndjson'), lines(20, 100))
    expect(await load(path('a.ndjson'), named)).toMatchObject({ created: 20 })
    expect(lab.control.count(index)).toBe(45)
  })

  test('has the same ids without its state, whatever its credentials may see of the cluster', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    const named = { runId: 'nightly', index: `least-${index}` }
    expect(await load(path('a.ndjson'), named)).toMatchObject({ created: 20 })
    await rm(state(), { recursive: true })
    const { target } = way()
    const least = { ...named, target: { ...target, apiKey: lab.line.cluster.leastPrivilegeApiKey } }
    expect(await load(path('a.ndjson'), least)).toMatchObject({ created: 0, duplicate: 20 })
    expect(lab.control.count(`least-${index}`)).toBe(20)
  })

  test('finds the ids that an older version made of the cluster, too', async () => {
    const text = lines(20)
    await writeFile(path('a.ndjson'), text)
    const head = createHash('sha256').update(text).digest('hex')
    await load(path('a.ndjson'), { index: `${index}-first` })
    const uuid = (await checkpoint()).target.clusterUuid ?? ''
    await rm(state(), { recursive: true })
    const token = tokenOf('nightly', uuid, index, path('a.ndjson'), Buffer.byteLength(text), head)
    const older = text
      .trimEnd()
      .split('\n')
      .map((line, at) => `${line.slice(0, -1)},"id":"${token}-${at + 1}"}\n`)
    await writeFile(path('older.ndjson'), older.join(''))
    expect(await load(path('older.ndjson'), { ids: 'field', idField: 'id' })).toMatchObject({ created: 20 })
    expect(await load(path('a.ndjson'), { runId: 'nightly' })).toMatchObject({ created: 0, duplicate: 20 })
  })

  test('takes no name that could lead out of a folder', async () => {
    for (const runId of ['../a', '', 'a b', '.a', 'x'.repeat(101)])
      expect(await codeOf(load(path('a.ndjson'), { runId }))).toMatch(/^OPTION_INVALID: runId: /)
  })
})

describe('the state folder', () => {
  test('is for its owner alone, and holds one whole file for a run', async () => {
    await writeFile(path('a.ndjson'), lines(300))
    await load(path('a.ndjson'))
    const [name = '', ...others] = await readdir(path('state/runs'))
    expect(others).toEqual([])
    const modes = await Promise.all(
      ['state', 'state/runs', `state/runs/${name}`].map(async one => await stat(path(one))),
    )
    expect(modes.map(({ mode }) => mode & 0o777)).toEqual([0o700, 0o700, 0o600])
    const { line } = lab
    const text = await readFile(path(`state/runs/${name}`), 'utf8')
    expect(text).not.toContain(line.cluster.apiKey)
    expect(text).not.toContain(new URL(line.proxy.http).password)
  })

  test('that cannot be written stops the run before anything is sent', async () => {
    await writeFile(path('a.ndjson'), lines(3))
    await writeFile(path('file'), '')
    lab.control.forgetConnections()
    expect(await codeOf(load(path('a.ndjson'), { stateDir: path('file/state') }))).toMatch(/^STATE_UNWRITABLE: /)
    expect(lab.control.connections()).toEqual([])
    expect(lab.control.count(index)).toBe(0)
  })

  test('that goes away in the middle stops the run, which goes on when it is back', { tags: 'long' }, async () => {
    await writeFile(path('a.ndjson'), lines(400))
    lab.control.plant({ latencyMs: 40 })
    let isGone = false
    const onEvent = (event: IngestEvent) => {
      if (event.type !== 'progress' || isGone) return
      isGone = true
      void rm(state(), { recursive: true }).then(async () => await writeFile(state(), ''))
    }
    const stopped = await load(path('a.ndjson'), { onEvent, concurrency: 1 }).catch((error: unknown) => error)
    expect(stopped).toMatchObject({ code: 'STATE_UNWRITABLE', receipt: { status: 'failed' } })
  })

  test('with a broken or newer checkpoint says so, and sends nothing', async () => {
    await writeFile(path('a.ndjson'), lines(3))
    await load(path('a.ndjson'))
    const [name = ''] = await readdir(path('state/runs'))
    const text = await readFile(path(`state/runs/${name}`), 'utf8')
    const [head = '', ...rest] = text.split('\n')
    const broken: [string, RegExp][] = [
      ['{"sluice":2', /it is not the state of a run/],
      ['{}\n', /it is broken/],
      [[head, '["input",1]', ...rest].join('\n'), /it is broken: line 2 does not have the expected form/],
      [[head, 'torn', ...rest].join('\n'), /it is broken: line 2 is not JSON/],
      [`${head}\n`, /it is broken: it has no checkpoint/],
      [text.replace('"sluice":2', '"sluice":3'), /a newer version of Sluice wrote it \(version 3\)/],
    ]
    for (const [written, problem] of broken) {
      await writeFile(path(`state/runs/${name}`), written)
      const said = await codeOf(load(path('a.ndjson')))
      expect(said).toMatch(/^STATE_UNREADABLE: /)
      expect(said).toMatch(problem)
    }
  })

  test('stays empty for a dry run, and for what cannot be read again', async () => {
    await writeFile(path('a.ndjson'), lines(3))
    await load(path('a.ndjson'), { dryRun: true })
    expect(await load(Readable.from(lines(3)))).not.toHaveProperty('checkpoint')
    await load('-', { stdin: Readable.from(lines(3)) })
    await expect(readdir(path('state/runs'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('dead letters', () => {
  test('behind the checkpoint are taken back, unless somebody else wrote there too', { tags: 'long' }, async () => {
    await writeFile(path('a.ndjson'), `${lines(100)}[]\n${lines(300)}[1]\n${lines(10)}`)
    await interrupted(path('a.ndjson'), 150)
    const before = await readFile(path('dead.ndjson'), 'utf8')
    // As a process that was killed would leave it: one record more, and a torn one.
    await appendFile(path('dead.ndjson'), `${before.trimEnd()}\n${before.slice(0, 20)}`)
    await load(path('a.ndjson'))
    const after = (await readFile(path('dead.ndjson'), 'utf8')).trimEnd().split('\n')
    expect(after.map(line => (JSON.parse(line) as { line: string }).line)).toEqual(['[]', '[1]'])

    otherIndex()
    await rm(path('dead.ndjson'))
    await interrupted(path('a.ndjson'), 150)
    const other = before.replace('a.ndjson', 'other.ndjson')
    await appendFile(path('dead.ndjson'), other)
    await load(path('a.ndjson'))
    expect(await readFile(path('dead.ndjson'), 'utf8')).toContain(other)
  })

  test('of another index stay, though its run has the same name, inputs and file', { tags: 'long' }, async () => {
    await writeFile(path('a.ndjson'), `${lines(10)}[1]\n${lines(300)}[2]\n${lines(10)}`)
    const named = { runId: 'nightly' }
    const other = `${index}-other`
    await interrupted(path('a.ndjson'), 100, named)
    expect(await load(path('a.ndjson'), { ...named, index: other })).toMatchObject({ rejected: 2 })
    expect(await load(path('a.ndjson'), named)).toMatchObject({ rejected: 2, unsent: 0 })
    const letters = (await readFile(path('dead.ndjson'), 'utf8')).trimEnd().split('\n')
    const written = letters.map(one => JSON.parse(one) as { index: string; line: string })
    const of = (name: string) => written.filter(one => one.index === name).map(({ line }) => line)
    expect([of(index), of(other)]).toEqual([
      ['[1]', '[2]'],
      ['[1]', '[2]'],
    ])
  })

  test('that cannot be written stop the run; once they can, it goes on without a gap', async () => {
    await writeFile(path('a.ndjson'), `${lines(50)}[]\n${lines(50)}`)
    await writeFile(path('dead.ndjson'), '')
    await chmod(path('dead.ndjson'), 0o600)
    const full = { deadLetters: '/dev/full' }
    expect(await codeOf(load(path('a.ndjson'), full))).toMatch(/^DEAD_LETTERS_UNWRITABLE/)
    const receipt = await load(path('a.ndjson'))
    expect(receipt).toMatchObject({ read: 101, rejected: 1 })
    expect(receipt.created + receipt.duplicate).toBe(100)
    expect(lab.control.count(index)).toBe(100)
    expect(await readFile(path('dead.ndjson'), 'utf8')).toContain('"line":"[]"')
  })
})
