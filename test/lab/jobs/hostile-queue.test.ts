// @module-tag long
/**
 * Workers on a queue to which somebody else writes: hostile jobs, and forged ranges, receipts, rows and states of an honest job. SEED
 * and HOSTILE (how many) choose others.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { work } from '../../../src/jobs.js'
import { ownLimits } from '../../../src/cli/application/open-queue.js'
import type { Effective } from '../../../src/cli/settings/resolve.js'
import { submitJob, waitForJob } from '../../../src/programs/jobs/control/submit-job.js'
import type { JobData } from '../../../src/programs/jobs/job.js'
import { withJob } from '../../../src/programs/jobs/plan/queued-options.js'
import { noSeal, type Seal, sealWith } from '../../../src/programs/jobs/queue/seal.js'
import type { WorkerLimits } from '../../../src/programs/jobs/worker/worker-limits.js'
import { actsIn } from '../../support/facts/hostile.js'
import { index, lab, otherIndex, path, shareLab, way } from '../../support/lab/shared-lab.js'
import { EngineInMemory } from '../../support/load/engine-in-memory.js'
import { type Aims, hostileJob, hostileRow, hostileValue } from '../../support/random/hostile-jobs.js'
import { seeded } from '../../support/random/seeded.js'
import { ObjectServer } from '../../support/servers/object-server.js'
import { rounds } from '../../support/rounds.js'

const SEED = Number(process.env['SEED'] ?? 1)
const HOSTILE = Number(process.env['HOSTILE'] ?? rounds(300, 5000))
const FILES = 8
const EACH = 25

shareLab()

function writeInputs(): Aims {
  for (const folder of ['in', 'other', 'forbidden']) mkdirSync(path(folder))
  for (let file = 0; file < FILES; file += 1) {
    const lines = Array.from({ length: EACH }, (_, n) => `{"n":${file * EACH + n}}\n`)
    writeFileSync(path(`in/${file}.ndjson`), lines.join(''))
  }
  writeFileSync(path('other/a.ndjson'), '{"other":1}\n')
  writeFileSync(path('secret.ndjson'), '{"secret":true}\n')
  return { file: path('secret.ndjson'), index: `${index}-forbidden`, folder: path('forbidden') }
}

function jobOf(place: string, into: string): JobData {
  return {
    version: 1,
    sources: [path(`${place}/*.ndjson`)],
    settings: { index: into, batchDocs: 10 },
    url: lab.line.cluster.url,
    index: into,
    concurrency: 4,
    // Each file has about 230 bytes.
    rangeBytes: 100,
    deadLetters: path('dead'),
    host: 'here',
    made: '2026-01-01T00:00:00.000Z',
  }
}

function world(seal: Seal, limits: WorkerLimits) {
  const queue = new EngineInMemory()
  const over = new AbortController()
  const said: string[] = []
  const effective = { values: {}, origins: {} } as unknown as Effective
  const optionsOf = async (data: JobData) => {
    const { values } = withJob(effective, data)
    return await Promise.resolve({ ...way(), index: String(values.index), batchDocs: 10 })
  }
  const startWorker = async (of = seal) =>
    await work({
      engine: queue.open(of),
      pid: process.pid,
      slots: 4,
      leaseMs: 60_000,
      signal: over.signal,
      url: lab.line.cluster.url,
      limits,
      optionsOf,
      planOf: () => undefined,
      access: async () => await Promise.resolve(way()),
      queueAheadMs: async () => await Promise.resolve(0),
      isMeasured: false,
      tell: event => {
        if (event.type === 'problem') said.push(event.message)
        if (event.type === 'failed') said.push(event.failure.message)
      },
    })
  const load = async (name: string, data: JobData) => {
    const engine = queue.open(seal)
    await submitJob(engine, name, data)
    return await waitForJob(engine, { name, data }, { signal: over.signal, tell: () => undefined })
  }
  return { queue, said, startWorker, load, leave: () => over.abort() }
}

function numbers(): number[] {
  const of = (id: string) => (JSON.parse(String(lab.control.source(index, id))) as { readonly n: number }).n
  return lab.control
    .ids(index)
    .map(of)
    .toSorted((one, other) => one - other)
}

function sha256Of(file: string): string {
  return createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 32)
}

const ALL = Array.from({ length: FILES * EACH }, (_, n) => n)

test.each([
  ['limits', noSeal],
  ['limits and a key', sealWith('a-key-of-this-test-0123456789-abc')],
] as const)(
  `workers with %s load an honest job exactly beside ${HOSTILE} hostile ones (SEED=${SEED})`,
  async (_, seal) => {
    const aims = writeInputs()
    const random = seeded(SEED)
    const limits = {
      inputs: [path('in/*'), path('other/*')],
      indices: [index, `${index}-other`],
      letters: path('letters'),
    }
    const { queue, said, startWorker, load, leave } = world(seal, limits)
    const other = jobOf('other', `${index}-other`)
    const control = queue.held('jobs')
    for (let number = 0; number < HOSTILE; number += 1) {
      const { id, text } = hostileJob(random, other, aims, number)
      control.add(id, null)
      Object.assign(control.entries.get(id) ?? {}, {
        text,
        progress: hostileValue(random, aims),
        returnvalue: hostileValue(random, aims),
      })
      control.entries.get(id)?.logs.push(hostileRow(random, aims))
      const sign = hostileValue(random, aims)
      queue
        .held('workers')
        .add(
          `sign-${number}`,
          random.chance(0.5) ? sign : { version: 1, worker: 'x', host: 1, url: other.url, slots: 1e15, at: Date.now() },
        )
    }
    const workers = [startWorker(), startWorker()]
    const end = await load('honest', jobOf('in', index))
    expect(end).toMatchObject({ receipt: { status: 'finished', read: ALL.length, created: ALL.length, rejected: 0 } })
    expect(numbers()).toEqual(ALL)
    leave()
    await Promise.all(workers)
    expect(lab.control.count(aims.index)).toBe(0)
    expect(readdirSync(aims.folder)).toEqual([])
    expect(existsSync(path('dead'))).toBe(false)
    expect(actsIn(said.join('\n'))).toEqual([])
    expect(Math.max(...said.map(one => one.length))).toBeLessThan(1000)
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
    expect(said.join('\n')).toContain(seal.hasKey ? 'JOB_SIGNATURE_WRONG' : 'JOB_MALFORMED')
    // Without the key, the hostile jobs are not even looked at.
    if (seal.hasKey) expect(lab.control.count(`${index}-other`)).toBe(0)
  },
)

test('ranges that somebody without the key calls loaded are loaded all the same, and a false end of the job is refused', async () => {
  writeInputs()
  const [ours, theirs] = ['a-key-of-this-test-0123456789-abc', 'another-key-of-this-test-01234567'].map(sealWith)
  if (ours === undefined || theirs === undefined) throw new Error('no seals')
  const limits = { inputs: [path('in/*')], indices: [index] }
  const job = jobOf('in', index)
  const run = async (of: Seal, plant: (queue: EngineInMemory) => void) => {
    const { queue, startWorker, load, leave } = world(of, limits)
    plant(queue)
    const working = startWorker()
    const end = await load('honest', job)
    leave()
    await working
    return { queue, end }
  }
  const before = await run(theirs, () => undefined)
  lab.control.heal()
  const ranges = [...before.queue.held('job-honest').entries.values()]
  expect(ranges.length).toBeGreaterThan(FILES)
  const stored = lab.control.count(index)
  otherIndex()
  const second = jobOf('in', index)
  const { queue, startWorker, load, leave, said } = world(ours, { ...limits, indices: [index] })
  for (const { id, text, returnvalue } of ranges) {
    const held = queue.held('job-honest')
    held.add(id, JSON.parse(text.replaceAll(job.index, index)))
    Object.assign(held.entries.get(id) ?? {}, { state: 'completed', returnvalue })
  }
  const working = startWorker()
  const end = await load('honest', second)
  expect(end).toMatchObject({ receipt: { status: 'finished', read: stored, created: stored } })
  expect(numbers()).toEqual(ALL)
  expect(said).toEqual([])
  const entry = queue.held('jobs').entries.get('honest')
  Object.assign(entry ?? {}, { returnvalue: { receipt: (end as { readonly receipt: unknown }).receipt } })
  const engine = queue.open(ours)
  const signal = new AbortController().signal
  const waiting = waitForJob(engine, { name: 'honest', data: second }, { signal, tell: () => undefined })
  await expect(waiting).rejects.toMatchObject({ failure: { code: 'JOB_SIGNATURE_WRONG' } })
  leave()
  await working
})

test('a range that somebody adds to a job loads nothing that its worker may not load, however its name is written', async () => {
  writeInputs()
  await using server = await ObjectServer.start()
  const secret = '{"secret":true}\n'
  for (const name of ['secret.ndjson', '.open.example/secret.ndjson']) server.put(name, secret)
  const { inputs: own } = ownLimits('honest', { sources: [path('in/*.ndjson')] })
  const object = `object ${secret.length} 1700000000000 0`
  const file = `file ${secret.length} ${Math.floor(statSync(path('secret.ndjson')).mtimeMs)} ${sha256Of(path('secret.ndjson'))}`
  const forged = [
    [[server.url('open/*')], server.url('open/%2e%2e/secret.ndjson'), object],
    [['http://*.open.example/*'], server.url('.open.example/secret.ndjson'), object],
    [own, path('secret.ndjson'), file],
  ] as const
  for (const [inputs, name, identity] of forged) {
    otherIndex()
    const { queue, said, startWorker, load, leave } = world(noSeal, { inputs: [...(inputs ?? []), path('in/*')] })
    const data = { inputs: [{ name, identity }], source: 0, index }
    queue.held('job-honest').add('A'.repeat(22), data)
    const working = startWorker()
    await load('honest', jobOf('in', index))
    leave()
    await working
    expect(lab.control.ids(index).filter(id => String(lab.control.source(index, id)).includes('secret'))).toEqual([])
    expect(server.asked).toEqual([])
    expect(said.join('\n')).toContain('is not among --only-inputs')
  }
})

test('a worker with a key leaves an unsigned job, and one without a key leaves a signed job', async () => {
  writeInputs()
  const seal = sealWith('a-key-of-this-test-0123456789-abc')
  const { queue, said, startWorker, load, leave } = world(seal, {})
  await submitJob(queue.open(noSeal), 'unsigned', {
    ...jobOf('other', `${index}-other`),
    sources: [path('other/a.ndjson')],
  })
  const [keyed, keyless] = [startWorker(), startWorker(noSeal)]
  // The worker without a key may take the unsigned job, and nothing of the signed one.
  expect(await load('signed', jobOf('in', index))).toMatchObject({ receipt: { read: ALL.length, created: ALL.length } })
  leave()
  await Promise.all([keyed, keyless])
  expect(said.some(one => /job unsigned is left .*JOB_SIGNATURE_WRONG.*it is not signed/.test(one))).toBe(true)
  expect(said.some(one => /job signed is left .*this process has no key/.test(one))).toBe(true)
  const macs = [...queue.held('job-signed').entries.values()].map(
    ({ returnvalue }) => returnvalue as { readonly mac?: string },
  )
  expect(macs.every(({ mac }) => mac !== undefined)).toBe(true)
  expect(JSON.stringify([...queue.held('jobs').entries.values()])).not.toContain('a-key-of-this-test')
})
