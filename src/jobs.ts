/** Composes jobs that many workers load: the queue, and loads as `ingest` makes them. */
import { loadOnce } from './ingest.js'
import { findInputs } from './ingest-ranges.js'
import { type CountedPlan, countPlan } from './programs/jobs/control/open-jobs.js'
import type { JobData } from './programs/jobs/job.js'
import { type LoadParts, runWorker, type Working } from './programs/jobs/worker/run-worker.js'
import { keepOrigin, loadSpans, type Shared, sharedOf } from './features/features-of.js'
import type { IngestOptions } from './options/ingest-options.js'
import { readOptions } from './options/read-options.js'
import type { KeptServers } from './features/remote/read-remote.js'
import { ofRanges, readRangeOptions } from './features/ranges/range-load.js'

const parts: LoadParts = {
  findInputs,
  loadWhole: async (options, own, isContinued) => {
    const read = readOptions(options)
    const { guarded } = read
    const load =
      guarded === undefined || !isContinued ? read : { ...read, guarded: { ...guarded, mayBeSwitched: true } }
    return await loadOnce('job', { load, shared: sharedOf(load, undefined), own })
  },
  describeInputs: async options => {
    const { from } = readOptions(options)
    if (from === undefined) return { describes: new Map(), warnings: [] }
    const { describeIndices } = await loadSpans()
    return await describeIndices(from, options.signal ?? new AbortController().signal)
  },
  openRanges: () => {
    // Ranges come by the thousand, so they share connections to servers of objects.
    const servers: KeptServers = {}
    // A connection has one request under way. Its ranges follow each other under one limit.
    const kept = new WeakMap<object, Shared>()
    const origins = new Map<object, ReturnType<typeof keepOrigin>>()
    return {
      load: async (options, job, { feature: own, connection, perSecond }) => {
        const load = readRangeOptions(ofRanges(options), job)
        const shared = kept.get(connection) ?? sharedOf(load, undefined, perSecond)
        kept.set(connection, shared)
        const origin = origins.get(connection) ?? keepOrigin()
        origins.set(connection, origin)
        const given = { load, shared, own, servers, origin, isFirstDelivery: job.isFirstDelivery }
        return await loadOnce('worker', given, connection)
      },
      [Symbol.asyncDispose]: async () => {
        await servers.open?.close()
        for (const origin of origins.values()) await origin[Symbol.asyncDispose]()
      },
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
