/** Opens the cluster that is read, for one load or for many. */
import { isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { FromSection } from '../../options/load.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { openClusterItself } from '../../route/connect/open-target.js'
import { findIndices, type FoundIndex } from './find-indices.js'

/** Holds what loads share that follow each other. Its owner closes it. */
export interface KeptOrigin {
  open?: Promise<Cluster>
  readonly found: Map<string, Promise<readonly FoundIndex[]>>
}

/** Throws as `openClusterItself`. */
export async function openOrigin(from: FromSection, signal: AbortSignal): Promise<{ readonly cluster: Cluster }> {
  return await openClusterItself(from.connecting, signal, { isReadOnly: true }).catch((error: unknown) => {
    throw isSluiceError(error) ? ofOrigin(error) : error
  })
}

/** Marks a failure of the cluster that is read, so that nobody asks the target for its cause. */
function ofOrigin(error: SluiceError): SluiceError {
  const { message, evidence } = error.failure
  const { cluster } = evidence
  const named = typeof cluster === 'string' ? message.replace(cluster, () => `${cluster} (--from)`) : message
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
