// @module-tag long
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { eventually, until } from '../../support/eventually.js'
import {
  type IngestEvent,
  type IngestOptions,
  type Receipt,
  explain,
  ingest,
  isSluiceError,
} from '../../../src/index.js'
import { checkpoint, index, lab, otherIndex, path, shareLab, smallBatches, work } from '../../support/lab/shared-lab.js'

shareLab()

/** Documents of about that many bytes, whose text does not compress to nothing. */
function lines(count: number, bytes = 10): string {
  const one = (n: number) => {
    let text = ''
    for (let part = 0; text.length < bytes; part += 1) {
      text += createHash('sha256').update(`${n}-${part}`).digest('base64')
    }
    return `{"n":${n},"text":"${text.slice(0, bytes)}"}\n`
  }
  return Array.from({ length: count }, (_, n) => one(n)).join('')
}

async function load(more: Partial<IngestOptions> = {}): Promise<Receipt> {
  return await ingest({ source: path('a.ndjson'), ...smallBatches(), ...more })
}

interface Stopped {
  readonly code: string
  readonly message: string
  readonly receipt: Receipt | undefined
}

async function stopped(run: Promise<unknown>): Promise<Stopped> {
  try {
    await run
  } catch (error) {
    if (!isSluiceError(error)) throw error
    return { code: error.code, message: error.message, receipt: error.receipt }
  }
  throw new Error('the run did not stop')
}

function expectBalanced({ read, created, duplicate, rejected, skipped, unsent, unknown }: Receipt): void {
  expect(created + duplicate + rejected + skipped + unsent + unknown).toBe(read)
}

/** Aborts once so many documents are in the index, answered or not. */
async function abortAt(controller: AbortController, documents: number): Promise<void> {
  await eventually(() => expect(lab.control.count(index)).toBeGreaterThanOrEqual(documents))
  controller.abort('SIGTERM')
}

/** Files below a folder that this process holds open. */
function openIn(folder: string): string[] {
  if (!existsSync('/proc/self/fd')) return []
  const files = readdirSync('/proc/self/fd').flatMap(fd => {
    try {
      return [readlinkSync(`/proc/self/fd/${fd}`)]
    } catch {
      return []
    }
  })
  return files.filter(file => file.startsWith(folder))
}

describe('a cluster that stops answering', () => {
  test('does not keep an interrupted run from ending: what got no answer is unknown, and a resume settles it', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.plant({ hold: { after: 3, stored: true } })
    const controller = new AbortController()
    const run = stopped(load({ signal: controller.signal, graceMs: 50 }))
    await abortAt(controller, 40)
    const { code, receipt } = await run
    expect(code).toBe('RUN_INTERRUPTED')
    expect(receipt).toMatchObject({ status: 'interrupted', created: 30, retries: 0 })
    expect(receipt?.unknown).toBeGreaterThanOrEqual(10)
    expectBalanced(receipt as Receipt)
    expect((await checkpoint()).status).toBe('interrupted')

    lab.control.heal()
    const resumed = await load()
    expect(resumed).toMatchObject({ run: receipt?.run, status: 'finished', read: 100, unknown: 0, unsent: 0 })
    expect(resumed.duplicate).toBeGreaterThanOrEqual(10)
    expect(resumed.created + resumed.duplicate).toBe(100)
    expect(lab.control.count(index)).toBe(100)
  })

  test('at the last request leaves a run that is interrupted, not one that is finished', async () => {
    await writeFile(path('a.ndjson'), lines(40))
    lab.control.plant({ hold: { after: 3, stored: true } })
    const controller = new AbortController()
    const run = stopped(load({ signal: controller.signal, graceMs: 50 }))
    await abortAt(controller, 40)
    const { code, receipt } = await run
    expect(code).toBe('RUN_INTERRUPTED')
    expect(receipt).toMatchObject({ created: 30, unknown: 10, unsent: 0 })
    lab.control.heal()
    expect(await load()).toMatchObject({ status: 'finished', created: 30, duplicate: 10, unknown: 0 })
  })

  test('with ids of the cluster leaves documents unknown, which are not sent again', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.plant({ hold: { after: 3, times: 1, stored: true } })
    const controller = new AbortController()
    const options = { ids: 'cluster', concurrency: 1 } as const
    const run = stopped(load({ ...options, signal: controller.signal, graceMs: 50 }))
    await abortAt(controller, 40)
    expect((await run).receipt).toMatchObject({ created: 30, unknown: 10 })
    const resumed = await load(options)
    expect(resumed).toMatchObject({ status: 'finished', read: 100, created: 90, unknown: 10, unsent: 0 })
    expect(lab.control.count(index)).toBe(100)
  })

  test('is waited for no longer than the time budget allows, and the same call goes on', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.plant({ hold: { after: 3, stored: true } })
    const { code, message, receipt } = await stopped(load({ timeBudgetMs: 8000 }))
    expect(code).toBe('TIME_BUDGET_SPENT')
    // A slow machine gets fewer than three answers in that time.
    const created = receipt?.created ?? -1
    expect([0, 10, 20, 30]).toContain(created)
    expect(message).toBe(`the time budget of 8 s is spent after ${created} documents`)
    expectBalanced(receipt as Receipt)
    expect(await checkpoint()).toMatchObject({ status: 'interrupted', counts: { created } })
    lab.control.heal()
    const resumed = await load({ timeBudgetMs: 600_000 })
    expect(resumed).toMatchObject({ run: receipt?.run, status: 'finished', unknown: 0, unsent: 0 })
    expect(lab.control.count(index)).toBe(100)
  })
})

