/** Deletes the documents of rows that are gone. A document that is written meanwhile stays. */
import { type DeletionRefused, type TakeStep, deleteFound } from '../cluster/delete-found.js'
import { type FoundDocument, type Wanted, findDocuments } from '../cluster/find-documents.js'
import type { Cluster } from '../cluster/open-cluster.js'
import { type Failure, failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'

export interface Removing {
  readonly cluster: Cluster
  readonly index: string
  /** See `Finding`. */
  readonly by: 'id' | 'search'
  /** Top-level fields by which `isMeant` judges. */
  readonly fields: readonly string[]
  /** Takes a step, and repeats it while its failure may pass. */
  step<T>(take: () => Promise<T>): Promise<T>
  /**
   * Returns which of these rows exist. Called after the documents were found, so that rows written since then count.
   */
  there(ids: readonly string[]): Promise<ReadonlySet<string>>
  /** Whether a document may be deleted, by its own fields. */
  isMeant(document: FoundDocument): boolean
}

export interface Removed {
  /** Deleted documents. */
  deleted: number
  /** Documents whose row exists, hidden or not. */
  there: number
  /** Documents written since they were found. */
  changed: number
  /** Documents of something else, by their own fields. */
  other: number
}

/** May be repeated. Throws SluiceError if the cluster or the platform cannot answer, or refuses to delete. */
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
  await deleteFound(gone, {
    cluster: removing.cluster,
    force: false,
    settle: async (part, step) => await settle(part, step, removing),
    settled: ({ index }, outcome) => {
      if (outcome === 'deleted') removed.deleted += 1
      else if (outcome === 'changed') removed.changed += 1
      else if (outcome !== 'gone') throw new SluiceError(refused(removing.cluster.display, index, outcome))
    },
  })
}

async function find(wanted: readonly Wanted[], removing: Removing): Promise<readonly FoundDocument[]> {
  const { cluster, index, by, fields } = removing
  const asked = fields.length === 0 ? {} : { fields }
  const found: FoundDocument[] = []
  const look: TakeStep<Wanted> = async part => {
    const answer = await findDocuments(cluster, { index, by, wanted: part, ...asked })
    if (answer.kind === 'busy') return { ...answer, kind: 'again', left: part }
    if (answer.kind !== 'found') return answer
    found.push(...answer.documents)
    return { kind: 'done' }
  }
  await settle(wanted, look, removing)
  return found
}

/** Takes the step with the whole list. If that is too much for the cluster, takes it with each half. */
async function settle<T>(items: readonly T[], take: TakeStep<T>, { step }: Pick<Removing, 'step'>): Promise<void> {
  let left = items
  const isWhole = await step(async () => {
    const taken = await take(left)
    if (taken.kind === 'done') return true
    if (taken.kind === 'tooMany' && left.length > 1) return false
    if (taken.kind === 'again') ({ left } = taken)
    throw new SluiceError(taken.failure)
  })
  if (isWhole) return
  const middle = left.length >> 1
  for (const half of [left.slice(0, middle), left.slice(middle)]) await settle(half, take, { step })
}

function refused(cluster: string, index: string, { status, type }: DeletionRefused): Failure {
  const reason = `${type} for a deletion in ${index}`
  if (type === 'cluster_block_exception') return failure('INDEX_BLOCKED', { cluster, index, status, reason })
  if (status === 403) return failure('CLUSTER_PRIVILEGE_MISSING', { cluster, status, reason })
  return failure('REQUEST_REFUSED', { cluster, status, type, reason })
}
