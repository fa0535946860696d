// @module-tag long
/** Documents that a job rejected: the same command counts them each time, because its receipt is that of all its ranges. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { work } from '../../../src/jobs.js'
import type { Effective } from '../../../src/cli/settings/resolve.js'
import { submitJob, waitForJob } from '../../../src/programs/jobs/control/submit-job.js'
import type { JobData } from '../../../src/programs/jobs/job.js'
import { withJob } from '../../../src/programs/jobs/plan/queued-options.js'
import { noSeal } from '../../../src/programs/jobs/queue/seal.js'
import { index, lab, path, shareLab, way } from '../../support/lab/shared-lab.js'
import { EngineInMemory } from '../../support/load/engine-in-memory.js'

shareLab()

test('the same job names what it rejected each time, also if only good lines are new', async () => {
  mkdirSync(path('in'))
  writeFileSync(path('in/1.ndjson'), '{"n":1}\n{"n":\n{"n":3}\n')
  const queue = new EngineInMemory()
  const over = new AbortController()
  const effective = { values: {}, origins: {} } as unknown as Effective
  const data: JobData = {
    version: 1,
    sources: [path('in/*.ndjson')],
    settings: { index, batchDocs: 10 },
    url: lab.line.cluster.url,
    index,
    concurrency: 4,
    rangeBytes: 100,
    deadLetters: path('dead'),
    host: 'here',
    made: '2026-01-01T00:00:00.000Z',
  }
  const working = work({
    engine: queue.open(noSeal),
    pid: process.pid,
    slots: 2,
    leaseMs: 60_000,
    signal: over.signal,
    url: data.url,
    limits: {},
    planOf: () => undefined,
    optionsOf: async job =>
      await Promise.resolve({ ...way(), index: String(withJob(effective, job).values.index), batchDocs: 10 }),
    access: async () => await Promise.resolve(way()),
    queueAheadMs: async () => await Promise.resolve(0),
    isMeasured: false,
    tell: () => undefined,
  })
  const load = async () => {
    const engine = queue.open(noSeal)
    await submitJob(engine, 'nightly', data)
    return await waitForJob(engine, { name: 'nightly', data }, { signal: over.signal, tell: () => undefined })
  }
  const rejected = { exit: 1, rejected: 1, deadLetters: path('dead.ndjson') }
  expect(await load()).toMatchObject({ receipt: { ...rejected, created: 2 } })
  writeFileSync(path('in/2.ndjson'), '{"n":4}\n')
  expect(await load()).toMatchObject({ receipt: { ...rejected, created: 3 } })
  expect(await load()).toMatchObject({ receipt: { ...rejected, created: 3 } })
  expect(existsSync(path('dead.ndjson'))).toBe(true)
  expect(lab.control.count(index)).toBe(3)
  over.abort()
  await working
})
