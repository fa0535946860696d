import { randomBytes } from 'node:crypto'
import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import {
  connect,
  type IngestEvent,
  type IngestOptions,
  type Receipt,
  ingest,
  isSluiceError,
} from '../../../src/index.js'
import { lines } from '../../support/lab/run-world.js'
import { longUnless } from '../../support/long.js'
import { checkpoint, index, lab, otherIndex, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'

shareLab()

const nothing = () => Readable.from([])
const bytes = (content: string | Uint8Array) => Readable.from([Buffer.from(content)])

type More = Partial<IngestOptions>

/** A load of stdin by way of the disk, in small batches. */
async function load(stdin: Readable, more: More = {}): Promise<Receipt> {
  return await ingest({ source: '-', stdin, spool: true, ...smallBatches(), ...more })
}

/** The same, which has to stop: its failure, with the receipt if there is one. */
async function stopped(run: Promise<unknown>): Promise<{ code: string; message: string; receipt: Receipt }> {
  try {
    await run
  } catch (error) {
    if (isSluiceError(error)) return { code: error.code, message: error.message, receipt: error.receipt as Receipt }
    throw error
  }
  throw new Error('the run did not stop')
}

/** A load of stdin that has come so far when it is interrupted, after so many documents were booked. */
async function interrupted(content: string | Uint8Array, after: number, more: More = {}): Promise<Receipt> {
  const controller = new AbortController()
  const stdin = new PassThrough()
  stdin.write(content)
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'progress' && event.counts.created + event.counts.duplicate >= after) controller.abort('test')
  }
  const { code, receipt } = await stopped(load(stdin, { ...more, signal: controller.signal, onEvent }))
  expect(code).toBe('RUN_INTERRUPTED')
  return receipt
}

/** A load that a refusal of the cluster stops while stdin still comes. */
async function outage(before: string, behind: string, more: More = {}): Promise<Receipt> {
  lab.control.plant({ bulk: { after: 3, status: 503 } })
  const stdin = new PassThrough()
  stdin.write(before)
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'warning' && event.message.startsWith('the load has stopped')) stdin.end(behind)
  }
  const { code, receipt } = await stopped(load(stdin, { maxElapsedMs: 1, ...more, onEvent }))
  expect(code).toMatch(/^CLUSTER_/)
  lab.control.heal()
  return receipt
}

const spools = async () => await readdir(path('state/spool')).catch(() => [])

