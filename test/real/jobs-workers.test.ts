/** What workers say of themselves: to the doctor, to Prometheus, and to what starts more of them, on real queues. */
import { Redis } from 'ioredis'
import { readFileSync, writeFileSync } from 'node:fs'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { eventuallySeen } from '../support/eventually.js'
import { sluiceHere } from '../support/command/in-process.js'
import { lab, path, shareLab } from '../support/lab/shared-lab.js'
import type { Running } from '../support/command/sluice.js'
import { atHand, endAll, listed, start, startIngest, startWorker, writeFiles } from './jobs-world.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts, required } from './servers/parts.js'
import { startPostgres } from './servers/postgres.js'
import { type QueueServer, startRedis } from './servers/redis.js'

const parts = findParts()
const missing = parts.missing.filter(({ only }) => only === 'jobs')
if (missing.length > 0)
  console.warn(`skipped: workers: ${missing.map(({ part, reason }) => `${part}: ${reason}`).join(', ')}`)
const isSkipped = missing.length > 0 && !process.env['CI']

const slowly = ['--batch-bytes', '10kb', '--range-bytes', '20kb', '--concurrency', '3']

/** How BullMQ names its lock for schemas. */
const SCHEMA_LOCK = 0x42554c4c

let owner: Owner
let queue: QueueServer

async function leave(worker: Running): Promise<void> {
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0 })
}

interface Diagnosis {
  readonly findings: readonly { readonly code: string; readonly severity: string; readonly message: string }[]
  readonly steps: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[]
}

