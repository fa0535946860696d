/** Opens the cluster that is read, for one load or for many. */
import { explain, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { FromSection } from '../../options/load.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { openClusterItself } from '../../route/connect/open-target.js'
import { findIndices, type FoundIndex } from './find-indices.js'

/** Holds what loads share that follow each other. Its owner closes it. */
export interface KeptOrigin {
  open?: Promise<Cluster>
  readonly found: Map<string, Promise<readonly FoundIndex[]>>
}

/** Throws as `openClusterItself`. All failures of the cluster say that it is the one that is read, also later ones. */
export async function openOrigin(from: FromSection, signal: AbortSignal): Promise<{ readonly cluster: Cluster }> {
  const opening = openClusterItself(from.connecting, signal, { isReadOnly: true })
  const { cluster } = await opening.catch((error: unknown) => {
    throw ofOrigin(error)
  })
  const { call, indices, documents, display } = cluster
  const refuse = (error: unknown): never => {
    throw ofOrigin(error, display)
  }
  return {
    cluster: {
      ...cluster,
      call: async asked => await call(asked).catch(refuse),
      indices: eachWith(refuse, indices),
      documents: eachWith(refuse, documents),
    },
  }
}

/** Returns the same questions. `refuse` hears their failures, and throws. */
function eachWith<T extends object>(refuse: (error: unknown) => never, questions: T): T {
  const all = Object.entries(questions) as [string, (...given: unknown[]) => Promise<unknown>][]
  const heard = all.map(([name, ask]) => [name, async (...given: unknown[]) => await ask(...given).catch(refuse)])
  return Object.fromEntries(heard) as T
}

/** Stages whose failures are about a cluster, if they name one or not. */
const ofCluster: ReadonlySet<string> = new Set(['cluster', 'index'])
const ofRoute: ReadonlySet<string> = new Set([...ofCluster, 'proxy', 'egress'])

/** Marks a failure of the cluster that is read, so that nobody asks the target for its cause. `display`: the URL, for messages without one. */
function ofOrigin(error: unknown, display?: string): unknown {
  if (!isSluiceError(error)) return error
  const { code, message, evidence } = error.failure
  const { stage } = explain(code)
  if (!ofRoute.has(stage) || evidence['side'] === 'from') return error
  const { cluster } = evidence
  const isNamed = typeof cluster === 'string' && message.includes(cluster)
  const named = isNamed
    ? message.replace(cluster, () => `${cluster} (--from)`)
    : ofCluster.has(stage) && display !== undefined
      ? `${display} (--from): ${message}`
      : message
  return new SluiceError(
    { ...error.failure, message: named, evidence: { ...evidence, side: 'from' } },
    { cause: error },
  )
}

/** Opens it only for the first load. One connection is enough to see whether it is let through. Throws as `openOrigin`. */
export async function keptOrigin(from: FromSection, signal: AbortSignal, kept: KeptOrigin): Promise<Cluster> {
  const connecting = { ...from.connecting, preflightConnections: 1 }
  const opening = (kept.open ??= openOrigin({ ...from, connecting }, signal).then(({ cluster }) => cluster))
  return await opening.catch((error: unknown) => {
    if (kept.open === opening) delete kept.open
    throw error
  })
}

/** Finds the indices behind a name, once for all loads. `isAnew`: once more. Throws as `findIndices`. */
export async function findKept(
  from: FromSection,
  { cluster, kept, isAnew }: { readonly cluster: Cluster; readonly kept: KeptOrigin; readonly isAnew: boolean },
  name: string,
): Promise<readonly FoundIndex[]> {
  const known = isAnew ? undefined : kept.found.get(name)
  const finding = known ?? findIndices(cluster, { ...from, names: [name] })
  kept.found.set(name, finding)
  return await finding.catch((error: unknown) => {
    if (kept.found.get(name) === finding) kept.found.delete(name)
    throw error
  })
}
