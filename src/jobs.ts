/** Composes jobs that many workers load: the queue, and loads as `ingest` makes them. */
import { type KeptServers, loadOnce, openPlatformWhenRead } from './ingest.js'
import { findInputs } from './ingest-ranges.js'
import { type CountedPlan, countPlan } from './programs/jobs/plan/count-plan.js'
import type { JobData } from './programs/jobs/job.js'
import { type LoadParts, runWorker, type Working } from './programs/jobs/worker/run-worker.js'
import { type SharedLimits, sharedLimits } from './features/limits/limit-traffic.js'
import type { IngestOptions } from './options/ingest-options.js'
import { readOptions } from './options/read-options.js'
import { loadRanges, ofRanges, readRangeOptions } from './features/ranges/range-load.js'

const parts: LoadParts = {
  findInputs,
  loadWhole: async (options, feature, isContinued) => {
    const read = readOptions(options)
    const { guarded } = read
    const load =
      guarded === undefined || !isContinued ? read : { ...read, guarded: { ...guarded, mayBeSwitched: true } }
    // The time line of a job would only show what its coordinator did.
    const own = () => undefined
    return await loadOnce(
      load,
      openPlatformWhenRead,
      { limits: sharedLimits(load.traffic), own, planDir: undefined },
      { feature },
    )
  },
  openRanges: () => {
    // Ranges come by the thousand, so they share connections to servers of objects.
    const servers: KeptServers = {}
    // A connection has one request under way. Its ranges follow each other under one limit.
    const kept = new WeakMap<object, SharedLimits>()
    return {
      load: async (options, job, part) => {
        const load = readRangeOptions(ofRanges(options), job)
        const limits = kept.get(part.connection) ?? sharedLimits(load.traffic)
        kept.set(part.connection, limits)
        const shared = { limits, own: loadRanges(job), planDir: undefined }
        return await loadOnce(load, openPlatformWhenRead, shared, { ...part, servers })
      },
      [Symbol.asyncDispose]: async () => await servers.open?.close(),
    }
  },
}

/** Plans a job, and puts nothing on a queue. */
export async function planOnly(data: JobData, options: Omit<IngestOptions, 'source'>): Promise<CountedPlan> {
  return await countPlan(data, (source, cutFrom) => findInputs({ ...options, source, stateDir: undefined }, cutFrom))
}

/** Works until the signal aborts. */
export async function work(working: Omit<Working, 'parts'>): Promise<void> {
  await runWorker({ ...working, parts })
}
