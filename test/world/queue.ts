/** Loads by a job on a queue: one process puts it there and waits, and a worker in this process loads its ranges. */
import { createHash } from 'node:crypto'
import { work } from '../../src/jobs.js'
import type { Effective } from '../../src/cli/settings/resolve.js'
import { submitJob, waitForJob } from '../../src/programs/jobs/control/submit-job.js'
import type { JobData } from '../../src/programs/jobs/job.js'
import { withJob } from '../../src/programs/jobs/plan/queued-options.js'
import { noSeal } from '../../src/programs/jobs/queue/seal.js'
import { isSluiceError, SluiceError } from '../../src/base/failure/failure.js'
import { documentsOf, endedOf, wayOf } from './command.js'
import type { Ended } from './facts.js'
import { inTrouble } from './trouble.js'
import type { Settings, World } from './world.js'

const none = { values: {}, origins: {} } as unknown as Effective

/** Large enough that a small file is one part of a group, and so small that large ones are cut. */
const RANGE_BYTES = 2000

let jobs = 0

export async function runQueue(world: World, settings: Settings): Promise<Ended> {
  const { isAgain } = settings
  const data = dataOf(world, settings)
  // The same command is the same job. With --again, it is a new one.
  const name = isAgain ? `again-${(jobs += 1)}` : `job-${nameOf(data)}`
  return await inTrouble(world, async signals => {
    // What a killed process does goes on, but not on the queue that others see.
    const { queue } = world
    const [asked, over] = [new AbortController(), new AbortController()]
    signals.on('SIGINT', () => asked.abort('SIGINT'))
    const engine = queue.open(noSeal)
    const working = work({
      engine: queue.open(noSeal),
      pid: process.pid,
      slots: 2,
      leaseMs: 60_000,
      signal: AbortSignal.any([asked.signal, over.signal]),
      url: data.url,
      limits: {},
      optionsOf: async job =>
        await Promise.resolve({ ...wayOf(world), ...documentsOf(settings), index: indexOf(job), graceMs: 1 }),
      planOf: () => planOf(settings),
      access: async () => await Promise.resolve(wayOf(world)),
      queueAheadMs: async () => await Promise.resolve(0),
      isMeasured: false,
      tell: () => undefined,
    })
    try {
      await submitJob(engine, name, data)
      const end = await waitForJob(engine, { name, data }, { signal: asked.signal, tell: () => undefined })
      if ('failure' in end) throw new SluiceError(end.failure)
      return told(world, endedOf(end.receipt.exit, end.receipt, ''))
    } catch (error) {
      if (!isSluiceError(error)) throw error
      const { failure } = error
      return told(world, endedOf(failure.exit, { failure }, failure.message))
    } finally {
      over.abort('the job is over')
      await working
    }
  })
}

function told(world: World, ended: Ended): Ended {
  world.tell(`sluice ingest in/* --queue memory → ${ended.exit} ${ended.code ?? ''}`)
  return ended
}

/** Workers keep a plan on the queue. */
function planOf({ limit }: Settings) {
  const { plan, planLimit = 'report' } = limit?.options ?? {}
  return typeof plan !== 'number' ? undefined : { plan, planLimit, planDay: 1 }
}

const indexOf = (job: JobData) => String(withJob(none, job).values.index)

function nameOf({ sources, settings }: JobData): string {
  return createHash('sha256')
    .update(JSON.stringify([sources, settings]))
    .digest('hex')
    .slice(0, 8)
}

function dataOf(world: World, settings: Settings): JobData {
  return {
    version: 1,
    sources: [world.at('in/*')],
    settings: { index: world.target, ...documentsOf(settings) },
    url: String(world.env['ELASTICSEARCH_URL']),
    index: world.target,
    concurrency: 4,
    rangeBytes: RANGE_BYTES,
    deadLetters: world.at('dead'),
    host: 'here',
    made: new Date().toISOString(),
  }
}