describe('a lookup after a rollover', () => {
  test.each([
    ['GET', '/_settings/index.uuid,index.refresh_interval,index.default_pipeline,index.final_pipeline', 1],
    ['POST', '/_refresh', 0],
    ['POST', '/_search', 0],
  ])('that gets no answer (%s %s) does not keep an interrupted run from ending', async (method, end, after) => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.createDataStream(index)
    const named = { runId: index }
    await load({ ...named, stateDir: undefined })
    lab.control.rollOver(index)
    lab.control.plant({ stall: { method, path: end, after } })
    const controller = new AbortController()
    const run = stopped(load({ ...named, signal: controller.signal, graceMs: 50 }))
    await until(() => lab.control.struck('stall') > 0)
    controller.abort('SIGTERM')
    const { code, receipt } = await run
    expect(code).toBe('RUN_INTERRUPTED')
    expect(receipt).toMatchObject({ created: 0, unknown: 0, requests: 0 })
    // Of what is not sent, nothing has to be doubted.
    expect(receipt?.notes).toBeUndefined()
    lab.control.heal()
    expect(await load(named)).toMatchObject({ status: 'finished', created: 0, duplicate: 100 })
    expect(lab.control.count(index)).toBe(100)
  })
})

describe('a time budget', () => {
  test('that is over before the run begins sends no document', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    const { code, receipt } = await stopped(load({ timeBudgetMs: 5000, startedAt: Date.now() - 10_000 }))
    expect({ code, receipt }).toEqual({ code: 'TIME_BUDGET_SPENT', receipt: undefined })
    expect(lab.control.count(index)).toBe(0)
  })

  test('also ends a preflight that gets no answer', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.plant({ handshake: { kind: 'silence' } })
    expect((await stopped(load({ timeBudgetMs: 300 }))).code).toBe('TIME_BUDGET_SPENT')
  })

  test('that is long enough changes nothing', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    expect(await load({ timeBudgetMs: 600_000, startedAt: Date.now() })).toMatchObject({ created: 100 })
  })
})

const wireOf = ({ bytes }: Receipt) => bytes.sent + bytes.received

