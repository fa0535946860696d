import { lastRun } from '../../support/state/stored-runs.js'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { until } from '../../support/eventually.js'
import {
  type IngestEvent,
  type IngestOptions,
  type Receipt,
  connect,
  ingest,
  isSluiceError,
} from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'

const DOCS = 600
const BATCH = 20
const filter403 = { status: 403, body: '{"ok":false,"message":"Forbidden"}' }

let lab: Lab
beforeEach(async () => {
  lab = await startLab({ pick: 'round-robin' })
})
afterEach(async () => await lab.close())

const documents = () => Array.from({ length: DOCS }, (_, n) => ({ n }))

interface Ran {
  readonly receipt: Receipt
  readonly events: readonly IngestEvent[]
}

type Blocked = Extract<IngestEvent, { type: 'blocked' }>

interface Watching {
  /** When the first documents are stored. */
  onBegun?(): void
  onBlocked?(event: Blocked, times: number): void
}

/** Loads to the end, whichever it is. */
async function load(more: Partial<IngestOptions> = {}, watching: Watching = {}): Promise<Ran> {
  const { url, apiKey, caFile } = lab.line.cluster
  const events: IngestEvent[] = []
  let isBegun = false
  let blocked = 0
  const onEvent = (event: IngestEvent) => {
    events.push(event)
    if (event.type === 'blocked') watching.onBlocked?.(event, (blocked += 1))
    if (event.type !== 'progress' || isBegun) return
    isBegun = true
    watching.onBegun?.()
  }
  const running = ingest({
    source: documents(),
    target: { url, apiKey, ca: await readFile(caFile) },
    proxy: lab.line.proxy.http,
    index: 'access',
    batchDocs: BATCH,
    // Every body is full, however slow the machine is.
    batchMs: 3_600_000,
    deadLetters: false,
    preflightConnections: 1,
    ...more,
    onEvent,
  })
  try {
    return { receipt: await running, events }
  } catch (error) {
    if (isSluiceError(error) && error.receipt !== undefined) return { receipt: error.receipt, events }
    throw error
  }
}

/** The way for requests over plain http: every one of them shows the proxy its credentials. */
async function forwarded(more: Partial<IngestOptions> = {}, watching: Watching = {}): Promise<Ran> {
  const { httpUrl, apiKey } = lab.line.cluster
  return await load({ target: { url: httpUrl, apiKey }, ...more }, watching)
}

/** Nothing is in doubt: what the receipt calls stored is stored, and nothing else is. */
function expectCertain({ read, created, rejected, unsent, unknown }: Receipt): void {
  expect(created + unsent).toBe(read)
  expect([rejected, unknown]).toEqual([0, 0])
  expect(lab.control.count('access')).toBe(created)
}

function expectAllStored(receipt: Receipt): void {
  expectCertain(receipt)
  expect(receipt).toMatchObject({ status: 'finished', created: DOCS })
}

const kinds = ({ events }: Ran) =>
  events.flatMap(({ type }) => (type === 'blocked' || type === 'unblocked' || type === 'retry' ? [type] : []))

describe('by default', () => {
  test('one refusal of the filter among connections that are let through is survived', { tags: 'long' }, async () => {
    for (const ids of ['run', 'cluster'] as const) {
      lab.control.plant({ bulk: { after: 3, times: 1, ...filter403 } })
      const ran = await load({ ids, index: `once-${ids}` })
      const again = { requests: DOCS / BATCH + 1, retries: 1 }
      expect(ran.receipt).toMatchObject({ created: DOCS, duplicate: 0, unknown: 0, ...again })
      expect(kinds(ran)).toEqual(['unblocked'])
      expect(lab.control.count(`once-${ids}`)).toBe(DOCS)
    }
  })

  test('a filter that goes on refusing bodies stops the run, although it lets the probes through', async () => {
    lab.control.plant({ bulk: { after: 3, ...filter403 } })
    const { receipt } = await load({ concurrency: 1 })
    expectCertain(receipt)
    expect(receipt).toMatchObject({
      created: 3 * BATCH,
      requests: 5,
      failure: { code: 'EGRESS_NOT_ALLOWED', evidence: { regained: 1 } },
    })
    expect(receipt.failure?.message).toContain('Access came back once')
  })

  for (const [which, code] of [
    ['none', 'EGRESS_NOT_ALLOWED'],
    ['first', 'EGRESS_PARTLY_ALLOWED'],
  ] as const) {
    test(`fresh connections give the refusal its name, however few the preflight asked for: ${code}`, async () => {
      const { receipt } = await load({}, { onBegun: () => lab.control.register(which) })
      expectCertain(receipt)
      expect(receipt.failure?.code).toBe(code)
      expect(receipt.failure?.evidence).not.toHaveProperty('waitedMs')
    })
  }

  test('credentials that are refused, by the proxy or the cluster, stop the run and leave nothing in doubt', async () => {
    const rotated = () => void lab.control.rotateCredentials()
    const proxy = await forwarded({ ids: 'cluster' }, { onBegun: rotated })
    expectCertain(proxy.receipt)
    expect(proxy.receipt.failure?.code).toBe('PROXY_AUTH_REJECTED')
    const cluster = await load({ index: 'other' }, { onBegun: () => void lab.control.rotateApiKey() })
    expect(cluster.receipt).toMatchObject({ unknown: 0, failure: { code: 'CLUSTER_AUTH_REJECTED' } })
    expect(cluster.receipt.created).toBe(lab.control.count('other'))
  })
})