describe('a run that reads its stdin by way of the disk', () => {
  test('keeps it if its index was deleted meanwhile, and the next run loads all of it once', async () => {
    await using direct = await connect(way())
    const stdin = new PassThrough()
    stdin.write(lines(30))
    let deleted: Promise<unknown> | undefined
    const onEvent = (event: IngestEvent) => {
      if (event.type !== 'progress' || event.counts.created < 20 || deleted !== undefined) return
      deleted = direct.client.indices.delete({ index }).then(() => stdin.end(lines(15, 31)))
    }
    const { code, receipt } = await stopped(load(stdin, { onEvent }))
    expect(code).toBe('INDEX_REPLACED')
    expect(receipt).toMatchObject({ read: 45, spool: expect.any(String) as string })
    const stored = lab.control.count(index)
    expect(stored).toBeLessThan(45)

    expect(await load(nothing())).toMatchObject({ read: 45, created: 45 - stored, duplicate: stored, exit: 0 })
    expect(lab.control.count(index)).toBe(45)
    expect(await spools()).toEqual([])
  })

  test('leaves nothing of it when it is finished, and the next one is another, whatever it reads', async () => {
    const runs = new Set<string>()
    for (const content of ['', lines(30), lines(30), '', lines(5)]) {
      const receipt = await load(bytes(content))
      const documents = content.split('\n').length - 1
      expect(receipt).toMatchObject({ status: 'finished', read: documents, created: documents })
      expect(receipt).not.toHaveProperty('spool')
      expect(await spools()).toEqual([])
      runs.add(receipt.run)
    }
    expect(runs.size).toBe(5)
    expect(lab.control.count(index)).toBe(65)
  })

  test('goes on after an outage with all that came to the end of stdin', async () => {
    const first = await outage(lines(300), lines(200, 301))
    expect(first).toMatchObject({ status: 'failed' })
    expect(first.spool).toBe(path(`state/spool/${(await spools())[0]}`))
    const second = await load(nothing())
    expect(second).toMatchObject({ run: first.run, status: 'finished', read: 500, rejected: 0, unsent: 0 })
    expect(second.created + second.duplicate).toBe(500)
    expect(second.thisProcess.read).toBeLessThan(500)
    expect(lab.control.count(index)).toBe(500)
    expect(await spools()).toEqual([])
  })

  test('keeps what comes where the cluster cannot be reached at all', async () => {
    lab.control.register('none')
    expect(await stopped(load(bytes(lines(20))))).toMatchObject({ code: 'EGRESS_NOT_ALLOWED' })
    expect(await stopped(load(bytes(lines(20, 100))))).toMatchObject({ code: 'EGRESS_NOT_ALLOWED' })
    lab.control.register('both')
    expect(await load(bytes(lines(20, 200)))).toMatchObject({ status: 'finished', created: 60 })
    expect(lab.control.count(index)).toBe(60)
    expect(await spools()).toEqual([])
  })

  test('does not take what it kept for what a run before has loaded', { tags: 'long' }, async () => {
    for (const before of ['', lines(3)]) {
      await load(bytes(before))
      lab.control.register('none')
      await stopped(load(bytes(lines(3))))
      lab.control.register('both')
      expect(await load(nothing())).toMatchObject({ created: 3, thisProcess: { read: 3 } })
    }
  })

  test('finishes what is left, and then what is new, as one run', { tags: 'long' }, async () => {
    const first = await outage(lines(300), '')
    const second = await load(bytes(lines(40, 1000)))
    expect(second).toMatchObject({ run: first.run, status: 'finished', read: 340 })
    expect(second.inputs).toMatchObject([
      { name: '-', read: 300, status: 'finished' },
      { name: '- (2)', read: 40, status: 'finished' },
    ])
    expect(lab.control.count(index)).toBe(340)
    expect(await spools()).toEqual([])
  })

  test('loads a producer that repeats itself again', { tags: 'long' }, async () => {
    const content = lines(500)
    const first = await interrupted(content.slice(0, 2001), 60)
    const warnings: string[] = []
    const onEvent = (event: IngestEvent) => void (event.type === 'warning' && warnings.push(event.message))
    const second = await stopped(load(bytes(content), { onEvent }))
    expect(second).toMatchObject({ code: 'RUN_INTERRUPTED', receipt: { run: first.run, rejected: 0, unsent: 0 } })
    expect(warnings[0]).toContain('If stdin holds the same data again, Sluice stores its documents twice')
    expect(lab.control.count(index)).toBe(second.receipt.read)
    expect(second.receipt.read).toBeGreaterThan(600)
    expect(await spools()).toEqual([])
  })

  test('ends interrupted where the end of stdin was never seen, and only once', async () => {
    const first = await interrupted(`${lines(300)}{"n":`, 60)
    expect(first).toMatchObject({ status: 'interrupted' })
    const { code, message, receipt } = await stopped(load(nothing()))
    expect(code).toBe('RUN_INTERRUPTED')
    expect(message).toMatch(/^interrupted after \d+ documents: stdin never ended$/)
    expect(receipt).toMatchObject({
      run: first.run,
      status: 'interrupted',
      read: 300,
      rejected: 0,
      inputs: [
        { name: '-', status: 'failed', read: 300, failure: { code: 'INPUT_UNENDED', evidence: { torn: 5 } } },
        { name: '- (2)', status: 'finished', read: 0 },
      ],
    })
    expect(receipt).not.toHaveProperty('spool')
    expect(lab.control.count(index)).toBe(300)
    const next = await load(bytes('{"m":1}\n'))
    expect(next).toMatchObject({ status: 'finished', read: 1, created: 1 })
    expect(next.run).not.toBe(first.run)
    expect(await spools()).toEqual([])
  })

  const array = JSON.stringify(Array.from({ length: 500 }, (_, n) => ({ n })))
  const named: More = { runId: 'nightly' }
  const producers: [string, Buffer, More][] = [
    ['lines of a named run', Buffer.from(lines(500)), named],
    ['compressed lines of a named run', gzipSync(lines(500)), named],
    ['an array of a named run', Buffer.from(array), named],
    ['lines with ids of their own', Buffer.from(lines(500)), { ids: 'field', idField: 'n', onConflict: 'skip' }],
  ]
  for (const [what, content, more] of producers)
    test(
      `stores the documents of a producer that repeats itself once: ${what}`,
      longUnless(content === producers[0]?.[1] && more === named),
      async () => {
        for (const isLoadedFirst of [false, true]) {
          otherIndex()
          await interrupted(content.subarray(0, Math.floor(content.length * 0.7)), 60, more)
          if (isLoadedFirst) expect((await stopped(load(nothing(), more))).code).toBe('RUN_INTERRUPTED')
          const again = load(bytes(content), more)
          const isWhole = more === named || isLoadedFirst
          if (isWhole) expect(await again).toMatchObject({ status: 'finished', rejected: 0, unsent: 0 })
          else expect((await stopped(again)).code).toBe('RUN_INTERRUPTED')
          expect(lab.control.count(index)).toBe(500)
          expect(await spools()).toEqual([])
        }
      },
    )

  test('loads what is new also behind what lacks its end', { tags: 'long' }, async () => {
    await interrupted(`${lines(300)}{"n":`, 60)
    const { code, receipt } = await stopped(load(bytes(lines(40, 1000))))
    expect({ code, read: receipt.read, unsent: receipt.unsent }).toEqual({
      code: 'RUN_INTERRUPTED',
      read: 340,
      unsent: 0,
    })
    expect(lab.control.count(index)).toBe(340)
    expect(await spools()).toEqual([])
  })

  test(
    'says once more that the end was never seen where it was interrupted before it could',
    { tags: 'long' },
    async () => {
      await interrupted(lines(300), 60)
      // All of the old is loaded when this one is interrupted in the new.
      const again = await interrupted(lines(200, 1000), 300)
      expect(again.spool).toBeDefined()
      const { code, receipt } = await stopped(load(nothing()))
      expect({ code, read: receipt.read }).toEqual({ code: 'RUN_INTERRUPTED', read: 500 })
      expect(lab.control.count(index)).toBe(500)
    },
  )

  test('goes on within compressed data and within a JSON document', { tags: 'long' }, async () => {
    const array = JSON.stringify(Array.from({ length: 500 }, (_, n) => ({ n })))
    for (const content of [gzipSync(lines(500)), Buffer.from(array), gzipSync(array)]) {
      otherIndex()
      lab.control.plant({ bulk: { after: 5, status: 503 } })
      expect((await stopped(load(bytes(content), { maxElapsedMs: 1 }))).code).toMatch(/^CLUSTER_/)
      lab.control.heal()
      expect(await load(nothing())).toMatchObject({ status: 'finished', read: 500, rejected: 0 })
      expect(lab.control.count(index)).toBe(500)
    }
  })

  test('may have files beside it', { tags: 'long' }, async () => {
    await writeFile(path('a.ndjson'), lines(100))
    const source = [path('a.ndjson'), '-']
    await outage(lines(300, 1000), '', { source })
    const receipt = await load(nothing(), { source })
    expect(receipt).toMatchObject({ status: 'finished', read: 400 })
    expect(lab.control.count(index)).toBe(400)
    expect(await load(bytes(lines(5, 2000)), { source })).toMatchObject({
      read: 5,
      inputs: [{ alreadyLoaded: true }, { name: '-', read: 5 }],
    })
    expect(lab.control.count(index)).toBe(405)
  })

  test('doubles nothing under a name of its own, with its state or without', { tags: 'long' }, async () => {
    await outage(lines(300), '', named)
    expect(await load(bytes(lines(310)), named)).toMatchObject({ status: 'finished', read: 610 })
    expect(lab.control.count(index)).toBe(310)
    await rm(path('state'), { recursive: true })
    expect(await load(bytes(lines(300)), named)).toMatchObject({ created: 0, duplicate: 300 })
  })

  test('has a checkpoint that tells which copy of stdin it is of', { tags: 'long' }, async () => {
    await outage(lines(300), '')
    const [folder = ''] = await spools()
    const [copy] = await readdir(path(`state/spool/${folder}`))
    expect((await checkpoint()).inputs).toMatchObject([{ name: '-', status: 'begun', copy }])
  })
})

