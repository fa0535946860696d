/** Checks a loaded index before the switch: every shard is there, and the index holds the documents that the run stored. */
import { open } from 'node:fs/promises'
import { readLetters } from '../../pipeline/bulk/dead-letter.js'
import type { Wanted } from '../../route/cluster/documents.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { fail, SluiceError } from '../../base/failure/failure.js'
import type { Counts } from '../../pipeline/ledger/receipt.js'
import type { ConnectSection, DocumentSection, GuardedSection } from '../../options/load.js'
import { systemClock } from '../../base/time/clock.js'

/** Longest wait for copies. */
const COPIES_SECONDS = 15
const IDS_AT_ONCE = 500

export interface LoadedSections {
  readonly connecting: ConnectSection
  readonly documents: DocumentSection
  readonly guarded: GuardedSection
}

export interface LoadedIndex extends LoadedSections {
  readonly cluster: Cluster
  readonly index: string
}

/** Resolves to a warning, if any. Throws SluiceError LOAD_CHECK_FAILED if a part of the index is on no node. */
export async function checkCopies(loaded: LoadedIndex): Promise<string | undefined> {
  const { cluster, index, connecting } = loaded
  const seconds = Math.min(COPIES_SECONDS, Math.ceil(connecting.timeoutMs / 2000))
  const health = await cluster.indices.waitForCopies(index, seconds)
  if (health === 'red') throw failed(loaded, 'no node holds some of its shards (health red)')
  return health === 'yellow' ? `${index} does not have all its replicas yet (health yellow)` : undefined
}

/**
 * Compares the index with the counts of the whole run. `deadLetters`: the file of rejected documents. Allows for documents that were
 * replayed from this file, and resolves to their number. Throws SluiceError LOAD_CHECK_FAILED.
 */
export async function checkLoad(loaded: LoadedIndex, counts: Counts, deadLetters: string | undefined): Promise<number> {
  const { cluster, index, documents: rules, guarded } = loaded
  const { checkQuery, checkHits } = guarded
  const { documents, failedShards } = await cluster.indices.count(index)
  if (failedShards > 0) throw failed(loaded, `${failedShards} of its shards did not answer`)
  const { least, most } = storedBy(counts, rules)
  const mayBeReplayed = counts.rejected > 0 && documents > least && deadLetters !== undefined
  const replayed = mayBeReplayed ? await countReplayed(cluster, index, deadLetters) : 0
  const untold = documents - most - replayed
  const more =
    counts.rejected > 0 && untold > 0
      ? `. The index also holds ${documentsOf(untold)} that neither the run nor its dead letters explain`
      : ''
  const rejected = counts.rejected - replayed
  if (rejected > 0 && rules.maxRejected === undefined) {
    const observed = `${documentsOf(rejected)} ${rejected === 1 ? 'was' : 'were'} rejected, and --max-rejected is not set`
    throw failed(loaded, observed + more)
  }
  if (documents === 0) throw failed(loaded, 'the index holds no document')
  if (documents < least + replayed || untold > 0) {
    const stored = least === most ? documentsOf(least) : `${inGroups(least)} to ${documentsOf(most)}`
    const since = replayed === 0 ? '' : `, a replay stored ${inGroups(replayed)} more`
    throw failed(loaded, `the run stored ${stored}${since}, but the index holds ${inGroups(documents)}`)
  }
  const found = checkQuery === undefined ? checkHits : await countMatches(cluster, index, checkQuery)
  if (found < checkHits)
    throw failed(loaded, `the check query must match at least ${documentsOf(checkHits)} but matched ${found}`)
  return replayed
}

function documentsOf(count: number): string {
  return `${inGroups(count)} ${count === 1 ? 'document' : 'documents'}`
}

function inGroups(count: number): string {
  return count.toLocaleString('en-US')
}

/**
 * Returns how many rejected documents of a load are in its index now, because a replay stored them. Looks up the ids in the dead
 * letters. Returns 0 if that file is gone or has no ids. Throws SluiceError if the cluster does not answer.
 */
async function countReplayed(cluster: Cluster, index: string, deadLetters: string): Promise<number> {
  const file = await open(deadLetters).catch(() => undefined)
  if (file === undefined) return 0
  const found = new Set<string>()
  const wanted: Wanted[] = []
  const lookUp = async () => {
    const looked = await cluster.documents.find({ index, by: 'id', wanted: wanted.splice(0) })
    if (looked.kind !== 'found') throw new SluiceError(looked.failure)
    for (const { id } of looked.documents) found.add(id)
  }
  for await (const letter of readLetters(deadLetters, file.createReadStream(), systemClock)) {
    if ('problem' in letter || letter.destination.index !== index || letter.id === undefined) continue
    // Another document has its id.
    if (letter.status === 409) continue
    const { id, routing } = letter
    wanted.push({ id, ...(routing === undefined ? {} : { routing }) })
    if (wanted.length >= IDS_AT_ONCE) await lookUp()
  }
  if (wanted.length > 0) await lookUp()
  return found.size
}

/** Throws SluiceError INDEX_REQUEST_REFUSED for a query that the cluster does not know. */
export async function countMatches(
  cluster: Cluster,
  index: string,
  { query }: Readonly<Record<string, unknown>>,
): Promise<number> {
  return (await cluster.indices.count(index, query as object)).documents
}

/** Returns how many documents the index may hold after the run. Both limits are equal if every document has its own id. */
function storedBy(
  { created, duplicate, updated, unknown, skipped }: Counts,
  { ids, onConflict }: DocumentSection,
): { least: number; most: number } {
  const least = created + duplicate
  // Two documents with the same id of the user become one. One that is sent again after a kill may be updated or skipped.
  return { least, most: least + updated + unknown + ('field' in ids && onConflict === 'skip' ? skipped : 0) }
}

function failed({ guarded, index }: LoadedIndex, observed: string): SluiceError {
  return fail('LOAD_CHECK_FAILED', { alias: guarded.alias, index, observed })
}