describe('a run that waits', () => {
  /** Longer than a machine may stand still. */
  const onBlock = { waitMs: 4000 }

  test('goes on when the filter lets both addresses in again', { tags: 'long' }, async () => {
    let storedThen = 0
    const ran = await load(
      { onBlock },
      {
        onBegun: () => lab.control.register('none'),
        onBlocked: () => {
          storedThen = lab.control.count('access')
          lab.control.register('both')
        },
      },
    )
    expectAllStored(ran.receipt)
    expect(kinds(ran)).toEqual(['blocked', 'unblocked'])
    expect(storedThen).toBeLessThan(DOCS)
    const [blocked] = ran.events.filter(event => event.type === 'blocked')
    expect(blocked).toMatchObject({ failure: { code: 'EGRESS_NOT_ALLOWED', evidence: { refused: 16, probes: 16 } } })
  })

  test('does not wait for half of the pair, and says what stands in the way', { tags: 'long' }, async () => {
    const ran = await load(
      { onBlock },
      { onBegun: () => lab.control.register('none'), onBlocked: () => lab.control.register('first') },
    )
    expectCertain(ran.receipt)
    expect(kinds(ran)).toEqual(['blocked'])
    const why = ran.receipt.failure
    expect(why?.code).toBe('EGRESS_PARTLY_ALLOWED')
    expect(why?.message).toMatch(/\. Sluice waited \d+ s for access$/)
  })

  test('takes new credentials of proxy and cluster, and loses nothing', async () => {
    const ran = await forwarded(
      {
        onBlock,
        refreshCredentials: async () => {
          const { cluster, proxy } = lab.line
          return await Promise.resolve({ apiKey: cluster.apiKey, proxy: proxy.http })
        },
      },
      {
        onBegun: () => {
          lab.control.rotateCredentials()
          lab.control.rotateApiKey()
        },
      },
    )
    expectAllStored(ran.receipt)
    // They were there at the first probe.
    expect(kinds(ran)).toEqual(['unblocked'])
  })

  test('says why it has no new credentials, without a word of what it was given', async () => {
    const { cluster } = lab.line
    const wrong: [NonNullable<IngestOptions['refreshCredentials']>, RegExp][] = [
      [() => ({ apiKey: 'hunter2\n' }), /^no new credentials: refreshCredentials\(\)\.apiKey: contains a line break/],
      [async () => await Promise.reject(new Error('hunter2')), /^no new credentials: refreshCredentials failed$/],
      [
        () => ({ apiKey: cluster.apiKey, proxy: 'http://user:hunter2@127.0.0.1:9293' }),
        /^only the credentials of a proxy may change/,
      ],
    ]
    for (const [refreshCredentials, problem] of wrong) {
      const abort = new AbortController()
      const { receipt, events } = await load(
        { onBlock: 'wait', refreshCredentials, signal: abort.signal },
        { onBegun: () => void lab.control.rotateApiKey(), onBlocked: () => abort.abort('SIGTERM') },
      )
      expect(receipt).toMatchObject({ status: 'interrupted', unknown: 0 })
      const [blocked] = events.filter(event => event.type === 'blocked')
      expect(blocked?.failure.code).toBe('CLUSTER_AUTH_REJECTED')
      expect(blocked?.problem).toMatch(problem)
      expect(JSON.stringify({ receipt, events })).not.toContain('hunter2')
    }
  })

  test(
    'keeps its checkpoint up to date meanwhile, ends at once when it is aborted, and goes on from there',
    { tags: 'long' },
    async () => {
      const work = await mkdtemp(join(tmpdir(), 'access-'))
      try {
        await writeFile(
          join(work, 'a.ndjson'),
          documents()
            .map(one => `${JSON.stringify(one)}\n`)
            .join(''),
        )
        const files = { source: join(work, 'a.ndjson'), stateDir: join(work, 'state'), concurrency: 1 }
        const checkpoint = async () => (await lastRun(join(work, 'state'))).checkpoint
        const abort = new AbortController()
        const onBlocked = () =>
          void until(async () => (await checkpoint()).counts.created === lab.control.count('access')).then(() =>
            abort.abort('SIGTERM'),
          )
        const begun = () => lab.control.register('none')
        const waiting = await load({ ...files, onBlock: 'wait', signal: abort.signal }, { onBegun: begun, onBlocked })
        expect(waiting.receipt).toMatchObject({
          status: 'interrupted',
          failure: { code: 'RUN_INTERRUPTED' },
          unknown: 0,
        })
        expect(await checkpoint()).toMatchObject({ status: 'interrupted', isDoubtful: false })

        lab.control.register('both')
        const { receipt } = await load(files)
        expect(receipt).toMatchObject({ run: waiting.receipt.run, status: 'finished', created: DOCS, duplicate: 0 })
        expect(lab.control.count('access')).toBe(DOCS)
      } finally {
        await rm(work, { recursive: true })
      }
    },
  )

  test(
    'is not waiting for a proxy that is gone before a body was tried for as long as it may be',
    { tags: 'long' },
    async () => {
      lab.control.plant({ drop: { after: 3, times: 1 } })
      const ran = await load(
        { onBlock, concurrency: 1, maxElapsedMs: 4000 },
        {
          onBegun: () => lab.control.plant({ handshake: { kind: 'rst' } }),
          onBlocked: () => lab.control.heal(),
        },
      )
      expect(ran.receipt).toMatchObject({ status: 'finished', created: DOCS - BATCH, duplicate: BATCH, unknown: 0 })
      const [first, ...rest] = new Set(kinds(ran))
      expect([first, rest]).toEqual(['retry', ['blocked', 'unblocked']])
      const [blocked] = ran.events.filter(event => event.type === 'blocked')
      expect(blocked?.failure.code).toBe('PROXY_UNREACHABLE')
    },
  )
})

