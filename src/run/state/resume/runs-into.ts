/** Finds the runs that loaded into a target, whatever they loaded. */
import { fail } from '../../../base/failure/failure.js'
import type { Source } from '../../../base/flow.js'
import type { StateSection } from '../../../options/load.js'
import { isSameCluster, type Target } from '../checkpoint/checkpoint.js'
import { type RunIdentity, runKey, scopeOf } from './run-identity.js'
import { type KnownRun, knownRuns } from '../runs/runs.js'

interface Query {
  readonly identity: RunIdentity
  readonly sources: readonly Source[]
  readonly stateDir: string | undefined
  readonly state: Pick<StateSection, 'runId'>
}

/** Returns them, newest first. Throws SluiceError STATE_UNREADABLE. */
export async function runsInto(where: Pick<Target, 'clusterUuid' | 'url'>, query: Query): Promise<readonly KnownRun[]> {
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
  if (!isOfCommand(query)) return into
  const own = into.filter(({ checkpoint }) => {
    if (keys.includes(checkpoint.key)) return true
    const areSame = identity.hasOwnIndex === true || areSameSources(checkpoint.sources, identity.sources)
    return areSame && checkpoint.named === state.runId
  })
  return own.slice(0, 1)
}

/** A run of tables, or into an index of its own, goes by the last run of the same kind, and not by all that are known. */
export function isOfCommand({ identity, sources }: Pick<Query, 'identity' | 'sources'>): boolean {
  return identity.hasOwnIndex === true || sources.some(({ cursor }) => cursor !== undefined)
}

function areSameSources(was: readonly string[], now: readonly string[]): boolean {
  return was.length === now.length && was.every((name, at) => name === now[at])
}