describe('a spooled stdin', () => {
  test('is locked: a second process that would read it does nothing', async () => {
    const stdin = new PassThrough()
    stdin.write(lines(100))
    const first = load(stdin)
    await expect.poll(() => lab.control.count(index)).toBeGreaterThan(0)
    const second = await stopped(load(bytes(lines(100, 1000))))
    expect(second.code).toBe('RUN_LOCKED')
    stdin.end(lines(50, 101))
    expect(await first).toMatchObject({ status: 'finished', read: 150, created: 150 })
    expect(lab.control.count(index)).toBe(150)
  })

  test('is kept until the alias is switched to it', { tags: 'long' }, async () => {
    const guarded = {
      index: undefined,
      swapAlias: index,
      ids: 'run' as const,
      checkQuery: { query: { match_all: {} } },
    }
    const failed = await stopped(load(bytes(lines(20)), { ...guarded, checkHits: 21 }))
    expect(failed.code).toBe('LOAD_CHECK_FAILED')
    const receipt = await load(nothing(), { ...guarded, checkHits: 20 })
    expect(receipt).toMatchObject({ status: 'finished', read: 20, alias: { switched: true } })
    expect(await spools()).toEqual([])
  })

  test('for one alias is not loaded for another', { tags: 'long' }, async () => {
    lab.control.register('none')
    await stopped(load(bytes(lines(20)), { index: undefined, swapAlias: 'spool-a' }))
    lab.control.register('both')
    const receipt = await load(bytes(lines(3)), { index: undefined, swapAlias: 'spool-b' })
    expect(receipt).toMatchObject({ status: 'finished', read: 3 })
  })

  test('is taken to the end of stdin when the budget of bytes is spent', { tags: 'long' }, async () => {
    const stdin = new PassThrough()
    stdin.write(lines(400))
    const run = load(stdin, { byteBudget: 60_000 })
    const late = setTimeout(() => stdin.end(lines(100, 401)), 1500)
    expect((await stopped(run)).code).toBe('BYTE_BUDGET_SPENT')
    clearTimeout(late)
    expect(await load(nothing())).toMatchObject({ status: 'finished', read: 500, created: 500 })
  })
})