describe('an index that takes no writes', () => {
  /** An index with one document, and a switch for its block. */
  async function blockable(): Promise<(isBlocked: boolean) => Promise<void>> {
    await load({ source: [{ n: 0 }], index: 'blocked' })
    const { url, apiKey, caFile } = lab.line.cluster
    const way = await connect({
      target: { url, apiKey, ca: await readFile(caFile) },
      proxy: lab.line.proxy.http,
      preflightConnections: 1,
    })
    return async isBlocked => {
      await way.client.indices.putSettings({ index: 'blocked', settings: { 'index.blocks.write': isBlocked } })
      if (!isBlocked) await way.close()
    }
  }

  test('is tried with one body at a time, and loaded once it takes them', { tags: 'long' }, async () => {
    const block = await blockable()
    await block(true)
    const ran = await load({ index: 'blocked', onBlock: { waitMs: 4000 } }, { onBlocked: () => void block(false) })
    expect(ran.receipt).toMatchObject({ status: 'finished', created: DOCS, rejected: 0 })
    expect(lab.control.count('blocked')).toBe(DOCS + 1)
    expect(kinds(ran)).toEqual(['blocked', 'unblocked'])
  })

  test('stops the run when the time is over, with nothing rejected', async () => {
    const block = await blockable()
    await block(true)
    const { receipt } = await load({ index: 'blocked', onBlock: { waitMs: 500 } })
    expect(receipt).toMatchObject({ created: 0, rejected: 0, unknown: 0, failure: { code: 'INDEX_BLOCKED' } })
    // Each of those that were in flight once, and one of them at the end of the time.
    expect(receipt.requests).toBeLessThanOrEqual(4)
    await block(false)
  })
})
