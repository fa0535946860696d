/** An index of another cluster that several workers move, on a real Redis and a real PostgreSQL. The lab plays both clusters. */
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connect, type Receipt } from '../../src/index.js'
import { startLab, type Lab } from '../../src/lab/index.js'
import { openEngine } from '../../src/programs/jobs/queue/open-engine.js'
import { type Ended, type Running, startSluice } from '../support/command/sluice.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts, required } from './servers/parts.js'
import { startPostgres } from './servers/postgres.js'
import { type QueueServer, startRedis } from './servers/redis.js'

const parts = findParts()
const missing = parts.missing.filter(({ only }) => only === 'jobs')
if (missing.length > 0)
  console.warn(`skipped: jobs: ${missing.map(({ part, reason }) => `${part}: ${reason}`).join(', ')}`)

const engines = {
  Redis: async (folder: string) => await startRedis(required(parts.redis, 'Redis'), folder),
  PostgreSQL: async (folder: string) => await startPostgres(required(parts.postgres, 'PostgreSQL'), folder),
}

const DOCUMENTS = 4000
const SHARDS = 3

for (const [name, startQueue] of Object.entries(engines))
  describe.skipIf(missing.length > 0 && !process.env['CI'])(`a move by workers on ${name}`, () => {
    let owner: Owner
    let queue: QueueServer
    let lab: Lab
    const started = new Set<Running>()
    beforeAll(async () => {
      owner = await newOwner()
      queue = await owner.own(startQueue(`${owner.folder}/queue`))
    })
    beforeEach(async () => {
      lab = await startLab({ clusters: 2 })
    })
    afterEach(async () => {
      for (const { child, ended } of started) {
        child.kill('SIGKILL')
        await ended
      }
      started.clear()
      await lab.close()
    })
    afterAll(async () => await owner[Symbol.asyncDispose]())

    const other = () => {
      const { otherCluster } = lab.line
      if (otherCluster === undefined) throw new Error('the lab plays one cluster')
      return otherCluster
    }

    /** Starts a process. It has its own access to both clusters. */
    function start(args: readonly string[], more: Readonly<Record<string, string>> = {}): Running {
      const { url, apiKey } = other()
      const env = {
        ...lab.env,
        SLUICE_QUEUE: queue.url,
        SLUICE_LEASE: '2s',
        SLUICE_PREFLIGHT_CONNECTIONS: '1',
        SLUICE_FROM: url,
        SLUICE_FROM_API_KEY: apiKey,
        SLUICE_FROM_CA: lab.line.cluster.caFile,
        ...more,
      }
      const running = startSluice(args, { cwd: owner.folder, env })
      started.add(running)
      return running
    }

    const slowly = ['--range-bytes', '4kb', '--batch-docs', '20', '--concurrency', '3']
    const ingest = (source: string, ...more: readonly string[]) =>
      start(['ingest', `elasticsearch:${source}`, '--json', ...slowly, ...more])

    /** Sends a request to the other cluster, past Sluice. */
    async function request(method: string, path: string, body?: object | string): Promise<unknown> {
      const { url, apiKey } = other()
      const ca = readFileSync(lab.line.cluster.caFile)
      await using direct = await connect({ target: { url, apiKey, ca }, proxy: { direct: true } })
      const type = typeof body === 'string' ? 'application/x-ndjson' : 'application/json'
      const sent = typeof body === 'string' ? { bulkBody: body } : body === undefined ? {} : { body }
      const headers = { 'content-type': type, accept: 'application/json' }
      return await direct.client.transport.request({ method, path, ...sent }, { headers })
    }

    const make = async (index: string) =>
      await request('PUT', `/${index}`, {
        settings: { number_of_shards: SHARDS, number_of_replicas: 0 },
        mappings: { properties: { n: { type: 'long' }, text: { type: 'keyword' } } },
      })

    async function write(index: string, numbers: readonly number[], text = 'first'): Promise<void> {
      const lines = numbers.map(n => `{"index":{"_id":"id-${n}"}}\n{"n":${n}.0,"text":"${text} ${'x'.repeat(40)}"}\n`)
      expect(await request('POST', `/${index}/_bulk?refresh=true`, lines.join(''))).toMatchObject({ errors: false })
    }

    const upTo = (count: number, first = 0) => Array.from({ length: count }, (_, at) => first + at)

    async function receiptOf(ended: Promise<Ended>, code = 0): Promise<Receipt> {
      const { stdout, stderr, ...end } = await ended
      expect(end.code, stderr).toBe(code)
      return JSON.parse(stdout) as Receipt
    }

    /** Everything that lies on the queue, as text. */
    async function everything(): Promise<string> {
      await using engine = await openEngine(queue.url)
      const control = engine.queue('jobs')
      const jobs = await control.getJobs(['completed', 'waiting', 'active', 'failed'])
      return JSON.stringify(jobs.map(({ data, returnvalue }) => [data as unknown, returnvalue as unknown]))
    }

    test('stores every document once, although a worker is killed in each round and the command once, and the next move only what is new', async () => {
      const index = `old-${name.toLowerCase()}`
      await make(index)
      await write(index, upTo(DOCUMENTS))
      lab.control.plant({ latencyMs: 40 })
      const begin = () => ingest(index, '--index', `${index}-new`, '--mapping', 'copy')
      const move = () => begin().ended
      let command = begin()
      for (let round = 0; round < 6; round += 1) {
        const worker = start(['worker'])
        await Promise.race([worker.printed('documents in'), command.ended])
        if (round === 2) {
          command.child.kill('SIGKILL')
          await command.ended
          command = begin()
        }
        // Others write, change and delete meanwhile. What they write is for the next load.
        await write(index, upTo(5, DOCUMENTS + 5 * round))
        worker.child.kill('SIGKILL')
        await worker.ended
      }
      const receipt = await receiptOf(command.ended)
      expect(receipt).toMatchObject({ status: 'finished', rejected: 0, unknown: 0, unsent: 0 })
      expect(receipt.created + receipt.duplicate).toBe(receipt.read)
      // The second command joins the job, and plans once more what was written since.
      expect(receipt.read).toBeGreaterThan(DOCUMENTS)
      expect(lab.control.count(`${index}-new`)).toBe(receipt.read)
      lab.control.heal()
      await write(index, upTo(7, 2 * DOCUMENTS))
      const next = await receiptOf(move())
      const read = DOCUMENTS + 30 + 7 - receipt.read
      expect(next.thisProcess).toMatchObject({ read, created: read, duplicate: 0 })
      expect(lab.control.count(`${index}-new`)).toBe(DOCUMENTS + 30 + 7)
      const again = await receiptOf(move())
      expect(again.thisProcess).toMatchObject({ read: 0 })
      const kept = await everything()
      expect(kept).toContain(`elasticsearch:${index}`)
      expect(kept).not.toContain(other().apiKey)
    })

    test('copies mappings once, sends each document of many indices once, and heeds what each worker may read', async () => {
      const prefix = `logs-${name.toLowerCase()}`
      for (const [at, index] of [`${prefix}-a`, `${prefix}-b`].entries()) {
        await make(index)
        await write(index, upTo(600, 600 * at))
      }
      // Numbers that no document has any more.
      await write(`${prefix}-a`, upTo(50), 'changed')
      for (const n of upTo(10, 100)) await request('DELETE', `/${prefix}-a/_doc/id-${n}?refresh=true`)
      lab.control.plant({ latencyMs: 20 })
      const limited = start(['worker', '--only-inputs', `elasticsearch:${prefix}-*`, '--only-index', '*'])
      const unread = start(['worker'], { SLUICE_FROM: lab.line.cluster.url })
      const others = start(['worker', '--only-inputs', 'elasticsearch:other-*'])
      for (const worker of [limited, unread, others]) await worker.printed('working on')
      const command = [`${prefix}-*`, '--index', '{_index}', '--mapping', 'copy', '--lease', '60s'] as const
      const plan = await receiptOf(ingest(...command, '--dry-run').ended)
      expect(plan).toMatchObject({ dryRun: true, objects: 2 * SHARDS, groups: 0 })
      const moving = ingest(...command).ended
      await unread.printed('which is not --from of this worker')
      await others.printed('is not among --only-inputs')
      await limited.printed('documents in')
      const receipt = await receiptOf(moving)
      expect(receipt).toMatchObject({ read: 1190, created: 1190, duplicate: 0, rejected: 0 })
      expect(receipt.job).toMatchObject({ objects: 2 * SHARDS, failed: [] })
      expect(plan).toMatchObject({ job: receipt.run, ranges: receipt.job?.ranges })
      expect(lab.control.count(`${prefix}-a`)).toBe(590)
      expect(lab.control.count(`${prefix}-b`)).toBe(600)
      const text = 'x'.repeat(40)
      expect(String(lab.control.source(`${prefix}-a`, 'id-7'))).toBe(`{"n":7.0,"text":"changed ${text}"}`)
      expect(String(lab.control.source(`${prefix}-b`, 'id-700'))).toBe(`{"n":700.0,"text":"first ${text}"}`)
      expect(receipt.notes).toContainEqual(expect.stringContaining(`Sluice creates ${prefix}-a like`))
    })

    test('names the other cluster if that one refuses access, and continues when access is back', async () => {
      const index = `kept-${name.toLowerCase()}`
      await make(index)
      await write(index, upTo(DOCUMENTS))
      lab.control.plant({ latencyMs: 40 })
      const move = () => ingest(index, '--index', `${index}-new`, '--max-elapsed', '2s').ended
      const worker = start(['worker'])
      const moving = move()
      await worker.printed('documents in')
      const { id } = lab.control.createPolicy({ name: 'nobody', rules: ['203.0.113.7'] })
      lab.control.attachPolicy(id, 'other')
      const { failure } = await receiptOf(moving, 3)
      expect(failure).toMatchObject({ code: 'EGRESS_NOT_ALLOWED', evidence: { cluster: other().url } })
      lab.control.detachPolicy(id, 'other')
      const receipt = await receiptOf(move())
      expect(receipt.created + receipt.duplicate).toBe(DOCUMENTS)
      expect(lab.control.count(`${index}-new`)).toBe(DOCUMENTS)
    })
  })