async function doctor(): Promise<Diagnosis> {
  const { stdout, stderr } = await sluiceHere(['doctor', '--json'], {
    cwd: path('.'),
    env: { ...lab.env, SLUICE_QUEUE: queue.url, SLUICE_PREFLIGHT_CONNECTIONS: '2' },
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Diagnosis
}

function workersIn({ steps }: Diagnosis): string {
  return steps.find(({ name }) => name === 'workers')?.detail ?? ''
}

describe.skipIf(isSkipped)('workers on PostgreSQL', () => {
  shareLab()
  beforeAll(async () => {
    owner = await newOwner()
    queue = await owner.own(startPostgres(required(parts.postgres, 'PostgreSQL'), `${owner.folder}/queue`))
  })
  afterEach(endAll)
  afterAll(async () => await owner[Symbol.asyncDispose]())

  test('tell the doctor that they are there, until they leave', async () => {
    const worker = startWorker(queue.url)
    await eventuallySeen(async () => expect(workersIn(await doctor())).toMatch(/^1 worker: .* from 127\.0\.0\.[23]/))
    await worker.printed(
      'this worker has no key of the queue and no --only-inputs, no --only-index, no --letters-folder',
    )
    expect((await doctor()).findings.map(({ code }) => code)).toContain('WORKER_UNLIMITED')
    await leave(worker)
    writeFileSync(path('queue.key'), '0123456789abcdef0123456789abcdef')
    const keyed = startWorker(queue.url, '--queue-key-file', path('queue.key'))
    const report = await eventuallySeen(async () => {
      const seen = await doctor()
      expect(workersIn(seen)).toMatch(/^1 worker: .* from 127/)
      return seen
    })
    expect(report.findings.map(({ code }) => code)).not.toContain('WORKER_UNLIMITED')
    await leave(keyed)
    expect((await keyed.ended).stderr).not.toMatch(/no key of the queue|0123456789abcdef/)
    expect(workersIn(await doctor())).toBe('no worker is running')
  })

  test('name the queue if it ends their connection while they look at its schema', async () => {
    const database = new Client({ connectionString: queue.url })
    await database.connect()
    // The lock that BullMQ takes before it looks.
    await database.query(`select pg_advisory_lock(${SCHEMA_LOCK}, hashtext('sluice'))`)
    const worker = startWorker(queue.url)
    await eventuallySeen(async () => {
      const waiting = `select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'advisory'`
      expect((await database.query(waiting)).rowCount).toBe(1)
    })
    await database.end()
    const { code, stderr } = await worker.ended
    expect(stderr).toContain('QUEUE_UNREACHABLE')
    expect(code).toBe(4)
  })
})

describe.skipIf(isSkipped)('workers on Redis', () => {
  shareLab()
  beforeAll(async () => {
    owner = await newOwner()
    queue = await owner.own(startRedis(required(parts.redis, 'Redis'), `${owner.folder}/queue`))
  })
  afterEach(endAll)
  afterAll(async () => await owner[Symbol.asyncDispose]())

  test('tell the doctor their proxy and their addresses, and one without a proxy is found', async () => {
    const worker = startWorker(queue.url)
    const direct = start(queue.url, ['worker'], { STATIC_PROXY_URL: undefined, STATIC_IPS: undefined })
    const told = await eventuallySeen(async () => {
      const report = await doctor()
      const detail = workersIn(report)
      expect(detail).toMatch(/^2 workers: /)
      expect(detail).not.toContain('still looking')
      return { ...report, detail }
    })
    const { host, password } = new URL(lab.line.proxy.http)
    expect(told.detail).toMatch(new RegExp(`\\(${worker.child.pid}\\) through http://${host} from 127\\.0\\.0\\.[23]`))
    expect(told.detail).toContain(`(${direct.child.pid}) without a proxy`)
    const found = told.findings.filter(({ code }) => code === 'WORKER_WITHOUT_PROXY')
    expect(found).toEqual([
      expect.objectContaining({ severity: 'warning', message: expect.stringContaining(`(${direct.child.pid})`) }),
    ])
    const redis = new Redis(queue.url)
    const kept = await Promise.all((await redis.keys('sluice:workers:*-*')).map(async key => await redis.hgetall(key)))
    redis.disconnect()
    expect(kept).toHaveLength(2)
    for (const secret of [password, lab.line.cluster.apiKey]) expect(JSON.stringify(kept)).not.toContain(secret)
    await Promise.all([leave(worker), leave(direct)])
  })

  test('show Prometheus their ranges, and the coordinator its job', async () => {
    writeFiles(4, 100, 1500)
    lab.control.plant({ latencyMs: 60 })
    const file = path('worker.prom')
    const worker = startWorker(queue.url, '--metrics-port', '127.0.0.1:0', '--metrics-textfile', file)
    await atHand(queue.url, worker)
    const ingest = startIngest(queue.url, ...slowly)
    await worker.printed('documents in')
    // The worker coordinates the job from now on.
    ingest.child.kill('SIGKILL')
    const job = await eventuallySeen(async () => {
      const [one] = await listed(queue.url)
      expect(one).toMatchObject({ state: 'finished' })
      return one?.job ?? ''
    })
    await leave(worker)
    const { stderr } = await worker.ended
    expect(/metrics on (http:\S+)/.exec(stderr)?.[1]).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/)
    const value = valuesIn(readFileSync(file, 'utf8'))
    const ranges = value('sluice_ranges_total', { sluice_job: job, outcome: 'loaded' })
    expect(ranges).toBeGreaterThan(0)
    const done = value('sluice_job_ranges', { sluice_job: job, state: 'done' })
    expect(done).toBeGreaterThanOrEqual(ranges)
    expect(value('sluice_job_ranges', { sluice_job: job, state: 'waiting' })).toBe(0)
    expect(value('sluice_job_limit', { sluice_job: job })).toBe(3)
    const bytes = ['done', 'total'].map(part => value('sluice_job_bytes', { sluice_job: job, part }))
    expect(bytes[0]).toBe(bytes[1])
    const stored = ['created', 'duplicate'].map(outcome => value('sluice_job_documents', { sluice_job: job, outcome }))
    expect((stored[0] ?? 0) + (stored[1] ?? 0)).toBe(400)
    const here = ['created', 'duplicate'].map(outcome => value('sluice_documents_total', { sluice_job: job, outcome }))
    expect((here[0] ?? 0) + (here[1] ?? 0)).toBeGreaterThan(0)
    expect(value('sluice_requests_total', { sluice_job: job, status: '200' })).toBeGreaterThanOrEqual(ranges)
    expect(value('sluice_requests_in_flight', { sluice_job: job })).toBe(0)
  })

  test('can be scaled by the lists that the example for KEDA names', async () => {
    const text = readFileSync(new URL('../../examples/many-workers/kubernetes.yaml', import.meta.url), 'utf8')
    const scaled = parseAllDocuments(text).map(one => one.toJS() as { kind: string; spec: Scaled })
    const triggers = scaled.find(({ kind }) => kind === 'ScaledObject')?.spec.triggers ?? []
    const redis = new Redis(queue.url)
    const before = await Promise.all(triggers.map(async ({ metadata }) => await redis.llen(metadata.listName)))
    expect(before).toEqual([0, 0])
    const lengths = async () => {
      const counted = await Promise.all(
        triggers.map(async ({ metadata }) => [metadata.listName, await redis.llen(metadata.listName)] as const),
      )
      return Object.fromEntries(counted)
    }
    writeFiles(4, 100, 1500)
    lab.control.plant({ latencyMs: 60 })
    const ingest = startIngest(queue.url, ...slowly)
    await eventuallySeen(async () => expect((await listed(queue.url))[0]?.ranges.done).toBeGreaterThan(0))
    expect(await lengths()).toEqual({ 'sluice:jobs:wait': 0, 'sluice:jobs:active': 1 })
    const [job] = await listed(queue.url)
    expect(await redis.llen(`sluice:job-${job?.job}:wait`)).toBeGreaterThan(0)
    ingest.child.kill('SIGTERM')
    expect(await ingest.ended).toMatchObject({ code: 5 })
    expect(await lengths()).toEqual({ 'sluice:jobs:wait': 1, 'sluice:jobs:active': 0 })
    const worker = startWorker(queue.url)
    await eventuallySeen(async () => expect((await listed(queue.url))[0]).toMatchObject({ state: 'finished' }))
    expect(await lengths()).toEqual({ 'sluice:jobs:wait': 0, 'sluice:jobs:active': 0 })
    redis.disconnect()
    await leave(worker)
  })
})

interface Scaled {
  readonly triggers?: readonly { readonly metadata: { readonly listName: string } }[]
}

/** Finds the value of a series by its labels, in any order. NaN: there is none. */
function valuesIn(text: string) {
  return (name: string, labels: Readonly<Record<string, string>>): number => {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
    const line = text.split('\n').find(one => {
      const [, metric, written = ''] = /^(\w+)\{(.*)\} /.exec(one) ?? []
      return metric === name && written.split(',').toSorted().join() === wanted.toSorted().join()
    })
    return Number(line?.split(' ').at(-1) ?? NaN)
  }
}
