/** The operations of a load, and how each of them stands in a bulk request. */

/**
 * What Elasticsearch does with a document. `create`: stores it if its id is new. `index`: stores or replaces it. `update`: changes
 * the given fields of a stored document. `upsert`: the same, or stores it if its id is new. `delete`: deletes the document with its id.
 */
export type Operation = 'create' | 'index' | 'update' | 'upsert' | 'delete'

/**
 * The condition that an action sets for the stored document. `version`: it has no newer version. `sequence`: it is unchanged since its
 * `_seq_no` was read.
 */
export type ConditionKind = 'version' | 'sequence'

/** Fields of a document whose numbers go into its action line. Paths. */
export interface ConditionFields {
  readonly versionField?: string
  readonly ifSeqNoField?: string
  readonly ifPrimaryTermField?: string
}

/** A painless script that changes stored documents: its text, or the id of one that the cluster stores. */
export type Script = { readonly source: string } | { readonly id: string }

/** The operation of a batch. `mixed`: each action line names its own, as in a `_bulk` file. */
export type BatchOperation = Operation | 'mixed'

interface BulkForm {
  /** The action line up to the id and routing. */
  readonly action: string
  /** Text before and after each document on its line. */
  readonly opening: string
  readonly closing: string
  /** Whether the line of the document is sent. If not, it stays in memory: a dead letter needs it. */
  readonly sendsDocument: boolean
  /** Whether the operation changes stored documents: then each needs an id of the user's. */
  readonly changes: boolean
  /** Whether it sends only some fields. */
  readonly isPartial: boolean
}

const whole = { opening: '', closing: '', sendsDocument: true, changes: false, isPartial: false } as const
const part = {
  ...whole,
  action: '{"update":{',
  opening: '{"doc":',
  changes: true,
  isPartial: true,
} as const

const forms: Readonly<Record<Operation, BulkForm>> = {
  create: { ...whole, action: '{"create":{' },
  index: { ...whole, action: '{"index":{' },
  update: { ...part, closing: '}' },
  upsert: { ...part, closing: ',"doc_as_upsert":true}' },
  delete: { ...whole, action: '{"delete":{', sendsDocument: false, changes: true },
}

/** Some of its documents are only in memory, and some of its items change documents. */
const mixed: BulkForm = { ...whole, action: '', sendsDocument: false, changes: true, isPartial: true }

export const operations = Object.keys(forms) as readonly Operation[]

interface Terms {
  /** Elasticsearch repeats no update that has one. */
  readonly condition?: ConditionKind | undefined
  /** The document holds the parameters of the script. */
  readonly script?: Script | undefined
  /** How often Elasticsearch repeats an update if another request changes the document at the same moment. Default 3. */
  readonly retryOnConflict?: number | undefined
}

export function bulkFormOf(operation: BatchOperation, terms: Terms = {}): BulkForm {
  const form = operation === 'mixed' ? mixed : forms[operation]
  const { condition, script, retryOnConflict = 3 } = terms
  if (!form.isPartial || operation === 'mixed') return form
  const retries = condition === undefined && retryOnConflict > 0 ? `"retry_on_conflict":${retryOnConflict},` : ''
  const around = script === undefined ? {} : aroundParameters(script, operation)
  return { ...form, action: `{"update":{${retries}`, ...around }
}

/** With `scripted_upsert`, the script runs also for a new document, which is empty at first. */
function aroundParameters(script: Script, operation: Operation): Pick<BulkForm, 'opening' | 'closing'> {
  const named = 'id' in script ? script : { ...script, lang: 'painless' }
  return {
    opening: `{"script":${JSON.stringify(named).slice(0, -1)},"params":`,
    closing: operation === 'upsert' ? '},"upsert":{},"scripted_upsert":true}' : '}}',
  }
}

export function isOperation(value: unknown): value is Operation {
  return typeof value === 'string' && Object.hasOwn(forms, value)
}
