// @module-tag long
/** Elastic's managed ingest endpoint: a queue that recognises no ids, in front of a cluster that no question about it reaches. */
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { diagnose } from '../../../src/programs/doctor/diagnose.js'
import {
  type IngestOptions,
  type Receipt,
  ingest,
  isSluiceError,
  replay,
  serve,
  undo,
  verify,
} from '../../../src/index.js'
import { type Faults, type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { eventually } from '../../support/eventually.js'
import { codeOf, lines, openRunWorld } from '../../support/lab/run-world.js'
import { rounds } from '../../support/rounds.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab({ managed: true })
})
afterAll(async () => await lab.close())

let work: string
let index: string
/** Ids that were accepted before this test. */
let before: number
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'managed-'))
  index = newIndex('managed')
  lab.control.createDataStream(index)
  before = lab.control.managed.accepted.length
})
afterEach(async () => {
  lab.control.heal()
  lab.control.managed.keepIds(true)
  lab.control.managed.resume()
  await rm(work, { recursive: true })
})

const path = (name: string) => join(work, name)
const accepted = () => lab.control.managed.accepted.slice(before)

function endpoint() {
  const { managed } = lab.line
  if (managed === undefined) throw new Error('the lab plays no endpoint')
  return managed
}

function way(url = endpoint().url, apiKey = endpoint().apiKey) {
  const ca = readFileSync(lab.line.cluster.caFile)
  return { target: { url, apiKey, ca }, proxy: lab.line.proxy.http, preflightConnections: 2 }
}

/** The way to the cluster itself. */
const clusterWay = () => way(lab.line.cluster.url, lab.line.cluster.apiKey)

async function load(more: Partial<IngestOptions> = {}): Promise<Receipt> {
  const state = { stateDir: path('state'), deadLetters: path('dead.ndjson') }
  const batches = { batchDocs: 10, concurrency: 2, maxElapsedMs: 20_000 }
  return await ingest({ ...way(), ...state, ...batches, source: path('a.ndjson'), index, ...more })
}

/** The receipt of a load, also if it had to stop. */
async function receiptOf(loading: Promise<Receipt>): Promise<Receipt> {
  try {
    return await loading
  } catch (error) {
    if (isSluiceError(error) && error.receipt !== undefined) return error.receipt
    throw error
  }
}

function expectBalanced({ read, created, rejected, skipped, unsent, unknown, ...receipt }: Receipt): void {
  expect(receipt.accepted + created + rejected + skipped + unsent + unknown).toBe(read)
}

