/** Compares an index with the tables that were loaded into it, and deletes the documents of rows that are gone. */
import type { DeletionRefused, FoundDocument, TakeStep, Wanted } from '../../route/cluster/documents.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { type Failure, SluiceError, fail, failure } from '../../base/failure/failure.js'
import type { RejectionLimit } from '../../base/flow.js'
import { IdSet, isSysId } from './reading/id-set.js'
import { CLASS, type KnownRows, type RowSelection, classesOf, listIds } from './reading/list-ids.js'
import type { Instance } from '../../route/servicenow/instance.js'

export interface Removing {
  readonly cluster: Cluster
  readonly index: string
  /** See `IdQuestion`. */
  readonly by: 'id' | 'search'
  /** Takes a step, and repeats it while its failure may pass. */
  step<T>(take: () => Promise<T>): Promise<T>
  /** Returns which of these rows exist. Called after the documents were found, so that rows written since then count. */
  there(ids: readonly string[]): Promise<ReadonlySet<string>>
}

interface Reconciling extends Removing {
  readonly instance: Instance
  readonly selected: readonly RowSelection[]
  /** The form of fields in documents. */
  readonly displayValue: 'false' | 'all'
  /** Whether each document contains the class of its row, if the row has one. */
  readonly saysClass: boolean
  readonly maxDeleted: RejectionLimit
  readonly signal: AbortSignal
}

export interface Removed {
  deleted: number
  /** Documents whose row exists, hidden or not. */
  there: number
  /** Documents written since they were found. */
  changed: number
  /** Documents of something else, by their id or class. */
  other: number
}

/** Documents that are looked up and deleted at once. */
const PAGE = 500

/**
 * Resolves to the number of compared documents. Deletes nothing before all rows are known, or if more than
 * `maxDeleted` of the documents have no row: then the user may have lost the right to read them, or the index holds
 * something else. Throws SluiceError DELETIONS_TOO_MANY, SERVICENOW_*, and as `walkIds` and `removeGone` do. May be
 * repeated.
 */
export async function reconcile(reconciling: Reconciling, removed: Removed): Promise<number> {
  const { index, instance, selected, displayValue, maxDeleted, signal } = reconciling
  const rows: KnownRows = { ids: new IdSet(), classes: new Set() }
  // The rows first: whatever is stored while they are listed was a row before that.
  for (const one of selected) await listIds(instance, one, displayValue, rows, signal)
  const { documents, allowed, absent, irregular, candidates } = await compare(reconciling, rows.ids)
  if (absent > allowed) throw fail('DELETIONS_TOO_MANY', { index, absent, documents, allowed, limit: maxDeleted })
  removed.other += irregular
  const isMeant = judgeClass(rows, reconciling)
  for (const ids of candidates.pages(PAGE)) await removeGone(ids, isMeant, reconciling, removed)
  return documents
}

async function compare({ cluster, index, step, maxDeleted }: Reconciling, rows: IdSet): Promise<Comparison> {
  // A document that cannot be seen yet is compared by the next run.
  await cluster.indices.refresh(index)
  let comparison = new Comparison(0, maxDeleted)
  await cluster.documents.walkIds({
    index,
    step,
    begin: documents => {
      comparison = new Comparison(documents, maxDeleted)
    },
    page: ids => {
      for (const id of ids) if (!rows.has(id)) comparison.note(id)
    },
  })
  return comparison
}

class Comparison {
  readonly documents: number
  /** How many documents may have no row. */
  readonly allowed: number
  absent = 0
  /** Documents whose id the platform did not make. Sluice leaves them. */
  irregular = 0
  /** The other absent ones, as long as there are no more than allowed. */
  readonly candidates = new IdSet()

  constructor(documents: number, maxDeleted: RejectionLimit) {
    this.documents = documents
    this.allowed = limitOf(maxDeleted, documents)
  }

  note(id: string): void {
    this.absent += 1
    if (!isSysId(id)) this.irregular += 1
    else if (this.absent <= this.allowed) this.candidates.add(id)
  }
}

/** Rounds a share up: of three documents, 10% allows one deletion. */
export function limitOf(limit: RejectionLimit, documents: number): number {
  return typeof limit === 'number' ? limit : Math.ceil((documents * Number.parseFloat(limit)) / 100)
}

/**
 * Judges a document by its class: the class of an existing row, or one of the tables. A document without a class
 * belongs to a table without classes.
 */
function judgeClass({ classes }: KnownRows, { selected, saysClass }: Reconciling): IsMeant {
  const known = new Set([...classes, ...selected.map(({ table }) => table)])
  const isNeeded = saysClass && classes.size > 0
  return ({ fields = {} }) => {
    const said = classesOf(fields)
    return said.length === 0 ? !isNeeded : said.some(name => known.has(name))
  }
}

/** Whether a document may be deleted, by its class. */
type IsMeant = (document: FoundDocument) => boolean

/** May be repeated. Throws SluiceError if the cluster or the platform cannot answer, or refuses to delete. */
export async function removeGone(
  ids: readonly string[],
  isMeant: IsMeant,
  removing: Removing,
  removed: Removed,
): Promise<void> {
  const found = await find(ids, removing)
  const meant = found.filter(isMeant)
  removed.other += found.length - meant.length
  if (meant.length === 0) return
  const there = await removing.there([...new Set(meant.map(({ id }) => id))])
  const gone = meant.filter(({ id }) => !there.has(id))
  removed.there += meant.length - gone.length
  const { cluster, step } = removing
  await cluster.documents.delete(gone, {
    force: false,
    settle: async (part, take) => await settle(part, take, step),
    settled: ({ index }, outcome) => {
      if (outcome === 'deleted') removed.deleted += 1
      else if (outcome === 'changed') removed.changed += 1
      else if (outcome !== 'gone') throw new SluiceError(refused(cluster.display, index, outcome))
    },
  })
}

async function find(ids: readonly string[], { cluster, index, by, step }: Removing): Promise<readonly FoundDocument[]> {
  const found: FoundDocument[] = []
  const look: TakeStep<Wanted> = async wanted => {
    const answer = await cluster.documents.find({ index, by, wanted, fields: [CLASS] })
    if (answer.kind !== 'found') return answer
    found.push(...answer.documents)
    return { kind: 'done' }
  }
  const wanted = ids.map(id => ({ id }))
  await settle(wanted, look, step)
  return found
}

/** Takes the step with the whole list. If that is too much for the cluster, takes it with each half. */
async function settle<T>(items: readonly T[], take: TakeStep<T>, step: Removing['step']): Promise<void> {
  let left = items
  const isWhole = await step(async () => {
    const taken = await take(left)
    if (taken.kind === 'done') return true
    if (taken.kind === 'tooMany' && left.length > 1) return false
    if (taken.kind === 'again') left = taken.left ?? left
    throw new SluiceError(taken.failure)
  })
  if (isWhole) return
  const middle = left.length >> 1
  for (const half of [left.slice(0, middle), left.slice(middle)]) await settle(half, take, step)
}

function refused(cluster: string, index: string, { status, type }: DeletionRefused): Failure {
  const reason = `${type} for a deletion in ${index}`
  if (type === 'cluster_block_exception') return failure('INDEX_BLOCKED', { cluster, index, status, reason })
  if (status === 403) return failure('CLUSTER_PRIVILEGE_MISSING', { cluster, status, reason })
  return failure('REQUEST_REFUSED', { cluster, status, type, reason })
}
