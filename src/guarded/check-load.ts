/**
 * Checks a loaded index before the switch: every shard is there, and the index holds the documents that the run
 * stored.
 */
import { countDocuments, waitForCopies } from '../cluster/indices.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { Counts } from '../ledger/receipt.js'
import type { ConnectSection, DocumentSection, GuardedSection } from '../options/load.js'
import { countReplayed } from './count-replayed.js'

/** How long copies are waited for, at most. */
const COPIES_SECONDS = 15

export interface LoadedIndex {
  readonly connecting: ConnectSection
  readonly documents: DocumentSection
  readonly guarded: GuardedSection
  readonly cluster: Cluster
  readonly index: string
}

/** Resolves to a warning, if any. Throws SluiceError LOAD_CHECK_FAILED if a part of the index is on no node. */
export async function checkCopies(loaded: LoadedIndex): Promise<string | undefined> {
  const { cluster, index, connecting } = loaded
  const seconds = Math.min(COPIES_SECONDS, Math.ceil(connecting.timeoutMs / 2000))
  const health = await waitForCopies(cluster, index, seconds)
  if (health === 'red') throw failed(loaded, 'a part of it is on no node (health red)')
  return health === 'yellow' ? `${index} does not have all its replicas yet (health yellow)` : undefined
}

/**
 * Compares the index with the counts of the whole run. `deadLetters`: the file of rejected documents. Documents that
 * were replayed from this file do not count against the index. Resolves to their number. Throws SluiceError
 * LOAD_CHECK_FAILED.
 */
export async function checkLoad(loaded: LoadedIndex, counts: Counts, deadLetters: string | undefined): Promise<number> {
  const { cluster, index, documents: rules, guarded } = loaded
  const { checkQuery, checkHits } = guarded
  const { maxRejected } = rules
  const { documents, failedShards } = await countDocuments(cluster, index)
  if (failedShards > 0) throw failed(loaded, `${failedShards} of its shards did not answer`)
  const { least, most } = storedBy(counts, rules)
  const mayBeReplayed = counts.rejected > 0 && documents > least && deadLetters !== undefined
  const replayed = mayBeReplayed ? await countReplayed(cluster, index, deadLetters) : 0
  const untold = documents - most - replayed
  const more =
    counts.rejected > 0 && untold > 0 ? `, and the index holds ${untold} more that are in no dead letter` : ''
  const rejected = counts.rejected - replayed
  if (rejected > 0 && maxRejected === undefined) {
    const observed = `${rejected} ${rejected === 1 ? 'document was' : 'documents were'} rejected, and --max-rejected is not set`
    throw failed(loaded, observed + more)
  }
  if (documents === 0) throw failed(loaded, 'the index holds no document')
  if (documents < least + replayed || untold > 0) {
    const stored = least === most ? `${least}` : `${least} to ${most}`
    const since = replayed === 0 ? '' : `, ${replayed} were replayed`
    throw failed(loaded, `the run stored ${stored} documents${since}, and the index holds ${documents}`)
  }
  const found = checkQuery === undefined ? checkHits : await countMatches(cluster, index, checkQuery)
  if (found < checkHits)
    throw failed(
      loaded,
      `the check query must match at least ${checkHits} ${checkHits === 1 ? 'document' : 'documents'} but matched ${found}`,
    )
  return replayed
}

/** Throws SluiceError INDEX_REQUEST_REFUSED for a query that the cluster does not know. */
export async function countMatches(
  cluster: Cluster,
  index: string,
  { query }: Readonly<Record<string, unknown>>,
): Promise<number> {
  return (await countDocuments(cluster, index, query as object)).documents
}

/**
 * Returns how many documents the index may hold after the run. Both limits are equal if every document has its own
 * id.
 */
function storedBy(
  { created, duplicate, updated, unknown, skipped }: Counts,
  { ids, onConflict }: DocumentSection,
): { least: number; most: number } {
  const least = created + duplicate
  // Two documents with the same id of the user become one. A document that is sent again after a kill may be updated or
  // skipped.
  return { least, most: least + updated + unknown + (ids.from === 'field' && onConflict === 'skip' ? skipped : 0) }
}

function failed({ guarded, index }: LoadedIndex, observed: string): SluiceError {
  return fail('LOAD_CHECK_FAILED', { alias: guarded.alias, index, observed })
}