describe('the limit of what is spooled', { tags: 'long' }, () => {
  const line = (n: number) => `{"n":${n},"text":"${'x'.repeat(1000)}"}\n`
  const many = (count: number) => Array.from({ length: count }, (_, n) => line(n)).join('')
  const limit = 1_000_000

  /** Bytes on the disk of all that is spooled. */
  async function used(): Promise<number> {
    let sum = 0
    for (const folder of await spools()) {
      for (const name of await readdir(path(`state/spool/${folder}`)).catch(() => [])) {
        const file = await stat(path(`state/spool/${folder}/${name}`)).catch(() => undefined)
        sum += file === undefined ? 0 : file.blocks * 512
      }
    }
    return sum
  }

  test('holds the producer back until what came first is loaded', async () => {
    const found: number[] = []
    const stdin = Readable.from(
      (async function* () {
        for (let n = 0; n < 2500; n++) {
          yield Buffer.from(line(n))
          if (n % 50 === 0) found.push(await used())
        }
      })(),
    )
    const receipt = await load(stdin, { spoolLimit: limit, batchDocs: 50 })
    expect(receipt).toMatchObject({ status: 'finished', read: 2500, created: 2500, rejected: 0 })
    expect(lab.control.count(index)).toBe(2500)
    expect(Math.max(...found)).toBeGreaterThan(limit / 4)
    expect(Math.max(...found)).toBeLessThanOrEqual(limit)
    expect(await spools()).toEqual([])
  })

  test('is no obstacle to a resume', async () => {
    const small = { spoolLimit: limit, batchDocs: 50 }
    const first = await interrupted(many(3000), 2000, small)
    const { code, receipt } = await stopped(load(nothing(), small))
    expect(code).toBe('RUN_INTERRUPTED')
    expect(receipt).toMatchObject({ run: first.run, rejected: 0, unsent: 0, unknown: 0 })
    expect(receipt.read).toBeGreaterThan(2000)
    expect(lab.control.count(index)).toBe(receipt.read)
    expect(await spools()).toEqual([])
  })

  test('is where compressed stdin ends, which is loaded so far', async () => {
    const text = Array.from({ length: 40_000 }, () => `{"n":"${randomBytes(30).toString('hex')}"}\n`).join('')
    const { code, message, receipt } = await stopped(
      load(bytes(gzipSync(text)), { spoolLimit: limit, batchDocs: 1000 }),
    )
    expect(code).toBe('STATE_UNWRITABLE')
    expect(message).toMatch(
      /has reached its limit of 1,000,000 bytes \(--spool-limit\)\. Sluice read stdin only up to byte [\d,]+/,
    )
    expect(receipt.created).toBeGreaterThan(1000)
  })

  const long = randomBytes(1_200_000).toString('base64')
  test.each<[string, string | Uint8Array]>([
    ['a JSON document', `[\n{"text":\n"${long}"}\n]\n`],
    ['compressed data', gzipSync(`{"text":"${long}"}\n`)],
  ])('is where %s ends of which nothing is whole by then', async (_, content) => {
    const stdin = new PassThrough()
    // By then it was looked at, and nothing of it was there.
    const onEvent = ({ type }: IngestEvent) => void (type === 'preflight' && stdin.end(content))
    const { code, receipt } = await stopped(load(stdin, { spoolLimit: limit, onEvent }))
    expect(code).toBe('STATE_UNWRITABLE')
    expect(receipt).toMatchObject({ read: 0, created: 0 })
  })

  test('is the end of a stdin that no process loads any more', async () => {
    lab.control.register('none')
    const { code, message } = await stopped(load(bytes(many(3000)), { spoolLimit: limit }))
    expect(code).toBe('STATE_UNWRITABLE')
    expect(message).toContain('has reached its limit')
    lab.control.register('both')
    const left = await stopped(load(nothing(), { spoolLimit: limit }))
    expect(left.code).toBe('RUN_INTERRUPTED')
    expect(left.receipt.created).toBeGreaterThan(500)
  })
})

describe('the option', () => {
  test('needs stdin, and a state folder', async () => {
    await writeFile(path('a.ndjson'), lines(1))
    const refused = { code: 'OPTION_INVALID' }
    expect(await stopped(load(nothing(), { source: path('a.ndjson') }))).toMatchObject(refused)
    expect(await stopped(load(nothing(), { stateDir: undefined }))).toMatchObject(refused)
  })

  test('writes nothing in a dry run', async () => {
    expect(await load(bytes(lines(3)), { dryRun: true })).toMatchObject({ read: 3, unsent: 3 })
    await expect(readdir(path('state'))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  test('ends an interruption before the cluster is reached as one', async () => {
    const controller = new AbortController()
    controller.abort('SIGTERM')
    expect(await stopped(load(new PassThrough(), { signal: controller.signal }))).toMatchObject({
      code: 'RUN_INTERRUPTED',
      message: 'interrupted after 0 documents: SIGTERM. Loading had not begun',
    })
  })
})