describe('a load', () => {
  test.each(['url', 'plainUrl'] as const)('to its %s is queued, and verify settles it at the cluster', async name => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.managed.pause()
    const receipt = await load(way(endpoint()[name]))
    expect(receipt).toMatchObject({ status: 'finished', exit: 0, read: 100, accepted: 100, created: 0, unknown: 0 })
    expect(receipt.cluster).toEqual({ url: endpoint()[name] })
    expectBalanced(receipt)
    expect(lab.control.count(index)).toBe(0)

    const asked = { ...clusterWay(), run: receipt.run, stateDir: path('state') }
    const early = await verify(asked)
    expect(early).toMatchObject({ ok: false, documents: 100, found: 0, missing: 100 })
    expect(early.notes.join()).toContain('some time after it accepted them')

    lab.control.managed.resume()
    expect(await verify(asked)).toMatchObject({ ok: true, found: 100, missing: 0, doubled: 0 })
    expect(await load(way(endpoint()[name]))).toMatchObject({ status: 'finished', requests: 0 })
    expect(accepted()).toHaveLength(100)
  })

  test('asks nothing that the endpoint does not serve', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    const receipt = await load({ concurrency: 1, preflightConnections: 1 })
    const seen = lab.control
      .connections()
      .filter(({ at }) => at === 'ingest')
      .at(-1)
    expect(receipt.requests).toBe(2)
    // One connection for the preflight and then for the documents: two bodies.
    expect(seen?.requests).toBe(3)
  })

  test('waits while the endpoint is busy, and sends nothing twice', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.plant({ bulk: { status: 503, times: 3, body: '{"message":"unavailable"}' } })
    expect(await load()).toMatchObject({ accepted: 100, unknown: 0 })
    lab.control.plant({ bulk: { status: 429, times: 3 } })
    expect(await load({ again: true })).toMatchObject({ accepted: 100, unknown: 0 })
    expect(accepted()).toHaveLength(200)
    expect(new Set(accepted()).size).toBe(200)
  })

  test('does not send what got no answer again: it is unknown, and the exit code is 1', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.plant({ drop: { after: 2, times: 2 } })
    const receipt = await load({ concurrency: 1 })
    expect(receipt).toMatchObject({ status: 'finished', exit: 1, accepted: 80, unknown: 20 })
    expectBalanced(receipt)
    expect(new Set(accepted()).size).toBe(accepted().length)
    await eventually(() => expect(lab.control.managed.waiting).toBe(0))
    const found = await verify({ ...clusterWay(), run: receipt.run, stateDir: path('state') })
    expect(found).toMatchObject({ ok: true, documents: 100, found: 100 })
  })

  test('sends it again if it is told to, and then stores it twice', async () => {
    await writeFile(path('a.ndjson'), lines(100))
    lab.control.plant({ drop: { after: 2, times: 2 } })
    const receipt = await load({ concurrency: 1, resendUnknown: true })
    expect(receipt).toMatchObject({ status: 'finished', exit: 0, accepted: 100, unknown: 0 })
    await eventually(() => expect(lab.control.count(index)).toBe(120))
  })

  test('that was killed is not continued with documents that may be queued, unless it is told to', async () => {
    await using world = await openRunWorld(lab, index)
    await writeFile(world.path('a.ndjson'), lines(100))
    const own = { ...way(), resendUnknown: false }
    const { run } = await world.load('a.ndjson', own)
    await world.killedAt(40)
    expect(await codeOf(world.load('a.ndjson', own))).toContain(`OPTION_INVALID: resendUnknown: is not set. run ${run}`)
    expect(accepted()).toHaveLength(100)
    expect(await world.load('a.ndjson', { ...own, resendUnknown: true })).toMatchObject({ run, status: 'finished' })
    expect(accepted()).toHaveLength(160)
  })

  test('that was interrupted between two requests continues, and sends nothing twice', async () => {
    await writeFile(path('a.ndjson'), lines(200))
    const controller = new AbortController()
    const stopped = await receiptOf(
      load({
        concurrency: 1,
        signal: controller.signal,
        onEvent: event => event.type === 'progress' && event.counts.read >= 50 && controller.abort('test'),
      }),
    )
    expect(stopped.status).toBe('interrupted')
    expect(await load()).toMatchObject({ run: stopped.run, status: 'finished', accepted: 200, unknown: 0 })
    expect(new Set(accepted()).size).toBe(accepted().length)
  })

  test('tells of documents that the endpoint gave other ids', async () => {
    await writeFile(path('a.ndjson'), lines(20))
    lab.control.managed.keepIds(false)
    const { run } = await load()
    await eventually(() => expect(lab.control.count(index)).toBe(20))
    const seen = await verify({ ...clusterWay(), run, stateDir: path('state') })
    expect(seen).toMatchObject({ ok: false, found: 0, missing: 20 })
    expect(seen.notes.join()).toContain('does not promise to keep their ids')
  })
})