describe('a byte budget', () => {
  for (const compress of ['gzip', 'none'] as const) {
    test(`is kept by every run (${compress}), and as many runs as it takes load everything`, async () => {
      await writeFile(path('a.ndjson'), lines(2000, 400))
      const byteBudget = 250_000
      const receipts: Receipt[] = []
      for (;;) {
        const run = load({ byteBudget, compress, concurrency: 4, batchDocs: 50 })
        const receipt = await run.catch((error: unknown) => {
          if (!isSluiceError(error) || error.code !== 'BYTE_BUDGET_SPENT') throw error
          return error.receipt as Receipt
        })
        expectBalanced(receipt)
        expect(wireOf(receipt)).toBeLessThanOrEqual(byteBudget)
        receipts.push(receipt)
        const { read, unsent, unknown } = receipt
        // Of the whole run, as in the receipt.
        if (receipt.failure !== undefined) expect(receipt.failure.evidence['settled']).toBe(read - unsent - unknown)
        if (receipt.failure === undefined) break
        expect(receipt).toMatchObject({ status: 'interrupted', unknown: 0 })
        // What is left is less than a request takes: 50 documents and a connection.
        expect(wireOf(receipt)).toBeGreaterThan(byteBudget - 45_000)
      }
      expect(receipts.length).toBeGreaterThan(2)
      expect(receipts.at(-1)).toMatchObject({ read: 2000, status: 'finished', unsent: 0, unknown: 0 })
      expect(lab.control.count(index)).toBe(2000)
    })
  }

  test('that is smaller than one body makes smaller bodies, and every run loads something', async () => {
    await writeFile(path('a.ndjson'), lines(300, 400))
    for (const compress of ['none', 'gzip'] as const) {
      otherIndex()
      // All documents make one body of 140 kB.
      const receipts = await loadWithin(60_000, { index, batchDocs: undefined, compress, concurrency: 16 })
      const reads = receipts.map(({ thisProcess }) => thisProcess.created)
      expect(receipts.length).toBeGreaterThan(1)
      expect(Math.min(...reads)).toBeGreaterThan(0)
      const { created = 0, duplicate = 0, unsent } = receipts.at(-1) ?? {}
      // A smaller body may overtake the one that did not fit: the next run finds its documents stored.
      expect({ stored: created + duplicate, unsent, count: lab.control.count(index) }).toEqual({
        stored: 300,
        unsent: 0,
        count: 300,
      })
      expect(duplicate).toBeLessThan(100)
      // What is left over is less than a connection and a few documents.
      for (const receipt of receipts.slice(0, -1)) expect(wireOf(receipt)).toBeGreaterThan(60_000 - 20_000)
    }
  })

  test('that one document does not fit into is refused, with the number that would do', async () => {
    await writeFile(path('a.ndjson'), lines(3, 40_000))
    const { code, message, receipt } = await stopped(load({ byteBudget: 30_000, compress: 'none' }))
    expect({ code, exit: explain('OPTION_INVALID').exit }).toEqual({ code: 'OPTION_INVALID', exit: 2 })
    const [, enough = ''] =
      /^byteBudget: 30,000 bytes is too small: the first checks used [\d,]+, and the first request needs [\d,]+\. Set at least ([\d,]+)$/.exec(
        message,
      ) ?? []
    expect(receipt).toMatchObject({ status: 'failed', exit: 2, requests: 0, created: 0 })
    const receipts = await loadWithin(Number(enough.replaceAll(',', '')), { compress: 'none' })
    expect(receipts.at(-1)).toMatchObject({ status: 'finished', created: 3, duplicate: 0 })
  })

  test('that a later document does not fit into is refused by the run that begins with it', async () => {
    await writeFile(path('a.ndjson'), lines(20, 40) + lines(1, 90_000))
    const first = await stopped(load({ byteBudget: 60_000, compress: 'none' }))
    expect([first.code, first.receipt?.created]).toEqual(['BYTE_BUDGET_SPENT', 20])
    const second = await stopped(load({ byteBudget: 60_000, compress: 'none' }))
    expect([second.code, second.receipt?.created]).toEqual(['OPTION_INVALID', 20])
  })

  test('that the preflight alone would spend is refused, with what it takes', async () => {
    await writeFile(path('a.ndjson'), lines(1))
    const { code, message, receipt } = await stopped(load({ byteBudget: 5000 }))
    expect({ code, exit: explain('OPTION_INVALID').exit, receipt }).toEqual({
      code: 'OPTION_INVALID',
      exit: 2,
      receipt: undefined,
    })
    const [, needed = ''] =
      /^byteBudget: 5,000 bytes is too small: the first checks used [\d,]+. Set at least ([\d,]+)$/.exec(message) ?? []
    expect(await load({ byteBudget: Number(needed?.replaceAll(',', '')) })).toMatchObject({
      status: 'finished',
      created: 1,
    })
  })

  /** As many runs as it takes, each of them within the budget. */
  async function loadWithin(byteBudget: number, more: Partial<IngestOptions>): Promise<Receipt[]> {
    const receipts: Receipt[] = []
    for (;;) {
      const receipt = await load({ byteBudget, ...more }).catch((error: unknown) => {
        if (!isSluiceError(error) || error.code !== 'BYTE_BUDGET_SPENT') throw error
        return error.receipt as Receipt
      })
      expect(wireOf(receipt)).toBeLessThanOrEqual(byteBudget)
      receipts.push(receipt)
      if (receipts.length > 20) throw new Error(`no end: ${JSON.stringify(receipts.map(({ read }) => read))}`)
      if (receipt.failure === undefined) return receipts
    }
  }

  test('holds for the lookups after a rollover, though nothing is sent', async () => {
    await writeFile(path('a.ndjson'), lines(600))
    lab.control.createDataStream(index)
    const named = { runId: index, batchDocs: 50 }
    await load({ ...named, stateDir: undefined })
    lab.control.rollOver(index)
    const receipts = await loadWithin(60_000, named)
    expect(receipts.length).toBeGreaterThan(1)
    expect(receipts.at(-1)).toMatchObject({ created: 0, duplicate: 600, unknown: 0 })
    expect(lab.control.count(index)).toBe(600)
  })

  test('holds for the probes of access that was lost', async () => {
    await writeFile(path('a.ndjson'), lines(200))
    const onEvent = ({ type }: IngestEvent) => {
      if (type === 'progress') lab.control.register('none')
    }
    const byteBudget = 40_000
    const { code, receipt } = await stopped(load({ byteBudget, onBlock: 'wait', concurrency: 1, onEvent }))
    lab.control.register('both')
    expect(code).toBe('BYTE_BUDGET_SPENT')
    expect(wireOf(receipt as Receipt)).toBeLessThanOrEqual(byteBudget)
    expect(receipt).toMatchObject({ created: lab.control.count(index), unknown: 0 })
    expect(await load()).toMatchObject({ status: 'finished', created: 200, duplicate: 0 })
  })

  test('holds for the steps of a guarded load, which goes on from there', async () => {
    await writeFile(path('a.ndjson'), lines(600, 100))
    const guarded = { index: undefined, swapAlias: index, batchDocs: 50, compress: 'none' } as const
    const receipts = await loadWithin(60_000, guarded)
    expect(receipts.length).toBeGreaterThan(1)
    const { created = 0, duplicate = 0, alias } = receipts.at(-1) ?? {}
    expect([created + duplicate, alias?.switched]).toEqual([600, true])
  })

  test('holds back a step that does not fit', async () => {
    await writeFile(path('a.ndjson'), lines(10))
    const guarded = { index: undefined, swapAlias: index, runId: 'large' } as const
    lab.control.plant({ stall: { method: 'POST', path: '/_count', done: true } })
    const large = { query: { term: { text: 'x'.repeat(30_000) } } }
    const { code } = await stopped(load({ ...guarded, byteBudget: 35_000, checkQuery: large }))
    expect(code).toBe('BYTE_BUDGET_SPENT')
    expect(openIn(path('state'))).toEqual([])
    expect(lab.control.struck('stall')).toBe(0)
    lab.control.heal()
    const receipt = await load({ ...guarded, byteBudget: 1_000_000, checkQuery: { query: { match_all: {} } } })
    expect(receipt).toMatchObject({ created: 10, alias: { switched: true } })
  })

  test('is measured while the run goes on', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    const events: IngestEvent[] = []
    const receipt = await load({ byteBudget: 10_000_000, onEvent: event => events.push(event) })
    const uses = events.flatMap(event => (event.type === 'progress' && event.wire !== undefined ? [event.wire] : []))
    expect(uses).toHaveLength(10)
    expect(uses.every(({ budget }) => budget === 10_000_000)).toBe(true)
    expect(uses.map(({ bytes }) => bytes)).toEqual(uses.map(({ bytes }) => bytes).toSorted((a, b) => a - b))
    expect(uses.at(-1)?.bytes).toBeLessThanOrEqual(wireOf(receipt))
  })
})

