/** Whether a loaded index is fit to be found: all of it is there, and it holds what the run stored. */
import { countDocuments, waitForCopies } from '../cluster/check-index.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { IngestOptions } from '../ingest-options.js'
import type { Counts } from '../ledger/receipt.js'
import { DEFAULT_TIMEOUT_MS } from '../open-target.js'

/** How long copies are waited for, at most. */
const COPIES_SECONDS = 15

export interface Loaded {
  readonly cluster: Cluster
  readonly alias: { readonly name: string }
  readonly index: string
  readonly options: IngestOptions
}

/** Resolves to a warning, if there is one. Throws SluiceError LOAD_CHECK_FAILED where a part of the index is on no node. */
export async function checkCopies(loaded: Loaded): Promise<string | undefined> {
  const { cluster, index, options } = loaded
  const seconds = Math.min(COPIES_SECONDS, Math.ceil((options.timeoutMs ?? DEFAULT_TIMEOUT_MS) / 2000))
  const health = await waitForCopies(cluster, index, seconds)
  if (health === 'red') throw failed(loaded, 'a part of it is on no node (health red)')
  return health === 'yellow' ? `${index} has fewer copies than its settings ask for, yet (health yellow)` : undefined
}

/** Throws SluiceError LOAD_CHECK_FAILED. `counts` are those of the whole run. */
export async function checkLoad(loaded: Loaded, counts: Counts): Promise<void> {
  const { cluster, index, options } = loaded
  const { checkQuery, checkHits = 1, maxRejected } = options
  const { rejected } = counts
  if (rejected > 0 && maxRejected === undefined)
    throw failed(loaded, `of its documents ${rejected} were rejected, and --max-rejected does not say how many may be`)
  const { documents, failedShards } = await countDocuments(cluster, index)
  if (failedShards > 0) throw failed(loaded, `${failedShards} of its shards did not answer`)
  if (documents === 0) throw failed(loaded, 'it holds no document')
  const { least, most } = storedBy(counts, options)
  if (documents < least || documents > most) {
    const stored = least === most ? `${least}` : `${least} to ${most}`
    throw failed(loaded, `the run stored ${stored} documents, and it holds ${documents}`)
  }
  const found = checkQuery === undefined ? checkHits : await countMatches(cluster, index, checkQuery)
  if (found < checkHits)
    throw failed(loaded, `the check query has to match ${checkHits} of its documents, and matches ${found}`)
}

/** Throws SluiceError INDEX_REQUEST_REFUSED for a query that the cluster does not know. */
export async function countMatches(
  cluster: Cluster,
  index: string,
  { query }: Readonly<Record<string, unknown>>,
): Promise<number> {
  return (await countDocuments(cluster, index, query as object)).documents
}

/** How many documents an index may hold that a run has stored so many in. Equal wherever every document has an id of its own. */
function storedBy(
  { created, duplicate, updated, unknown, skipped }: Counts,
  { ids, onConflict }: IngestOptions,
): { least: number; most: number } {
  const least = created + duplicate
  // Two documents with the same id of the user's are one. What is sent again after a kill may be updated, or skipped.
  return { least, most: least + updated + unknown + (ids === 'field' && onConflict === 'skip' ? skipped : 0) }
}

function failed({ alias, index }: Loaded, observed: string): SluiceError {
  return new SluiceError(failure('LOAD_CHECK_FAILED', { alias: alias.name, index, observed }))
}
