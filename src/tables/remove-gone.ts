/** Deletes the documents of rows that are gone, each as it was found: what is written meanwhile stays. */
import { deleteDocuments } from '../cluster/delete-documents.js'
import { type FoundDocument, type Wanted, findDocuments } from '../cluster/find-documents.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { fail } from '../failure/fail.js'
import { type Failure, failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'

export interface Removing {
  readonly cluster: Cluster
  readonly index: string
  /** See `Finding`. */
  readonly by: 'id' | 'search'
  /** Top-level fields by which `isMeant` judges. */
  readonly fields: readonly string[]
  /** Takes a step, again and again while what is in its way may pass. */
  step<T>(take: () => Promise<T>): Promise<T>
  /** Which of these rows there are: asked after the documents were found, so that one that is written since is seen by either. */
  there(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Whether a document may be deleted, by what it says itself. */
  isMeant(document: FoundDocument): boolean
}

export interface Removed {
  /** Documents that were deleted. */
  deleted: number
  /** There is a row to them, hidden or not. */
  there: number
  /** Written since they were found. */
  changed: number
  /** Of something else, by what they say themselves. */
  other: number
}

/** Throws SluiceError: what keeps the cluster or the platform from answering, or refuses to delete. May be repeated. */
export async function removeGone(ids: readonly string[], removing: Removing, removed: Removed): Promise<void> {
  const found = await find(
    ids.map(id => ({ id })),
    removing,
  )
  const meant = found.filter(document => removing.isMeant(document))
  removed.other += found.length - meant.length
  if (meant.length === 0) return
  const there = await removing.there([...new Set(meant.map(({ id }) => id))])
  const gone = meant.filter(({ id }) => !there.has(id))
  removed.there += meant.length - gone.length
  for (const [index, group] of byIndex(gone)) await removeFrom(index, group, removing, removed)
}

async function find(wanted: readonly Wanted[], removing: Removing): Promise<readonly FoundDocument[]> {
  const { cluster, index, by, fields, step } = removing
  const asked = fields.length === 0 ? {} : { fields }
  const looked = await step(async () => {
    const answer = await findDocuments(cluster, { index, by, wanted, ...asked })
    if (answer.kind === 'found') return answer.documents
    if (answer.kind === 'tooMany' && wanted.length > 1) return undefined
    throw new SluiceError(answer.failure)
  })
  if (looked !== undefined) return looked
  const parts: FoundDocument[] = []
  for (const half of halves(wanted)) parts.push(...(await find(half, removing)))
  return parts
}

async function removeFrom(
  index: string,
  documents: readonly FoundDocument[],
  removing: Removing,
  removed: Removed,
): Promise<void> {
  const { cluster, step } = removing
  let left = documents
  // Of a deletion without an answer: what is gone then went by it.
  const doubtful = new Set<FoundDocument>()
  const conflicts: FoundDocument[] = []
  const isWhole = await step(async () => {
    const answer = await deleteDocuments(cluster, { index, documents: left, force: false })
    if (answer.kind === 'tooMany' && left.length > 1) return false
    if (answer.kind === 'busy' && answer.mayBeDone) for (const document of left) doubtful.add(document)
    if (answer.kind !== 'done') throw new SluiceError(answer.failure)
    const busy: FoundDocument[] = []
    for (const [at, outcome] of answer.outcomes.entries()) {
      const document = left[at] as FoundDocument
      if (outcome === 'busy') busy.push(document)
      else if (outcome === 'conflict') conflicts.push(document)
      else if (outcome === 'deleted' || (outcome === 'gone' && doubtful.has(document))) removed.deleted += 1
      else if (outcome !== 'gone') throw new SluiceError(refused(cluster.display, index, outcome))
    }
    left = busy
    if (busy.length === 0) return true
    const reason = `${busy.length} of ${answer.outcomes.length} deletions were refused as busy`
    throw fail('CLUSTER_OVERLOADED', { cluster: cluster.display, elapsedMs: 0, reason })
  })
  if (!isWhole) for (const half of halves(left)) await removeFrom(index, half, removing, removed)
  if (conflicts.length === 0) return
  // Written again, or gone?
  const still = await find(conflicts, { ...removing, index, by: 'id', fields: [] })
  const known = new Set(still.map(({ id }) => id))
  for (const document of conflicts) {
    if (known.has(document.id)) removed.changed += 1
    else if (doubtful.has(document)) removed.deleted += 1
  }
}

function refused(
  cluster: string,
  index: string,
  { status, type }: { readonly status: number; readonly type: string },
): Failure {
  const reason = `${type} for a deletion in ${index}`
  if (type === 'cluster_block_exception') return failure('INDEX_BLOCKED', { cluster, index, status, reason })
  if (status === 403) return failure('CLUSTER_PRIVILEGE_MISSING', { cluster, status, reason })
  return failure('REQUEST_REFUSED', { cluster, status, type, reason })
}

function halves<T>(part: readonly T[]): [readonly T[], readonly T[]] {
  const middle = part.length >> 1
  return [part.slice(0, middle), part.slice(middle)]
}

function byIndex(documents: readonly FoundDocument[]): Map<string, FoundDocument[]> {
  const groups = new Map<string, FoundDocument[]>()
  for (const document of documents) {
    const group = groups.get(document.index)
    if (group === undefined) groups.set(document.index, [document])
    else group.push(document)
  }
  return groups
}
