/** An index against the tables that it was loaded from: what is in it and in none of them any more is deleted. */
import type { FoundDocument } from '../cluster/find-documents.js'
import { refresh } from '../cluster/indices.js'
import { walkIds } from '../cluster/walk-ids.js'
import type { RejectionLimit } from '../flow.js'
import { IdSet, isSysId } from '../servicenow/deletions/id-set.js'
import type { Instance } from '../servicenow/instance.js'
import { CLASS, type KnownRows, type RowSelection, classesOf, listIds } from '../servicenow/deletions/list-ids.js'
import { type Removed, type Removing, removeGone } from './remove-gone.js'
import { fail } from '../failure/fail.js'

export interface Reconciling extends Pick<Removing, 'cluster' | 'index' | 'by' | 'step' | 'there'> {
  readonly instance: Instance
  readonly selected: readonly RowSelection[]
  /** Whether documents have fields as they are displayed. */
  readonly isDisplayed: boolean
  /** Whether each document contains the class of its row, if the row has one. */
  readonly saysClass: boolean
  readonly maxDeleted: RejectionLimit
  readonly signal: AbortSignal
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
  const { cluster, index, selected, maxDeleted } = reconciling
  const rows: KnownRows = { ids: new IdSet(), classes: new Set() }
  const { instance, isDisplayed, signal } = reconciling
  // The rows first: whatever is stored while they are listed was a row before that.
  for (const one of selected) await listIds(instance, { ...one, isDisplayed, signal }, rows)
  const compared = await compare(reconciling, rows)
  if (compared.absent > compared.allowed) {
    const { documents, absent, allowed } = compared
    throw fail('DELETIONS_TOO_MANY', { index, absent, documents, allowed, limit: maxDeleted })
  }
  removed.other += compared.irregular
  const isMeant = judge(rows, reconciling)
  const removing = { ...reconciling, cluster, fields: [CLASS], isMeant }
  for (const ids of compared.candidates.pages(PAGE)) await removeGone(ids, removing, removed)
  return compared.documents
}

interface Comparison {
  documents: number
  /** How many may have no row. */
  allowed: number
  absent: number
  /** Documents whose id the platform did not make. Sluice leaves them. */
  irregular: number
  /** The others, as long as there are no more than allowed. */
  candidates: IdSet
}

async function compare({ cluster, index, step, maxDeleted }: Reconciling, rows: KnownRows): Promise<Comparison> {
  // A document that cannot be seen yet is compared by the next run.
  await refresh(cluster, index)
  let found = empty(0, maxDeleted)
  await walkIds(cluster, {
    index,
    step,
    begin: documents => {
      found = empty(documents, maxDeleted)
    },
    page: ids => {
      for (const id of ids) if (!rows.ids.has(id)) note(id, found)
    },
  })
  return found
}

function empty(documents: number, maxDeleted: RejectionLimit): Comparison {
  return { documents, allowed: limitOf(maxDeleted, documents), absent: 0, irregular: 0, candidates: new IdSet() }
}

function note(id: string, found: Comparison): void {
  found.absent += 1
  if (!isSysId(id)) found.irregular += 1
  else if (found.absent <= found.allowed) found.candidates.add(id)
}

/** Rounds a share up: of three documents, 10% allows one deletion. */
export function limitOf(limit: RejectionLimit, documents: number): number {
  return typeof limit === 'number' ? limit : Math.ceil((documents * Number.parseFloat(limit)) / 100)
}

/**
 * Judges a document by its class: the class of an existing row, or one of the tables. A document without a class
 * belongs to a table without classes.
 */
function judge({ classes }: KnownRows, { selected, saysClass }: Reconciling): (document: FoundDocument) => boolean {
  const known = new Set([...classes, ...selected.map(({ table }) => table)])
  const isNeeded = saysClass && classes.size > 0
  return ({ fields = {} }) => {
    const said = classesOf(fields)
    return said.length === 0 ? !isNeeded : said.some(name => known.has(name))
  }
}
