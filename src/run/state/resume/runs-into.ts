/** Finds the runs that loaded into a target, whatever they loaded. */
import { fail } from '../../../base/failure/failure.js'
import type { Source } from '../../../base/flow.js'
import type { StateSection } from '../../../options/load.js'
import { type Checkpoint, isSameCluster, type Target } from '../checkpoint/checkpoint.js'
import type { RunIdentity } from './plan.js'
import { runKey, scopeOf } from './run-identity.js'
import { type KnownRun, knownRuns } from '../runs/runs.js'

interface Query {
  readonly identity: RunIdentity
  readonly sources: readonly Source[]
  readonly stateDir: string | undefined
  readonly state: Pick<StateSection, 'runId'>
}

interface RunsInto {
  /** Those that a load goes by, newest first. */
  readonly known: readonly KnownRun[]
  /** All that rejected documents, except those that are only known for their inputs. */
  readonly rejecting: readonly Checkpoint[]
  /** When the last process worked on any run of the state folder, in milliseconds. */
  readonly lastMs: number
}

/** Throws SluiceError STATE_UNREADABLE. */
export async function runsInto(where: Pick<Target, 'clusterUuid' | 'url'>, query: Query): Promise<RunsInto> {
  const { identity, stateDir = '', state } = query
  const { known, broken } = await knownRuns(stateDir)
  // It may hold inputs of this load.
  const unreadable = broken.find(({ scope }) => scope === undefined || scope === scopeOf(identity))
  if (unreadable !== undefined) throw fail('STATE_UNREADABLE', { path: unreadable.path, problem: unreadable.problem })
  const keys = [where.clusterUuid, where.url].map(place => runKey(place ?? '', identity, state.runId))
  const into = known.filter(({ checkpoint }) => {
    return (
      keys.includes(checkpoint.key) ||
      (checkpoint.scope === scopeOf(identity) &&
        checkpoint.kind === identity.kind &&
        isSameCluster(checkpoint.target, where))
    )
  })
  const rejecting = into.flatMap(({ checkpoint, isForgotten }) =>
    checkpoint.counts.rejected > 0 && !isForgotten ? [checkpoint] : [],
  )
  const lastMs = known.reduce((last, { checkpoint }) => Math.max(last, ...timesOf(checkpoint)), 0)
  if (!isOfCommand(query)) return { known: into, rejecting, lastMs }
  const own = into.filter(({ checkpoint }) => {
    if (keys.includes(checkpoint.key)) return true
    const areSame = identity.hasOwnIndex === true || areSameSources(checkpoint.sources, identity.sources)
    return areSame && checkpoint.named === state.runId
  })
  // What another index lacks is nothing to this one.
  return { known: own.slice(0, 1), rejecting: identity.hasOwnIndex === true ? [] : rejecting, lastMs }
}

function timesOf({ began, since = began, written }: Checkpoint): readonly number[] {
  return [began, since, written].map(time => Date.parse(time)).filter(time => !Number.isNaN(time))
}

/** A run of tables, or into an index of its own, goes by the last run of the same kind, and not by all that are known. */
export function isOfCommand({ identity, sources }: Pick<Query, 'identity' | 'sources'>): boolean {
  return identity.hasOwnIndex === true || sources.some(({ cursor }) => cursor !== undefined)
}

function areSameSources(was: readonly string[], now: readonly string[]): boolean {
  return was.length === now.length && was.every((name, at) => name === now[at])
}
