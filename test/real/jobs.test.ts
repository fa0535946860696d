/** Jobs that several workers load, on a real Redis and a real PostgreSQL, into the lab. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { countingRelay } from '../support/servers/counting-relay.js'
import { eventuallySeen } from '../support/eventually.js'
import { rounds } from '../support/rounds.js'
import { sluiceHere } from '../support/command/in-process.js'
import type { Running } from '../support/command/sluice.js'
import { index, lab, path, shareLab } from '../support/lab/shared-lab.js'
import { endAll, jobs, listed, receiptOf, startIngest, startWorker, stored, writeFiles } from './jobs-world.js'
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

/** Small requests, so that a job lasts for some time. */
const slowly = ['--batch-bytes', '50kb', '--range-bytes', '500kb', '--concurrency', '3']

/** A lease that outlasts the pauses of a slow machine, where a range that is loaded twice would count. */
const patient = ['--lease', '60s']

for (const [name, start] of Object.entries(engines))
  describe.skipIf(missing.length > 0 && !process.env['CI'])(`a job on ${name}`, () => {
    shareLab()
    let owner: Owner
    let queue: QueueServer
    beforeAll(async () => {
      owner = await newOwner()
      queue = await owner.own(start(`${owner.folder}/queue`))
    })
    afterEach(endAll)
    afterAll(async () => await owner[Symbol.asyncDispose]())

    test('is loaded once by all workers, has one receipt, and the same command loads only what is new', async () => {
      writeFiles(4, 1000, 1500)
      // The cluster refuses a fourth request, so the job may never send it, although two workers have room for eight.
      lab.control.plant({ capacity: { inFlight: 3, tookMs: 20 } })
      const worker = startWorker(queue.url, ...patient)
      await worker.printed('working on')
      const { code, ...output } = await startIngest(queue.url, ...slowly, ...patient).ended
      expect(code, output.stderr).toBe(0)
      const receipt = receiptOf(output)
      expect(receipt).toMatchObject({ status: 'finished', read: 4000, created: 4000, duplicate: 0, rejected: 0 })
      expect(receipt.retries).toBe(0)
      expect(receipt.job).toMatchObject({ objects: 4, ranges: 16, failed: [] })
      expect(receipt.inputs).toEqual([{ name: path('in/*.ndjson'), status: 'finished', read: 4000 }])
      expect(await stored()).toBe(4000)
      writeFiles(5, 1000, 1500, 4)
      const again = await startIngest(queue.url, ...slowly, ...patient).ended
      const more = receiptOf(again)
      expect(more).toMatchObject({ status: 'finished', read: 5000, created: 5000, duplicate: 0 })
      expect(more).toMatchObject({ thisProcess: { read: 1000, created: 1000 }, job: { before: { documents: 4000 } } })
      // Times and rates are those of the workers, and of this command.
      for (const one of [receipt, more]) {
        const { created } = one.thisProcess
        expect(one.elapsedMs).toBeGreaterThan(0)
        expect(one.docsPerSecond).toBe(Math.round((created * 1000) / one.elapsedMs))
      }
      expect(receipt.job).not.toHaveProperty('before')
      // The cluster answers no request sooner than after 20 ms, and at most three at once.
      expect(receipt.elapsedMs).toBeGreaterThanOrEqual((receipt.requests * 20) / 3)
      const env = { ...lab.env, SLUICE_QUEUE: queue.url, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
      const command = ['ingest', path('in/*.ndjson'), '--index', index, ...slowly, ...patient]
      const third = await sluiceHere(command, { cwd: path('.'), env })
      expect(third.code, third.stderr).toBe(0)
      expect(third.stdout).toMatch(/^Nothing new\. Job \S+ was loaded before\.\nThis command loaded no documents\./)
      expect(third.stdout).toContain('5,000 read = 5,000 created, it balances')
      expect(third.stdout).toMatch(/speed +0 documents\/s\n/)
      expect(third.stdout).toMatch(/before +5,000 documents of the job, until \d{4}-\d\d-\d\d /)
      worker.child.kill('SIGTERM')
      expect((await worker.ended).code).toBe(0)
    })

    test('that was planned by a killed process is finished by another worker, also after a worker was stopped for too long', async () => {
      writeFiles(4, 1000, 1500)
      lab.control.plant({ latencyMs: 60 })
      const [one, other] = [startWorker(queue.url), startWorker(queue.url)]
      await Promise.all([one.printed('working on'), other.printed('working on')])
      const ingest = startIngest(queue.url, ...slowly)
      await eventuallySeen(async () => expect((await listed(queue.url))[0]?.ranges.done).toBeGreaterThan(0))
      ingest.child.kill('SIGKILL')
      one.child.kill('SIGSTOP')
      await eventuallySeen(async () => expect((await listed(queue.url))[0]).toMatchObject({ state: 'finished' }))
      one.child.kill('SIGCONT')
      const { stdout, stderr } = await startIngest(queue.url, ...slowly).ended
      const receipt = receiptOf({ stdout, stderr })
      expect(receipt).toMatchObject({ status: 'finished', read: 4000, rejected: 0, unknown: 0, unsent: 0 })
      expect(receipt.created + receipt.duplicate).toBe(4000)
      expect(await stored()).toBe(4000)
      for (const worker of [one, other]) worker.child.kill('SIGTERM')
      expect((await Promise.all([one.ended, other.ended])).map(({ code }) => code)).toEqual([0, 0])
    })

    test('joins the dead letters of its ranges, and its queue holds no credentials', async () => {
      writeFiles(3, 100, 1500)
      writeFiles(4, 100, 1500, 3, '{"n":1\n')
      const { code, ...output } = await startIngest(queue.url, ...slowly, ...patient, '--dead-letters', path('dead'))
        .ended
      expect(code, output.stderr).toBe(1)
      const receipt = receiptOf(output)
      expect(receipt).toMatchObject({ read: 401, created: 400, rejected: 1, deadLetters: path('dead.ndjson') })
      expect(readFileSync(path('dead.ndjson'), 'utf8').trimEnd().split('\n')).toHaveLength(1)
      const kept = await everything(queue.url)
      expect(kept).toContain(path('in'))
      const { cluster, proxy } = lab.line
      for (const secret of [cluster.apiKey, cluster.password, new URL(proxy.http).password])
        expect(kept).not.toContain(secret)
    })

    test('that is signed is loaded by workers with its key only, and the key is not on the queue', async () => {
      writeFiles(4, 200, 1500)
      const key = '0123456789abcdef0123456789abcdef'
      writeFileSync(path('queue.key'), key)
      const keyed = ['--queue-key-file', path('queue.key')]
      const [worker, stranger] = [startWorker(queue.url, ...patient, ...keyed), startWorker(queue.url, ...patient)]
      await Promise.all([worker.printed('working on'), stranger.printed('working on')])
      lab.control.plant({ latencyMs: 60 })
      const ingest = startIngest(queue.url, ...slowly, ...patient, ...keyed)
      await stranger.printed('JOB_SIGNATURE_WRONG')
      const { code, ...output } = await ingest.ended
      expect(code, output.stderr).toBe(0)
      expect(receiptOf(output)).toMatchObject({ status: 'finished', read: 800, created: 800, duplicate: 0 })
      expect(await stored()).toBe(800)
      const [job] = await listed(queue.url)
      expect(job).toMatchObject({ state: 'finished', counts: { created: 800 } })
      const again = await startIngest(queue.url, ...slowly, ...patient, ...keyed).ended
      expect(receiptOf(again)).toMatchObject({ status: 'finished', read: 800, created: 800 })
      const refused = await startIngest(queue.url, ...slowly, ...patient).ended
      expect(refused.stderr).toContain('JOB_SIGNATURE_WRONG')
      expect(await everything(queue.url)).not.toContain(key)
    })

    // `npm run proof:job-faults` tries the others on PostgreSQL too.
    if (name === 'PostgreSQL' && rounds(0, 1) === 0) return

    test('that loses access is parked once, and continues when access is back', async () => {
      writeFiles(4, 1000, 1500)
      lab.control.plant({ latencyMs: 60 })
      const ingest = startIngest(queue.url, ...slowly, ...patient, '--on-block', 'wait')
      await eventuallySeen(async () => expect((await listed(queue.url))[0]?.ranges.done).toBeGreaterThan(0))
      lab.control.register('none')
      await eventuallySeen(async () => expect((await listed(queue.url))[0]).toMatchObject({ state: 'parked' }))
      lab.control.register('both')
      const { code, ...output } = await ingest.ended
      expect(code, output.stderr).toBe(0)
      expect(receiptOf(output)).toMatchObject({ read: 4000, created: 4000, rejected: 0, unknown: 0 })
      expect(await stored()).toBe(4000)
    })

    test('that is cancelled says what is stored, and a retry loads the rest', async () => {
      writeFiles(4, 1000, 1500)
      lab.control.plant({ latencyMs: 60 })
      const ingest = startIngest(queue.url, ...slowly)
      await eventuallySeen(async () => expect((await listed(queue.url))[0]?.ranges.done).toBeGreaterThan(0))
      const job = (await listed(queue.url))[0]?.job ?? ''
      expect((await jobs(queue.url, job, '--cancel')).code).toBe(0)
      const cancelled = await ingest.ended
      expect(cancelled.code).toBe(3)
      const receipt = receiptOf(cancelled)
      expect(receipt.failure?.code).toBe('JOB_CANCELLED')
      expect(receipt.created).toBe(await stored())
      const worker = startWorker(queue.url)
      expect((await jobs(queue.url, job, '--retry')).code).toBe(0)
      await eventuallySeen(async () => expect((await listed(queue.url))[0]).toMatchObject({ state: 'finished' }))
      expect(await stored()).toBe(4000)
      expect((await jobs(queue.url, job, '--retry')).stderr).toContain('there is nothing to retry')
      worker.child.kill('SIGTERM')
      await worker.ended
      expect((await jobs(queue.url, job, '--remove')).code).toBe(0)
      expect(await listed(queue.url)).toEqual([])
      expect((await jobs(queue.url, job, '--remove')).stderr).toContain('there is no job')
    })

    test('never exceeds its byte budget over all workers, and the same command continues', async () => {
      writeFiles(4, 1000, 1500)
      await using relay = await countingRelay(lab.line.proxy.http)
      const through = ['--proxy', relay.url]
      // Compressed, all of it would fit.
      const limited = ['--byte-budget', '3mb', '--compress', 'none', ...slowly, '--range-bytes', '100kb', ...through]
      const worker = startWorker(queue.url, ...through)
      await worker.printed('working on')
      const ended: string[] = []
      let before = 0
      for (const rounds = 8; ended.at(-1) !== 'finished' && ended.length < rounds; before = relay.bytes) {
        const { code, ...output } = await startIngest(queue.url, ...limited).ended
        const { status, failure, read, created, duplicate } = receiptOf(output)
        expect(relay.bytes - before).toBeLessThanOrEqual(3_000_000)
        ended.push(failure?.code ?? status)
        expect(code, output.stderr).toBe(status === 'finished' ? 0 : 5)
        if (status === 'finished') expect({ read, stored: created + duplicate }).toEqual({ read: 4000, stored: 4000 })
      }
      expect(ended.at(-1)).toBe('finished')
      expect(new Set(ended.slice(0, -1))).toEqual(new Set(['BYTE_BUDGET_SPENT']))
      expect(await stored()).toBe(4000)
      worker.child.kill('SIGTERM')
      await worker.ended
    })

    test('never exceeds the plan of its proxy over all workers and kills, and continues with a larger one', async () => {
      writeFiles(4, 1000, 1500)
      await using relay = await countingRelay(lab.line.proxy.http)
      const through = ['--proxy', relay.url]
      // Uncompressed, so that one plan is not enough for all.
      const limited = [...through, '--compress', 'none', ...slowly, '--range-bytes', '100kb', '--plan-limit', 'stop']
      lab.control.plant({ latencyMs: 10 })
      const workers = new Set<Running>()
      const more = async () => {
        const worker = startWorker(queue.url, ...through)
        workers.add(worker)
        await worker.printed('working on')
      }
      await Promise.all([more(), more()])
      // The queue keeps its count from test to test, so each plan is larger than those before.
      const ended: string[] = []
      for (let plan = 3_000_000; ended.at(-1) !== 'finished' && ended.length < 12; plan += 3_000_000) {
        const ingest = startIngest(queue.url, ...limited, '--plan', `${plan}/month`)
        const [victim] = workers
        const kill = async () => {
          await victim?.printed('documents in')
          victim?.child.kill('SIGKILL')
          await victim?.ended
          workers.delete(victim as Running)
        }
        // A plan that is spent before its victim loads anything kills nobody.
        const [{ code, ...output }] = await Promise.all([ingest.ended, Promise.race([kill(), ingest.ended])])
        const { status, failure, read, created, duplicate, plan: told } = receiptOf(output)
        expect(relay.bytes).toBeLessThanOrEqual(plan)
        // A job that cannot begin has no receipt.
        if (failure?.code !== 'PLAN_SPENT') expect(told).toMatchObject({ bytes: plan })
        expect(told?.used ?? 0).toBeLessThanOrEqual(plan)
        ended.push(failure?.code ?? status)
        expect(code, output.stderr).toBe(status === 'finished' ? 0 : failure?.code === 'PLAN_SPENT' ? 4 : 5)
        if (status === 'finished') expect({ read, stored: created + duplicate }).toEqual({ read: 4000, stored: 4000 })
        if (workers.size < 2) await more()
      }
      expect(ended.at(-1)).toBe('finished')
      expect(ended).toContain('PLAN_LIMIT_REACHED')
      expect(await stored()).toBe(4000)
      for (const worker of workers) worker.child.kill('SIGTERM')
      await Promise.all([...workers].map(async worker => await worker.ended))
      // The queue names no user of the proxy.
      expect(await everything(queue.url)).not.toContain(new URL(relay.url).username)
    })

    test('opens one incident, whether ingest lives or is killed, and workers take no secret of it from the queue', async () => {
      const job = `job-${name.toLowerCase()}`
      const incidents = () =>
        lab.control.servicenow.rows('incident').filter(one => one['correlation_id'] === `sluice:${job}`)
      writeFileSync(path('queue.key'), '0123456789abcdef0123456789abcdef')
      const alarm = ['--on-failure', 'incident', '--job', job, '--queue-key-file', path('queue.key')]
      writeFiles(4, 1000, 1500, 0, '{"n":1\n')
      lab.control.plant({ latencyMs: 30 })
      const worker = startWorker(queue.url, '--queue-key-file', path('queue.key'))
      await worker.printed('working on')
      const ingest = startIngest(queue.url, ...slowly, ...alarm)
      await eventuallySeen(async () => expect((await listed(queue.url))[0]?.ranges.done).toBeGreaterThan(0))
      ingest.child.kill('SIGKILL')
      await eventuallySeen(async () => expect((await listed(queue.url))[0]).toMatchObject({ state: 'finished' }))
      expect(incidents()).toHaveLength(1)
      expect(incidents()[0]?.['description']).toContain('rejected')
      expect(incidents()[0]?.['work_notes'] ?? '').not.toContain('Occurrence')
      // The same end again: the incident gets one more note, from the process that coordinates.
      const { code } = await startIngest(queue.url, ...slowly, ...alarm).ended
      expect(code).toBe(1)
      expect(incidents()).toHaveLength(1)
      expect(incidents()[0]?.['work_notes']).toContain('Occurrence 2')
      expect(incidents()[0]?.['work_notes']).not.toContain('Occurrence 3')
      worker.child.kill('SIGTERM')
      await worker.ended
      expect(await everything(queue.url)).not.toContain(lab.line.servicenow.password)
    })

    test('whose queue has no key opens incidents only from ingest, because anyone could name them', async () => {
      const job = `unkeyed-${name.toLowerCase()}`
      const incidents = () =>
        lab.control.servicenow.rows('incident').filter(one => one['correlation_id'] === `sluice:${job}`)
      const alarm = ['--on-failure', 'incident', '--job', job]
      writeFiles(4, 1000, 1500, 0, '{"n":1\n')
      lab.control.plant({ latencyMs: 30 })
      const worker = startWorker(queue.url)
      await worker.printed('working on')
      const ingest = startIngest(queue.url, ...slowly, ...alarm)
      await eventuallySeen(async () => expect((await listed(queue.url))[0]?.ranges.done).toBeGreaterThan(0))
      ingest.child.kill('SIGKILL')
      await eventuallySeen(async () => expect((await listed(queue.url))[0]).toMatchObject({ state: 'finished' }))
      expect(incidents()).toEqual([])
      // The same command again waits for the end, and reports it.
      const { code, stderr } = await startIngest(queue.url, ...slowly, ...alarm).ended
      expect(code).toBe(1)
      expect(stderr).toContain('without --queue-key-file, only this command reports the end of the job')
      expect(incidents()).toHaveLength(1)
      worker.child.kill('SIGTERM')
      await worker.ended
    })
  })

describe.skipIf(missing.length > 0 && !process.env['CI'])('a queue that may lose jobs', () => {
  shareLab()

  test('is refused before a job is on it, and the doctor says why', async () => {
    await using owner = await newOwner()
    const settings = [
      '--maxmemory',
      '100mb',
      '--maxmemory-policy',
      'allkeys-lru',
      '--appendonly',
      'no',
      '--requirepass',
      'hush-hush',
    ]
    const { url } = await owner.own(startRedis(required(parts.redis, 'Redis'), `${owner.folder}/queue`, settings))
    const queue = url.replace('redis://', 'redis://:hush-hush@')
    writeFiles(1, 10)
    const refused = await startIngest(queue).ended
    expect(refused.code).toBe(3)
    expect(refused.stdout + refused.stderr).toContain('maxmemory-policy is allkeys-lru')
    const env = { ...lab.env, SLUICE_QUEUE: queue }
    const { code, stdout } = await sluiceHere(['doctor', '--json'], { cwd: path('.'), env })
    expect(code).toBe(3)
    const { findings } = JSON.parse(stdout) as { readonly findings: readonly { code: string; message: string }[] }
    const unsafe = findings.filter(finding => finding.code === 'QUEUE_UNSAFE').map(({ message }) => message)
    expect(unsafe.join('\n')).toMatch(/allkeys-lru[^]*appendonly is no/)
    expect(refused.stdout + refused.stderr + stdout).not.toContain('hush-hush')
    const wrong = await startIngest(queue.replace('hush-hush', 'wrong-word')).ended
    expect(wrong.stdout + wrong.stderr).toContain('QUEUE_REFUSED')
    expect(wrong.stdout + wrong.stderr).not.toContain('wrong-word')
    const nowhere = await startIngest('redis://127.0.0.1:1').ended
    expect(nowhere.code).toBe(4)
    expect(nowhere.stdout + nowhere.stderr).toContain('QUEUE_UNREACHABLE')
  })
})

/** All that a queue keeps, as text. */
async function everything(url: string): Promise<string> {
  const run = promisify(execFile)
  if (url.startsWith('postgres')) {
    const args = ['--dbname', url, '--data-only', '--inserts']
    return (await run(`${required(parts.postgres, 'PostgreSQL')}/pg_dump`, args, { maxBuffer: 1 << 28 })).stdout
  }
  const { Redis } = await import('ioredis')
  const redis = new Redis(url)
  try {
    const found: string[] = []
    for (const key of await redis.keys('*')) {
      const kind = await redis.type(key)
      if (kind === 'hash') found.push(JSON.stringify(await redis.hgetall(key)))
      if (kind === 'list') found.push(...(await redis.lrange(key, 0, -1)))
      if (kind === 'string') found.push((await redis.get(key)) ?? '')
      if (kind === 'zset') found.push(...(await redis.zrange(key, 0, '-1')))
      if (kind === 'stream') found.push(JSON.stringify(await redis.xrange(key, '-', '+')))
    }
    return found.join('\n')
  } finally {
    redis.disconnect()
  }
}
