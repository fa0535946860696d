/**
 * One honest job on a queue to which somebody else writes: hostile jobs, and with a key also forged ranges, receipts, rows and states of
 * the honest job. Workers and planners are killed meanwhile. Then the index holds what was sent, and nothing outside the limits was
 * touched. KILLS and DOCUMENTS set how much, SEED which.
 */
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { JobData } from '../../src/programs/jobs/job.js'
import { index, lab, path, shareLab } from '../support/lab/shared-lab.js'
import type { Running } from '../support/command/sluice.js'
import { actsIn } from '../support/facts/hostile.js'
import { kill } from '../support/command/kill.js'
import { type Aims, hostileJob, hostileRange, hostileRow, hostileValue } from '../support/random/hostile-jobs.js'
import { type Seeded, seeded } from '../support/random/seeded.js'
import { endAll, listed, receiptOf, start, stored, writeFiles } from './jobs-world.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts, required } from './servers/parts.js'
import { type QueueServer, startRedis } from './servers/redis.js'

const KILLS = Number(process.env['KILLS'] ?? 20)
const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 60_000)
const SEED = Number(process.env['SEED'] ?? 1)
const FILES = 20
const RANGES = Math.max(400, 15 * KILLS)
/** A document of this proof has about 60 bytes. */
const RANGE_BYTES = Math.max(1000, Math.round((DOCUMENTS * 60) / RANGES))

const parts = findParts()

describe.each([['with a key', true] as const, ['with limits', false] as const])(
  `one honest job beside hostile ones, ${KILLS} kills, ${DOCUMENTS} documents, %s`,
  (_, isKeyed) => {
    shareLab()
    let owner: Owner
    let queue: QueueServer
    beforeAll(async () => {
      owner = await newOwner()
      queue = await owner.own(startRedis(required(parts.redis, 'Redis'), `${owner.folder}/queue`))
    })
    afterEach(endAll)
    afterAll(async () => await owner[Symbol.asyncDispose]())

    test('is loaded exactly, and the others reach nothing', async () => {
      writeFiles(FILES, DOCUMENTS / FILES, 30)
      const aims = { file: path('secret.ndjson'), index: `${index}-forbidden`, folder: path('forbidden') }
      mkdirSync(aims.folder)
      writeFileSync(aims.file, '{"secret":true}\n')
      writeFileSync(path('queue.key'), 'a-key-of-this-proof-0123456789-abcdefghij\n')
      const env = isKeyed ? { SLUICE_QUEUE_KEY_FILE: path('queue.key') } : {}
      const places = `${path('in/*')},${path('other/*')}`
      const indices = `${index},${index}-other`
      const limits = ['--only-inputs', places, '--only-index', indices, '--letters-folder', path('letters')]
      // Without a key, a job within the limits is as good as any. It has an index of its own.
      mkdirSync(path('other'))
      writeFileSync(path('other/a.ndjson'), '{"other":1}\n{"other":2}\n')
      const other = { sources: [path('other/*.ndjson')], index: `${index}-other` }
      const all: Running[] = []
      const begin = (...args: readonly string[]) => {
        const running = start(queue.url, args, env)
        all.push(running)
        return running
      }
      const startWorker = () => begin('worker', ...limits)
      const small = ['--batch-bytes', '25kb', '--range-bytes', String(RANGE_BYTES), '--concurrency', '4']
      const ingest = async () => {
        const running = begin('ingest', path('in/*.ndjson'), '--index', index, '--json', ...small)
        await running.printed('is on ')
        return running
      }
      lab.control.plant({ latencyMs: 150 })
      const random = seeded(SEED)
      const workers = [startWorker(), startWorker()]
      let planner = await ingest()
      await using neighbour = new Neighbour(queue.url, random, { aims, other })
      const done = { workers: 0, planners: 0 }
      for (let kills = 0; kills < KILLS; kills += 1) {
        for (let times = 0; times < 5; times += 1) {
          await neighbour.write(isKeyed)
          await after(100 + random.below(200))
        }
        if (kills % 3 < 2) {
          const at = random.below(workers.length)
          await kill(workers[at] as Running)
          workers[at] = startWorker()
          done.workers += 1
        } else {
          await kill(planner)
          planner = await ingest()
          done.planners += 1
        }
      }
      const [seen] = await listed(queue.url)
      lab.control.plant({ latencyMs: 0 })
      const { code, ...output } = await planner.ended
      console.log(JSON.stringify({ done, wrote: neighbour.wrote, state: seen?.state }))
      expect(code, output.stderr).toBe(0)
      expect(seen?.state, 'the job ended before the last kill: set more DOCUMENTS').not.toBe('finished')
      const receipt = receiptOf(output)
      console.log(JSON.stringify({ created: receipt.created, duplicate: receipt.duplicate, job: receipt.job }))
      expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: 0, unsent: 0, unknown: 0 })
      expect(receipt.created + receipt.duplicate).toBe(DOCUMENTS)
      const numbers = lab.control.ids(index).map(id => numberOf(id))
      expect(numbers.toSorted((one, other) => one - other)).toEqual(Array.from({ length: DOCUMENTS }, (__, n) => n))
      expect(await stored()).toBe(DOCUMENTS)
      for (const worker of workers) expect(worker.child.exitCode, 'a worker crashed').toBeNull()
      for (const worker of workers) worker.child.kill('SIGTERM')
      for (const worker of workers) expect(await worker.ended).toMatchObject({ code: 0 })
      expect(lab.control.count(aims.index)).toBe(0)
      expect(readdirSync(aims.folder)).toEqual([])
      expect(existsSync(path('evil.ndjson'))).toBe(false)
      const said = await Promise.all(all.map(async ({ ended }) => (await ended).stderr))
      expect(actsIn(said.join(''))).toEqual([])
      expect(said.join('')).not.toContain('a-key-of-this-proof')
      expect(said.join('')).toContain(isKeyed ? 'JOB_SIGNATURE_WRONG' : 'is not among --only-in')
    })
  },
)

