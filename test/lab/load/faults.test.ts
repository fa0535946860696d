// @module-tag long
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { type IngestEvent, type IngestOptions, type Receipt, ingest } from '../../../src/index.js'
import { type Lab, type Register, startLab } from '../../../src/lab/index.js'

const DOCS = 600
const BATCH = 50
/** Connections of the preflight: faults that strike connections wait until it is over. */
const PREFLIGHT = 4

let lab: Lab
beforeEach(async () => {
  lab = await startLab()
})
afterEach(async () => await lab.close())

function* documents(count = DOCS): Generator<{ n: number; text: string }> {
  for (let n = 1; n <= count; n += 1) yield { n, text: 'x'.repeat(n % 97) }
}

async function load(more: Partial<IngestOptions> = {}): Promise<Receipt> {
  const { cluster, proxy } = lab.line
  return await ingest({
    source: documents(),
    target: { url: cluster.url, apiKey: cluster.apiKey, ca: readFileSync(cluster.caFile) },
    proxy: proxy.http,
    index: 'faults',
    batchDocs: BATCH,
    // Every body is full, however slow the machine is.
    batchMs: 3_600_000,
    deadLetters: false,
    preflightConnections: PREFLIGHT,
    ...more,
  })
}

/** The receipt of a run that had to stop. */
async function stopped(run: Promise<Receipt>): Promise<Receipt> {
  try {
    await run
  } catch (error) {
    const { receipt } = error as { receipt?: Receipt }
    if (receipt !== undefined) return receipt
    throw error
  }
  throw new Error('the run did not stop')
}

/** The receipt, however the run ended. */
async function stoppedOrDone(run: Promise<Receipt>): Promise<Receipt> {
  const ended = await Promise.allSettled([run])
  return ended[0].status === 'fulfilled' ? ended[0].value : await stopped(run)
}

/** Returns the status of each answer that arrived while `work` ran. */
async function answersOf(work: () => Promise<void>): Promise<number[]> {
  const seen: number[] = []
  const note = (message: unknown) =>
    void seen.push((message as { response: { statusCode: number } }).response.statusCode)
  subscribe('undici:request:headers', note)
  try {
    await work()
  } finally {
    unsubscribe('undici:request:headers', note)
  }
  return seen
}

function expectBalanced(receipt: Receipt): void {
  const { read, created, updated, deleted, noop, duplicate, rejected, skipped, unsent, unknown } = receipt
  expect(created + updated + deleted + noop + duplicate + rejected + skipped + unsent + unknown).toBe(read)
}

/** Every document is in the cluster exactly once, whatever happened on the way. */
function expectAllStored(receipt: Receipt): void {
  expectBalanced(receipt)
  expect(receipt).toMatchObject({ status: 'finished', read: DOCS, rejected: 0, unsent: 0, unknown: 0 })
  expect(receipt.created + receipt.duplicate).toBe(DOCS)
  expect(lab.control.count('faults')).toBe(DOCS)
}

