/** What a job does if its queue, its network, its objects or its cluster fail, on a real Redis and a real PostgreSQL. */
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { Redis } from 'ioredis'
import { statSync, truncateSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { eventually, eventuallySeen } from '../support/eventually.js'
import { CONTROL, openEngine } from '../../src/programs/jobs/queue/open-engine.js'
import { index, lab, path } from '../support/lab/shared-lab.js'
import {
  ALL,
  atWork,
  EACH,
  expectAllOnce,
  FILES,
  folder,
  leave,
  onA,
  owner,
  parts,
  queue,
  slowly,
  theJob,
} from './faults-world.js'
import { atHand, jobs, receiptOf, start, startIngest, startWorker, stored, writeFiles } from './jobs-world.js'
import { required } from './servers/parts.js'
import { startS3 } from './servers/s3.js'
import { relayTcp } from './servers/tcp-relay.js'

const missing = parts.missing.filter(({ only }) => only === 'jobs' || only === 'sources')
if (missing.length > 0)
  console.warn(`skipped: faults of jobs: ${missing.map(({ part, reason }) => `${part}: ${reason}`).join(', ')}`)
const isSkipped = missing.length > 0 && !process.env['CI']

for (const name of ['Redis', 'PostgreSQL'] as const)
  describe.skipIf(isSkipped)(`a job on ${name}`, () => {
    onA(name)

    test('whose queue is killed continues when the queue is back', async () => {
      const worker = startWorker(queue.url)
      const ingest = startIngest(queue.url, ...slowly)
      await atWork()
      await queue.kill()
      await worker.printed('Sluice retries')
      await queue.start()
      await expectAllOnce(ingest)
      await leave(worker)
    })

    test('goes on without a worker that is cut off from the queue, and takes nothing from it that comes late', async () => {
      await using relay = await relayTcp(Number(new URL(queue.url).port))
      const far = new URL(queue.url)
      far.port = String(relay.port)
      const cut = startWorker(far.href)
      await atHand(queue.url, cut)
      const ingest = startIngest(queue.url, ...slowly)
      await cut.printed('documents in')
      relay.part()
      await expectAllOnce(ingest)
      relay.join()
      await cut.printed('is over')
      await leave(cut)
      expect(await stored()).toBe(ALL)
    })

    test('that waits for access waits under its next coordinator, too, and can be cancelled', async () => {
      lab.control.plant({ latencyMs: 800 })
      const waiting = [...slowly, '--on-block', 'wait', '--lease', '6s']
      const ingest = startIngest(queue.url, ...waiting)
      // It is the coordinator.
      await atWork()
      const worker = startWorker(queue.url, '--lease', '6s')
      await worker.printed('documents in')
      lab.control.register('none')
      const { job } = await eventuallySeen(async () => {
        const one = await theJob()
        expect(one).toMatchObject({ state: 'parked' })
        return one
      })
      ingest.child.kill('SIGKILL')
      await using engine = await openEngine(queue.url)
      const coordinated = async () => (await engine.queue(CONTROL).getJob(job))?.processedOn ?? 0
      const first = await coordinated()
      // The next coordinator is refused, and gives the job back.
      for (const times = new Set([first]); times.size < 4; times.add(await coordinated()))
        expect(await theJob()).toMatchObject({ state: 'parked' })
      await jobs(queue.url, job, '--cancel')
      await eventuallySeen(async () =>
        expect(await theJob()).toMatchObject({ state: 'failed', failure: { code: 'JOB_CANCELLED' } }),
      )
      lab.control.register('both')
      await leave(worker)
    })

    test('lets a worker leave that cannot reach the queue', async () => {
      await using relay = await relayTcp(Number(new URL(queue.url).port))
      const far = new URL(queue.url)
      far.port = String(relay.port)
      const cut = startWorker(far.href)
      await atHand(queue.url, cut)
      const ingest = startIngest(queue.url, ...slowly)
      await cut.printed('documents in')
      relay.part()
      await leave(cut)
      await expectAllOnce(ingest)
    })
  })

describe.skipIf(isSkipped)('a job', () => {
  onA('Redis')

  const log = () => `${folder}/appendonlydir/appendonly.aof.1.incr.aof`

  test('whose queue has lost the last second loads again what the queue forgot', async () => {
    const worker = startWorker(queue.url)
    const ingest = startIngest(queue.url, ...slowly)
    await atWork(2)
    const then = statSync(log()).size
    await atWork(8)
    await queue.kill()
    truncateSync(log(), then)
    await queue.start()
    const { duplicate } = await expectAllOnce(ingest)
    expect(duplicate).toBeGreaterThan(0)
    await leave(worker)
  })

  test('that the queue has forgotten is put there again by who waits for it', async () => {
    const worker = startWorker(queue.url)
    await worker.printed('working on')
    const then = statSync(log()).size
    const ingest = startIngest(queue.url, ...slowly)
    await atWork()
    await queue.kill()
    truncateSync(log(), then)
    await queue.start()
    await expectAllOnce(ingest)
    await leave(worker)
  })

  test('waits for a queue whose memory is full, says so, and ends when there is memory again', async () => {
    const worker = startWorker(queue.url)
    const ingest = startIngest(queue.url, ...slowly)
    await atWork()
    await using redis = await asked(queue.url)
    await redis.config('SET', 'maxmemory', '1')
    await Promise.all([worker.printed('has no room left'), ingest.printed('has no room left')])
    await redis.config('SET', 'maxmemory', '0')
    await expectAllOnce(ingest)
    await leave(worker)
  })

  test('names objects that were replaced after they were planned, and loads the rest', async () => {
    const ingest = startIngest(queue.url, ...slowly)
    await atWork()
    writeFiles(FILES, EACH, 1600, FILES - 1)
    const { code, ...output } = await ingest.ended
    const receipt = receiptOf(output)
    expect({ code, of: receipt.failure?.code }, output.stderr).toEqual({ code: 3, of: 'JOB_RANGES_FAILED' })
    expect(receipt.created).toBe(ALL - EACH)
    const failed = receipt.job?.failed ?? []
    expect(failed.length).toBeGreaterThan(0)
    for (const { inputs, failure } of failed)
      expect([inputs, failure.code]).toEqual([[path('in/003.ndjson')], 'INPUT_CHANGED'])
    // The same command plans it as it is now.
    expect(receiptOf(await startIngest(queue.url, ...slowly).ended)).toMatchObject({ status: 'finished' })
  })

  test('slows down at all workers if one of them finds the cluster busy, and recovers', async () => {
    // No process is stopped here, so a slow machine must not look like it.
    const lease = ['--lease', '20s']
    const worker = startWorker(queue.url, ...lease)
    await worker.printed('working on')
    lab.control.plant({ latencyMs: 300, bulk: { status: 429, after: 4, times: 1 } })
    const ingest = startIngest(queue.url, ...slowly, ...lease)
    const { job } = await eventually(theJob)
    await using redis = await asked(queue.url)
    // What the queue itself knows: it gives no more ranges to all workers together.
    const limit = async () => await redis.hget(`sluice:job-${job}:meta`, 'concurrency')
    await eventually(async () => expect(await limit()).toBe('1'))
    await eventually(async () => expect(await limit()).toBe('3'))
    lab.control.plant({ latencyMs: 1 })
    const { retries } = await expectAllOnce(ingest)
    expect(retries).toBe(1)
    await leave(worker)
  })

  test('reaches queue and storage directly, and only the cluster through HTTPS_PROXY', async () => {
    await using s3 = await startS3(required(parts.versitygw, 'versitygw'), `${owner.folder}/s3`)
    await using toS3 = await relayTcp(Number(new URL(s3.url).port))
    const { AWS_ACCESS_KEY_ID: accessKeyId = '', AWS_SECRET_ACCESS_KEY: secretAccessKey = '' } = s3.env
    const credentials = { accessKeyId, secretAccessKey }
    const client = new S3Client({ region: 'us-east-1', forcePathStyle: true, endpoint: s3.url, credentials })
    await client.send(new CreateBucketCommand({ Bucket: 'logs' }))
    const put = async (Key: string, size: number) => {
      const Body = Array.from({ length: EACH }, (_, n) => `{"n":"${Key}-${n}","text":"${'x'.repeat(size)}"}\n`).join('')
      await client.send(new PutObjectCommand({ Bucket: 'logs', Key, Body }))
    }
    for (const key of ['0', '1', '2']) await put(key, 1500)
    await using toQueue = await relayTcp(Number(new URL(queue.url).port))
    lab.control.forgetConnections()
    const proxy = lab.env['STATIC_PROXY_URL'] ?? ''
    const everyProxy = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'].flatMap(name => [name, name.toLowerCase()])
    const env = {
      ...s3.env,
      AWS_ENDPOINT_URL_S3: `http://127.0.0.1:${toS3.port}`,
      ...Object.fromEntries(everyProxy.map(name => [name, proxy])),
      STATIC_PROXY_URL: undefined,
      IP_CHECK_URL: undefined,
    }
    const load = ['ingest', 's3://logs/*', '--index', index, ...slowly, '--lease', '20s', '--json']
    const ingest = start(`redis://127.0.0.1:${toQueue.port}`, load, env)
    await atWork()
    // The last of its ranges are not read yet.
    await put('2', 1600)
    const { stdout, stderr } = await ingest.ended
    const receipt = receiptOf({ stdout, stderr })
    expect(receipt.created, stderr).toBe(2 * EACH)
    expect(new Set(receipt.job?.failed.map(({ failure }) => failure.code))).toEqual(new Set(['INPUT_REPLACED']))
    expect(new Set(receipt.job?.failed.flatMap(({ inputs }) => inputs))).toEqual(new Set(['s3://logs/2']))
    expect(Math.min(toS3.connections, toQueue.connections)).toBeGreaterThan(0)
    const seen = lab.control.connections()
    const targets = new Set(seen.filter(({ at }) => at === 'proxy').map(({ target }) => target))
    expect(targets).toEqual(new Set([new URL(lab.line.cluster.url).host]))
    const isDirect = ({ at, from }: (typeof seen)[number]) => at === 'cluster' && !lab.line.staticIps.includes(from)
    expect(seen.filter(isDirect)).toEqual([])
  })
})

/** A connection of the test's own. */
async function asked(url: string): Promise<Redis & AsyncDisposable> {
  const redis = new Redis(url)
  await redis.ping()
  return Object.assign(redis, { [Symbol.asyncDispose]: async () => await Promise.resolve(redis.disconnect()) })
}
