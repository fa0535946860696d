import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { Effective } from '../../../src/cli/settings/resolve.js'
import { ingest, type IngestEvent, replay } from '../../../src/index.js'
import { work } from '../../../src/jobs.js'
import { submitJob, waitForJob } from '../../../src/programs/jobs/control/submit-job.js'
import type { JobData } from '../../../src/programs/jobs/job.js'
import { withJob } from '../../../src/programs/jobs/plan/queued-options.js'
import { noSeal } from '../../../src/programs/jobs/queue/seal.js'
import { index, lab, path, shareLab, smallBatches, way } from '../../support/lab/shared-lab.js'
import { EngineInMemory } from '../../support/load/engine-in-memory.js'

/** A cluster that is down when they begin, and comes back as soon as they say that they wait. `start.test.ts` has loads. */
shareLab()

const says = 'The cluster may be restarting, or the host or port of its URL is wrong'

function goAway(): { readonly told: string[]; hear(message: string): void } {
  const told: string[] = []
  lab.control.plant({ edge: 'unavailable' })
  return {
    told,
    hear: message => {
      told.push(message)
      lab.control.heal()
    },
  }
}

function write(from: number, to: number): string {
  const file = path('in.ndjson')
  writeFileSync(file, Array.from({ length: to - from }, (_, n) => `{"n":${from + n}}\n`).join(''))
  return file
}

test('a replay waits for a cluster that is down when it begins, and says so once', async () => {
  lab.control.plant({ items: { status: 400, type: 'planted_exception' } })
  const source = write(0, 20)
  const given = { ...smallBatches(), deadLetters: path('dead.ndjson') }
  expect(await ingest({ ...given, source })).toMatchObject({ rejected: 20 })
  lab.control.heal()

  const { told, hear } = goAway()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'warning') hear(event.message)
  }
  const again = { source: path('dead.ndjson'), deadLetters: path('again.ndjson'), stateDir: path('state'), onEvent }
  expect(await replay({ ...way(), ...again })).toMatchObject({ created: 20, rejected: 0 })
  expect(told).toEqual([expect.stringContaining(says)])
  expect(lab.control.count(index)).toBe(20)
})

test('a load that follows waits for a cluster that is down when it begins, and says so once', async () => {
  const source = write(0, 20)
  const { told, hear } = goAway()
  const stopped = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'warning') hear(event.message)
    if (event.type === 'progress' && event.counts.created === 20) stopped.abort('SIGTERM')
  }
  const { signal } = stopped
  const receipt = await ingest({ ...smallBatches(), source, follow: true, pollMs: 10, signal, onEvent })
  expect(receipt).toMatchObject({ status: 'finished', created: 20 })
  expect(told).toEqual([expect.stringContaining(says)])
})

test('a worker of a queue waits for a cluster that goes away when it has taken a range, and says so once', async () => {
  const source = write(0, 20)
  const queue = new EngineInMemory()
  const over = new AbortController()
  let gone: ReturnType<typeof goAway> | undefined
  const data: JobData = {
    version: 1,
    sources: [source],
    settings: { index, batchDocs: 10 },
    url: lab.line.cluster.url,
    index,
    concurrency: 1,
    rangeBytes: 1 << 20,
    deadLetters: path('dead'),
    host: 'here',
    made: '2026-01-01T00:00:00.000Z',
  }
  const effective = { values: {}, origins: {} } as unknown as Effective
  const worker = work({
    engine: queue.open(noSeal),
    pid: process.pid,
    slots: 1,
    leaseMs: 60_000,
    signal: over.signal,
    url: lab.line.cluster.url,
    limits: { inputs: [source], indices: [index], letters: path('letters') },
    planOf: () => undefined,
    optionsOf: async job => {
      const { values } = withJob(effective, job)
      return await Promise.resolve({ ...way(), index: String(values.index), batchDocs: 10 })
    },
    access: async () => await Promise.resolve(way()),
    queueAheadMs: async () => await Promise.resolve(0),
    isMeasured: false,
    tell: event => {
      if (event.type === 'took') gone ??= goAway()
      if (event.type === 'heard' && event.event.type === 'warning') gone?.hear(event.event.message)
    },
  })
  const engine = queue.open(noSeal)
  await submitJob(engine, 'job', data)
  const ended = await waitForJob(engine, { name: 'job', data }, { signal: over.signal, tell: () => undefined })
  over.abort()
  await worker
  expect(ended).toMatchObject({ receipt: { created: 20 } })
  expect(gone?.told).toEqual([expect.stringContaining(says)])
  expect(lab.control.count(index)).toBe(20)
})