describe('faults that pass', () => {
  test('busy items are sent again, and only they', async () => {
    lab.control.plant({ items: { times: 75, status: 429, type: 'es_rejected_execution_exception' } })
    const receipt = await load()
    expectAllStored(receipt)
    expect(receipt).toMatchObject({ created: DOCS, duplicate: 0 })
  })

  test('a request refused as a whole is sent again, after the time that the server asked for', async () => {
    const events: IngestEvent[] = []
    lab.control.plant({ bulk: { times: 2, status: 429, headers: { 'retry-after': '1' } } })
    const receipt = await load({ onEvent: event => events.push(event) })
    expectAllStored(receipt)
    const waits = events.flatMap(event => (event.type === 'retry' ? [event.waitMs] : []))
    expect(waits).toHaveLength(2)
    for (const wait of waits) expect(wait).toBeGreaterThanOrEqual(1000)
  })

  test('a gateway error that hides a stored request doubles nothing', async () => {
    const body = '<html><body>Bad Gateway</body></html>'
    lab.control.plant({ bulk: { times: 3, status: 502, body, headers: { 'content-type': 'text/html' }, stored: true } })
    const receipt = await load()
    expectAllStored(receipt)
    expect(receipt.duplicate).toBe(3 * BATCH)
  })

  test('a connection that dies after the documents were stored doubles nothing', async () => {
    lab.control.plant({ drop: { times: 2 } })
    const receipt = await load()
    expectAllStored(receipt)
    expect(receipt.duplicate).toBe(2 * BATCH)
  })

  test('an answer that never comes is waited for no longer than allowed', async () => {
    lab.control.plant({ hold: { times: 1, stored: true } })
    const receipt = await load({ timeoutMs: 6000 })
    expectAllStored(receipt)
    expect(receipt.duplicate).toBeGreaterThanOrEqual(BATCH)
  })

  test('a tunnel that is cut in the middle of a body loses nothing', async () => {
    lab.control.plant({ cut: { after: PREFLIGHT, times: 3, afterBytes: 3000 } })
    expectAllStored(await load())
  })

  for (const kind of ['fin', 'rst'] as const) {
    test(`a proxy that answers CONNECT with ${kind.toUpperCase()} for a while is asked again`, async () => {
      lab.control.plant({ handshake: { after: PREFLIGHT, times: 3, kind } })
      expectAllStored(await load())
    })
  }

  test('a cluster that takes three requests at once gets no more than that, but for a few', async () => {
    lab.control.plant({ capacity: { inFlight: 3, tookMs: 20 } })
    const refusals: IngestEvent[] = []
    const onEvent = (event: IngestEvent) => void (event.type === 'retry' && refusals.push(event))
    const receipt = await load({ batchDocs: 2, onEvent })
    expectAllStored(receipt)
    expect(receipt).toMatchObject({ created: DOCS, duplicate: 0 })
    expect(refusals.length).toBeLessThanOrEqual(DOCS / 2 / 10)
  })

  test('a body that is too large makes the later ones smaller', async () => {
    lab.control.setMaxContentBytes(200_000)
    const source = Array.from({ length: 20_000 }, (_, n) => ({ n, text: 'x'.repeat(400) }))
    const status = await answersOf(async () => {
      const receipt = await load({ source, batchDocs: 100_000, batchBytes: 500_000, concurrency: 2 })
      expectBalanced(receipt)
      expect(receipt).toMatchObject({ read: 20_000, created: 20_000 })
    })
    // 9.4 MB in bodies of 500 kB. Each body that is too large, and both its halves, make three answers with 413: 57 of all bodies.
    expect(status.filter(code => code === 413).length).toBeLessThan(25)
    expect(status).toContain(413)
  })

  test('a body that is too large is split until it passes', async () => {
    lab.control.setMaxContentBytes(2000)
    const receipt = await load()
    expectAllStored(receipt)
    expect(receipt.requests).toBeGreaterThan(DOCS / BATCH)
  })

  test('one document that is too large for ever is rejected, and its neighbours are stored', async () => {
    lab.control.setMaxContentBytes(2000)
    const source = [...documents(60), { n: 0, text: 'y'.repeat(3000) }, ...documents(60)]
    const receipt = await load({ source })
    expectBalanced(receipt)
    expect(receipt).toMatchObject({ read: 121, created: 120, rejected: 1, rejections: [{ status: 413, documents: 1 }] })
  })
})

describe('unknown outcomes', () => {
  test('with ids of the cluster a lost answer is counted as unknown, and never sent again', async () => {
    lab.control.plant({ drop: { times: 2 } })
    const receipt = await load({ ids: 'cluster' })
    expectBalanced(receipt)
    expect(receipt).toMatchObject({ created: DOCS - 2 * BATCH, unknown: 2 * BATCH, unsent: 0 })
    expect(lab.control.count('faults')).toBe(DOCS)
  })

  test('documents that the failure store took are rejected, although the answer says no errors', async () => {
    lab.control.plant({ failureStore: { times: 7 } })
    const receipt = await load()
    expectBalanced(receipt)
    expect(receipt).toMatchObject({
      created: DOCS - 7,
      rejected: 7,
      rejections: [{ type: 'failure_store', documents: 7 }],
    })
  })
})