describe('an operation that the endpoint cannot do', () => {
  test.each<[string, Partial<IngestOptions>]>([
    ['op', { op: 'index' }],
    ['pipeline', { pipeline: 'geo' }],
    ['routingField', { routingField: 'n' }],
    ['runId', { runId: 'night' }],
    ['swapAlias', { index: undefined, swapAlias: 'logs' }],
  ])('is refused before anything is sent: %s', async (option, more) => {
    await writeFile(path('a.ndjson'), lines(10))
    expect(await codeOf(load(more))).toContain(`OPTION_INVALID: ${option}: `)
    expect(accepted()).toEqual([])
  })

  test('is a replay, a receiver, a verification and an undo', async () => {
    await writeFile(path('a.ndjson'), `${lines(10)}not JSON\n`)
    const { run } = await load()
    const refused = /^OPTION_INVALID: target\.url: .*Use the URL of the cluster itself/
    const asked = { ...way(), run, stateDir: path('state') }
    expect(await codeOf(replay({ ...way(), source: path('dead.ndjson') }))).toMatch(refused)
    expect(await codeOf(verify(asked))).toMatch(refused)
    expect(await codeOf(undo(asked))).toMatch(refused)
    const receiver = { ...way(), index, stateDir: path('serve'), token: false, listen: '127.0.0.1:0' } as const
    expect(await codeOf(serve(receiver))).toMatch(refused)
  })

  test('an undo keeps the run while documents may still come out of the queue', async () => {
    await writeFile(path('a.ndjson'), lines(10))
    lab.control.managed.pause()
    const { run } = await load()
    const asked = { ...clusterWay(), run, stateDir: path('state') }
    expect(await undo(asked)).toMatchObject({ isComplete: false, gone: 10, deleted: 0 })
    lab.control.managed.resume()
    expect(await undo(asked)).toMatchObject({ isComplete: true, deleted: 10 })
  })
})

describe('the way', () => {
  test('a key for indices is named, with the privilege that it lacks', async () => {
    await writeFile(path('a.ndjson'), lines(10))
    const { leastPrivilegeApiKey } = lab.line.cluster
    const told = await codeOf(load(way(endpoint().url, leastPrivilegeApiKey)))
    expect(told).toContain('CLUSTER_PRIVILEGE_MISSING')
    expect(told).toContain('PermissionDenied')
  })

  test('a path that only looks like it leads to a cluster, which says so', async () => {
    await writeFile(path('a.ndjson'), lines(10))
    const { url, apiKey } = lab.line.cluster
    expect(await codeOf(load(way(`${url}/_es`, apiKey)))).toContain('CLUSTER_NOT_ELASTICSEARCH')
  })

  test('the doctor warns that the IP filter does not apply, and finds nothing else', async () => {
    for (const url of [endpoint().url, endpoint().plainUrl]) {
      const report = await diagnose({ ...way(url), staticIps: lab.line.staticIps, index })
      expect(report.findings.map(({ severity, code }) => `${severity} ${code}`)).toEqual(['warning FILTER_NOT_APPLIED'])
      expect(report).toMatchObject({ ok: true, facts: { filter: { isManaged: true } } })
    }
  })
})

/** Whatever a gateway or the network does with an answer. */
function trouble(random: Seeded): Faults {
  const once = { after: random.below(8), times: 1 + random.below(3) }
  return random.pick<Faults>([
    { drop: once },
    // Each takes as long as a request may.
    { hold: { ...once, times: 1, stored: random.chance(0.5) } },
    { bulk: { ...once, status: 429 } },
    { bulk: { ...once, status: 503 } },
    { bulk: { ...once, status: 500, stored: random.chance(0.5) } },
    { bulk: { ...once, status: 502, body: '<html>Bad Gateway</html>', stored: true } },
    { bulk: { ...once, status: 504, stored: random.chance(0.5) } },
    { bulk: { ...once, status: 200, body: '{"errors":false,"it', stored: true } },
    { cut: { times: once.times, after: once.after, afterBytes: 2000 + random.below(20_000) } },
  ])
}

test.each(Array.from({ length: rounds(2, 60) }, (_, seed) => seed + 1))(
  'whatever happens to answers, nothing is sent twice, and each document is in its count: seed %i',
  async seed => {
    const random = seeded(seed)
    await writeFile(path('a.ndjson'), lines(200))
    lab.control.plant({ ...trouble(random), ...trouble(random) })
    const loading = load({ timeoutMs: 4000, concurrency: 1 + random.below(4), batchDocs: 5 + random.below(20) })
    const receipt = await receiptOf(loading)
    expectBalanced(receipt)
    const ids = accepted()
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.length).toBeGreaterThanOrEqual(receipt.accepted)
    expect(ids.length).toBeLessThanOrEqual(receipt.accepted + receipt.unknown)
    expect(receipt.exit === 0).toBe(receipt.accepted === 200)
  },
)