/** Where the hostile jobs load, and what, unless they are worse. */
type Other = Pick<JobData, 'sources' | 'index'>

/** Writes to the queue as anyone can who knows its password. */
class Neighbour implements AsyncDisposable {
  readonly #redis: Redis
  readonly #control: Queue<JobData>
  readonly #url: string
  readonly #random: Seeded
  readonly #aims: Aims
  readonly #other: Other
  readonly wrote = { jobs: 0, ranges: 0, forged: 0, rows: 0 }

  constructor(url: string, random: Seeded, { aims, other }: { readonly aims: Aims; readonly other: Other }) {
    this.#url = url
    this.#random = random
    this.#aims = aims
    this.#other = other
    this.#redis = new Redis(url)
    this.#control = new Queue('jobs', { connection: { url }, prefix: 'sluice', skipVersionCheck: true })
  }

  /** `forges`: also changes the honest job. */
  async write(forges: boolean): Promise<void> {
    // BullMQ itself cannot list a queue with an entry that is no JSON.
    const keys = await this.#redis.keys('sluice:jobs:*')
    const key = keys.find(
      name =>
        !/evil|:(id|meta|events|wait|active|delayed|completed|failed|stalled.*|limiter|marker|prioritized|pc|paused|repeat)$|:(lock|logs)$/.test(
          name,
        ),
    )
    const text = key === undefined ? undefined : await this.#redis.hget(key, 'data')
    const honest =
      key === undefined || text === null || text === undefined
        ? undefined
        : { id: key.slice('sluice:jobs:'.length), data: JSON.parse(text) as JobData }
    if (honest === undefined) throw new Error('the honest job is gone')
    for (let times = 0; times < 3; times += 1)
      await this.#addJob({
        ...honest.data,
        ...this.#other,
        settings: { ...honest.data.settings, index: this.#other.index },
      })
    if (forges) await this.#forge(honest.id)
  }

  async #addJob(good: JobData): Promise<void> {
    const { id, text } = hostileJob(this.#random, good, this.#aims, this.wrote.jobs)
    this.wrote.jobs += 1
    const attempts = this.#random.pick([1, 1000])
    await this.#control.add('job', {} as JobData, { jobId: id, attempts, delay: 1 }).catch(() => undefined)
    await this.#redis.hset(`sluice:jobs:${id}`, 'data', text)
  }

  async #forge(job: string): Promise<void> {
    const random = this.#random
    const key = `sluice:job-${job}`
    const value = () => JSON.stringify(hostileValue(random, this.#aims)) ?? 'null'
    await this.#redis.rpush(`sluice:jobs:${job}:logs`, hostileRow(random, this.#aims))
    // The type of a message, without a signature.
    await this.#redis.rpush(`sluice:jobs:${job}:logs`, JSON.stringify({ type: random.pick(['cancel', 'unblocked']) }))
    await this.#redis.hset(`sluice:jobs:${job}`, 'progress', value())
    this.wrote.rows += 2
    const ranges = new Queue(`job-${job}`, { connection: { url: this.#url }, prefix: 'sluice', skipVersionCheck: true })
    const { id, data } = hostileRange(random, this.#aims)
    await ranges.add('range', data, { jobId: id }).catch(() => undefined)
    await ranges.close()
    this.wrote.ranges += 1
    const [waiting] = await this.#redis.lrange(`${key}:wait`, 0, 0)
    const [loaded] = await this.#redis.zrange(`${key}:completed`, '0', '0')
    if (waiting !== undefined && random.chance(0.5)) {
      // It says that somebody has loaded the range.
      const counts = { read: 0, created: 0, accepted: 0, updated: 0, deleted: 0, noop: 0, notFound: 0, older: 0, dropped: 0, duplicate: 0, rejected: 0, skipped: 0, unsent: 0, unknown: 0 } // prettier-ignore
      const bytes = { read: 0, sent: 0, received: 0 }
      const receipt = {
        counts,
        rejections: [],
        bytes,
        requests: 0,
        retries: 0,
        elapsedMs: 0,
        host: 'nowhere',
        mac: 'AAAA',
      }
      if ((await this.#redis.lrem(`${key}:wait`, 1, waiting)) === 1) {
        await this.#redis.hset(
          `${key}:${waiting}`,
          'returnvalue',
          JSON.stringify(receipt),
          'finishedOn',
          String(Date.now()),
        )
        await this.#redis.zadd(`${key}:completed`, String(Date.now()), waiting)
        this.wrote.forged += 1
      }
    } else if (waiting !== undefined) {
      const text = random.chance(0.3) ? '{"inputs":[{' : (JSON.stringify(data) ?? 'null')
      await this.#redis.hset(`${key}:${waiting}`, 'data', text)
      this.wrote.forged += 1
    }
    if (loaded !== undefined && random.chance(0.3)) {
      await this.#redis.hset(`${key}:${loaded}`, 'returnvalue', value())
      this.wrote.forged += 1
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#control.close()
    this.#redis.disconnect()
  }
}

function numberOf(id: string): number {
  const { n } = JSON.parse(String(lab.control.source(index, id))) as { readonly n: number }
  return n
}

async function after(ms: number): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, ms))
}