describe('a run that has to stop', () => {
  for (const [which, code] of [
    ['none', 'EGRESS_NOT_ALLOWED'],
    ['first', 'EGRESS_PARTLY_ALLOWED'],
  ] as const satisfies readonly (readonly [Register, string])[]) {
    test(`names access that is lost in the middle: ${code}`, async () => {
      // Of any two connections one is on the refused address then.
      await lab.close()
      lab = await startLab({ pick: 'round-robin' })
      let sent = 0
      const receipt = await stopped(
        load({
          source: documents(DOCS * 4),
          preflightConnections: 16,
          onEvent: event => {
            if (event.type !== 'progress') return
            sent += 1
            if (sent === 1) lab.control.register(which)
          },
        }),
      )
      expectBalanced(receipt)
      expect(receipt.failure?.code).toBe(code)
      expect(receipt.unsent).toBeGreaterThan(0)
      expect(lab.control.count('faults')).toBe(receipt.created + receipt.duplicate)
    })
  }

  test('stops when the index accepts no writes, and rejects nothing for it', async () => {
    await load({ source: documents(1) })
    const { url, apiKey, caFile } = lab.line.cluster
    const { connect } = await import('../../../src/index.js')
    await using way = await connect({ target: { url, apiKey, ca: readFileSync(caFile) }, proxy: lab.line.proxy.http })
    await way.client.indices.putSettings({ index: 'faults', settings: { 'index.blocks.write': true } })
    const receipt = await stopped(load())
    expectBalanced(receipt)
    expect(receipt).toMatchObject({ created: 0, rejected: 0, failure: { code: 'INDEX_BLOCKED' } })
  })

  test('gives up on a cluster that stays overloaded, and says how long it tried', async () => {
    const error = { type: 'es_rejected_execution_exception', reason: 'rejected execution' }
    lab.control.plant({ bulk: { status: 429, body: JSON.stringify({ error, status: 429 }) } })
    const receipt = await stopped(load({ maxElapsedMs: 400 }))
    expectBalanced(receipt)
    expect(receipt).toMatchObject({ created: 0, unknown: 0, failure: { code: 'CLUSTER_OVERLOADED' } })
  })

  test('stops when more documents are rejected than allowed', async () => {
    lab.control.plant({
      items: { status: 400, type: 'document_parsing_exception', reason: 'failed to parse field [n]' },
    })
    const receipt = await stopped(load({ maxRejected: 10 }))
    expectBalanced(receipt)
    expect(receipt.failure?.code).toBe('TOO_MANY_REJECTED')
    expect(receipt.rejections[0]).toMatchObject({ status: 400, type: 'document_parsing_exception', field: 'n' })
  })

  test('ends in a receipt when the caller aborts', async () => {
    const abort = new AbortController()
    const receipt = await stopped(
      load({
        source: documents(DOCS * 20),
        signal: abort.signal,
        onEvent: event => event.type === 'progress' && abort.abort('SIGTERM'),
      }),
    )
    expectBalanced(receipt)
    expect(receipt).toMatchObject({
      status: 'interrupted',
      failure: { code: 'RUN_INTERRUPTED', evidence: { reason: 'SIGTERM' } },
    })
    expect(lab.control.count('faults')).toBe(receipt.created)
    expect(receipt.created).toBeLessThan(DOCS * 20)
  })

  test('is interrupted, and not finished, while documents that it would send again wait for their outcome', async () => {
    const abort = new AbortController()
    lab.control.plant({ bulk: { status: 502 } })
    const receipt = await stopped(
      load({
        source: documents(BATCH),
        signal: abort.signal,
        onEvent: event => event.type === 'retry' && abort.abort('SIGTERM'),
      }),
    )
    expectBalanced(receipt)
    expect(receipt).toMatchObject({ status: 'interrupted', unknown: BATCH, failure: { code: 'RUN_INTERRUPTED' } })
  })

  test('an edge that does not know the host, or is not available, has a code of its own', async () => {
    lab.control.plant({ edge: 'unknown-resource' })
    await expect(load()).rejects.toMatchObject({ code: 'CLUSTER_UNKNOWN_HOST' })
    lab.control.plant({ edge: 'unavailable' })
    await expect(load({ maxElapsedMs: 0 })).rejects.toMatchObject({ code: 'CLUSTER_UNAVAILABLE' })
  })

  test('each wording of the filter is recognised', async () => {
    lab.control.register('none')
    for (const body of ['long', 'short', 'text'] as const) {
      lab.control.setFilterBody(body)
      await expect(load()).rejects.toMatchObject({ code: 'EGRESS_NOT_ALLOWED' })
    }
  })
})