describe('the limits that a run learnt of the cluster', () => {
  const limits = async (): Promise<string> => {
    const [name = ''] = await readdir(path('state/limits'))
    return path(`state/limits/${name}`)
  }

  test('is kept, and the next run begins with it', async () => {
    await writeFile(path('a.ndjson'), lines(2000, 400))
    lab.control.setMaxContentBytes(200_000)
    const options = { batchBytes: 400_000, batchDocs: 100_000, compress: 'none', again: true, concurrency: 1 } as const
    const first = await load(options)
    const kept = JSON.parse(await readFile(await limits(), 'utf8')) as { bodyBytes: number }
    expect(kept.bodyBytes).toBeLessThan(200_000)
    otherIndex()
    const second = await load(options)
    expect(second.created).toBe(2000)
    // One larger body is tried, and no more.
    expect(second.requests).toBeLessThan(first.requests + 2)
    expect(JSON.parse(await readFile(await limits(), 'utf8'))).toMatchObject({ bodyBytes: kept.bodyBytes })

    lab.control.setMaxContentBytes(100_000_000)
    otherIndex()
    expect((await load(options)).created).toBe(2000)
    expect(JSON.parse(await readFile(await limits(), 'utf8'))).not.toHaveProperty('bodyBytes')
  })

  test('is nothing without a state folder, nor after a run that stored nothing', async () => {
    await writeFile(path('a.ndjson'), lines(10))
    await load({ stateDir: undefined })
    expect(await readdir(work)).toEqual(['a.ndjson'])
    await load({ dryRun: true })
    expect(await readdir(work)).toEqual(['a.ndjson'])
    await load()
    expect(await readdir(path('state/limits'))).toHaveLength(1)
  })
})
