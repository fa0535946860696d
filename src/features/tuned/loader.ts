/** Describes the processes that load into an index, as the index remembers them: whether one of them is still there. */
import { createHash } from 'node:crypto'
import { isProcessGone, thisHolder } from '../../base/lock/lock-holder.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'

export interface LoadingRun {
  /** When it last said that it loads, in ISO 8601. */
  readonly seen: string
  /** Machine and start of the system, as a hash: the index may be seen by many. */
  readonly place: string
  readonly pid: number
  /** When the process started, as its system says it. */
  readonly started?: string
}

/** How often a loader says that it is there. */
export const BEAT_MS = 60_000
/** A loader on another machine that has said nothing for so long is over. */
const SILENT_MS = 5 * BEAT_MS

/** Runs that load in this process. */
const here = new Set<string>()

export async function enter(run: string, now: number): Promise<LoadingRun> {
  here.add(run)
  return await describe(now)
}

export function leave(run: string): void {
  here.delete(run)
}

export function seenAt(loader: LoadingRun, now: number): LoadingRun {
  return { ...loader, seen: new Date(now).toISOString() }
}

async function describe(now: number): Promise<LoadingRun> {
  const { pid, started, host, boot, pidSpace } = await thisHolder('/', '')
  const place = createHash('sha256')
    .update(JSON.stringify([host, boot, pidSpace]))
    .digest('hex')
    .slice(0, 16)
  return { seen: new Date(now).toISOString(), place, pid, ...(started === undefined ? {} : { started }) }
}

/** Returns the runs that may still load. Those on other machines may have ended a few minutes ago. */
export async function stillLoading(
  loaders: Readonly<Record<string, LoadingRun>>,
  now: number,
): Promise<Readonly<Record<string, LoadingRun>>> {
  const own = await describe(now)
  const left: Record<string, LoadingRun> = {}
  for (const [run, loader] of Object.entries(loaders)) {
    const isOwn = loader.place === own.place && loader.pid === own.pid && loader.started === own.started
    const isHere = loader.place === own.place
    const isOver = isOwn ? !here.has(run) : isHere ? await isProcessGone(loader) : isSilent(loader, now)
    if (!isOver) left[run] = loader
  }
  return left
}

/** A clock that is far ahead proves nothing either. */
function isSilent({ seen }: LoadingRun, now: number): boolean {
  return !(Math.abs(now - Date.parse(seen)) <= SILENT_MS)
}

export function readLoader(value: unknown): LoadingRun | undefined {
  if (!isObject(value)) return undefined
  const { seen, place, pid, started }: JsonObject = value
  // With a number of 0 or less, a signal goes to a group of processes.
  if (typeof seen !== 'string' || typeof place !== 'string' || !Number.isSafeInteger(pid) || !(Number(pid) > 0))
    return undefined
  return { seen, place, pid: Number(pid), ...(typeof started === 'string' ? { started } : {}) }
}