describe('dead letters', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-dead-'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  test('keep the document byte for byte, for the owner alone', async () => {
    const path = join(folder, 'dead.ndjson')
    lab.control.plant({ items: { times: 1, status: 400, type: 'document_parsing_exception' } })
    const lines = '{"n":1234567890123456789,"f":1.0}\n{"broken\n'
    const { Readable } = await import('node:stream')
    const receipt = await load({
      source: Readable.from([Buffer.from(lines)], { objectMode: false }),
      deadLetters: path,
    })
    expect(receipt).toMatchObject({ read: 2, rejected: 2, deadLetters: path })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const text = readFileSync(path, 'utf8')
    expect(text).toContain('"document":{"n":1234567890123456789,"f":1.0}')
    const records = text
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line) as Record<string, unknown>)
    expect(
      records
        .map(({ type, line, status }) => [type, line, status])
        .toSorted(([one], [other]) => (String(one) < String(other) ? -1 : 1)),
    ).toEqual([
      ['DOCUMENT_NOT_JSON', '{"broken', 0],
      ['document_parsing_exception', undefined, 400],
    ])
  })

  test('are not created where nothing was rejected', async () => {
    const path = join(folder, 'none.ndjson')
    expect((await load({ deadLetters: path })).deadLetters).toBeUndefined()
    expect(existsSync(path)).toBe(false)
  })

  test('on a full disk stop the run, and their documents count as unsent', async () => {
    lab.control.plant({ items: { status: 400, type: 'document_parsing_exception' } })
    const receipt = await stopped(load({ deadLetters: '/dev/full' }))
    expectBalanced(receipt)
    expect(receipt).toMatchObject({ rejected: 0, created: 0, failure: { code: 'DEAD_LETTERS_UNWRITABLE' } })
  })
})

describe('any mixture of faults', () => {
  for (let seed = 1; seed <= rounds(1, 40); seed += 1) {
    test(`leaves a receipt that balances and that the cluster agrees with (seed ${seed})`, async () => {
      const random = randomFrom(seed)
      const some = (most: number) => ({ after: Math.floor(random() * 8), times: 1 + Math.floor(random() * most) })
      const proxies = [lab.line.proxy.http, lab.line.proxy.socks5]
      lab.control.plant({
        ...(random() < 0.5 ? { items: { ...some(80), status: random() < 0.5 ? 429 : 503, type: 'busy' } } : {}),
        ...(random() < 0.5
          ? {
              bulk: {
                ...some(3),
                status: [429, 502, 503, 504][Math.floor(random() * 4)] ?? 429,
                stored: random() < 0.5,
              },
            }
          : {}),
        ...(random() < 0.5 ? { drop: some(3) } : {}),
        ...(random() < 0.3 ? { hold: { ...some(2), stored: random() < 0.5 } } : {}),
        ...(random() < 0.3
          ? { cut: { after: PREFLIGHT, times: 2, afterBytes: 1000 + Math.floor(random() * 5000) } }
          : {}),
        ...(random() < 0.3 ? { handshake: { after: PREFLIGHT, times: 2, kind: random() < 0.5 ? 'fin' : 'rst' } } : {}),
      })
      const ids = random() < 0.7 ? 'run' : 'cluster'
      const options = { ids, timeoutMs: 6000, proxy: proxies[seed % 2] ?? '', maxElapsedMs: 600_000 } as const
      const receipt = await stoppedOrDone(load(options))
      expectBalanced(receipt)
      const stored = lab.control.count('faults')
      expect(stored).toBeGreaterThanOrEqual(receipt.created + receipt.duplicate)
      expect(stored).toBeLessThanOrEqual(receipt.created + receipt.duplicate + receipt.unknown)
      if (ids === 'run') expectAllStored(receipt)
    })
  }
})

/** A small generator (mulberry32), so that a seed gives the same faults again. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
