/** The limits of a run: the bytes that it may send, and how much the cluster bears at once. */
import type { Cluster } from '../cluster/open-cluster.js'
import { type Failure, failure, SluiceError } from '../failure/failure.js'
import type { StopSection } from '../options/load.js'
import type { Feature, Run, RunHook } from '../run/hooks.js'
import type { StopSignals } from '../run/stop-signals.js'
import type { LearntLimits } from '../sender/layers/learn.js'
import { ByteBudget, type Spent } from '../sender/layers/byte-budget.js'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { recallJson, rememberJson } from '../disk/safe-files.js'

/**
 * Starts with the limits that earlier runs learnt of the cluster, and saves the limits that this run learns. Without
 * a state folder nothing is saved. Never stops a load: ignores files that it cannot read or write.
 */
export function learnLimits(): RunHook {
  let path: string | undefined
  let learnt: LearntLimits = {}
  return {
    prepare: async ({ stateDir, found }) => {
      if (stateDir === undefined) return
      const { clusterUuid, url } = found.target
      path = limitsPath(stateDir, clusterUuid ?? url)
      learnt = await recallLimits(path, Date.now())
    },
    get sending() {
      return { learnt }
    },
    finished: async ended => {
      if (path !== undefined && ended.learnt !== undefined) await rememberLimits(path, ended.learnt, Date.now())
    },
  }
}

const VERSION = 1
/** A cluster may have been resized since. */
const LASTING_MS = 7 * 86_400_000

/** `cluster`: its uuid, or its URL if the user may not read the uuid. */
export function limitsPath(stateDir: string, cluster: string): string {
  const key = createHash('sha256').update(cluster).digest('hex').slice(0, 32)
  return join(stateDir, 'limits', `${key}.json`)
}

/** Returns an empty object if there are no usable limits. `now`: milliseconds since the epoch. */
export async function recallLimits(path: string, now: number): Promise<LearntLimits> {
  const { written, concurrency, bodyBytes } = await recallJson(path, VERSION)
  const age = now - Date.parse(String(written))
  // A clock that was set back makes a file of tomorrow.
  if (!(Math.abs(age) <= LASTING_MS) || !isCount(concurrency)) return {}
  return { concurrency, ...(isCount(bodyBytes) ? { bodyBytes } : {}) }
}

export async function rememberLimits(path: string, learnt: LearntLimits, now: number): Promise<void> {
  await rememberJson(path, VERSION, { written: new Date(now).toISOString(), ...learnt })
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}

/**
 * One request for the index, one for documents, and a reserve for the end of the run. Each counts like a request of
 * the preflight.
 */
const FIRST_REQUESTS = 3

/** Ends a run before it sends more bytes than it may. */
export function limitBytes({ byteBudget }: StopSection): Feature {
  return run => (byteBudget === undefined ? undefined : limitTo(byteBudget, run))
}

function limitTo(limit: number, { stop }: Run): RunHook {
  let used = () => 0
  let budget: ByteBudget | undefined
  return {
    connected: ({ route }) => {
      used = () => route.traffic.bytesSent + route.traffic.bytesReceived
      budget = openBudget(limit, used, route, stop)
    },
    get sending() {
      return budget === undefined ? {} : { budget }
    },
    progress: () => ({ wire: { bytes: used(), budget: limit } }),
  }
}

/**
 * Opens the budget after the preflight: what its connections took is the measure for those to come.
 * Throws SluiceError OPTION_INVALID for a limit that no request fits into.
 */
function openBudget(limit: number, used: () => number, { traffic }: Cluster['route'], stop: StopSignals): ByteBudget {
  const connectionBytes = Math.ceil(used() / Math.max(1, traffic.connections))
  refuseTooLittle(limit, used(), connectionBytes)
  return new ByteBudget({
    limit,
    used,
    overhead: connectionBytes,
    onSpent: ({ isFirst, ...spent }) =>
      stop.end(settled =>
        isFirst
          ? neverEnough(limit, spent, connectionBytes)
          : failure('BYTE_BUDGET_SPENT', { budget: limit, ...spent, settled }),
      ),
  })
}

/** Throws SluiceError OPTION_INVALID if no other process of the run would come further either. */
function refuseTooLittle(limit: number, used: number, connectionBytes: number): void {
  const least = used + FIRST_REQUESTS * connectionBytes
  if (limit < least) throw new SluiceError(tooSmall(limit, `the first checks used ${bytes(used)}`, least))
}

/** The failure of a run whose first request does not fit: the next one would be that of every other run too. */
function neverEnough(limit: number, { used, needed }: Omit<Spent, 'isFirst'>, connectionBytes: number): Failure {
  const why = `the first checks used ${bytes(used)}, and the first request needs ${bytes(needed)}`
  return tooSmall(limit, why, used + needed + connectionBytes)
}

function tooSmall(limit: number, why: string, least: number): Failure {
  // The next preflight may take a little more.
  const enough = Math.ceil((least * 1.1) / 1000) * 1000
  const problem = `${bytes(limit)} bytes is too small: ${why}. Set at least ${bytes(enough)}`
  return failure('OPTION_INVALID', { option: 'byteBudget', problem })
}

function bytes(count: number): string {
  return count.toLocaleString('en-US')
}
