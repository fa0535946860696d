/** The operations of a load: one row each. What Sluice knows of an operation is in its row, and everything else derives from it. */
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

/** The actions that Elasticsearch knows. Each is an operation, too. */
export type Verb = 'create' | 'index' | 'update' | 'delete'

/** A privilege on an index that an operation may need. */
type WritePrivilege = 'create_doc' | 'create' | 'index' | 'delete' | 'write'

/** What an operation may be combined with. `newIndex`: one that the load makes. `queue`: a managed ingest endpoint. */
export type Term = ConditionKind | 'script' | 'retries' | 'pipeline' | 'newIndex' | 'queue'

/** What a document counts as that Elasticsearch has accepted, and not created. */
type Accepted = 'updated' | 'deleted' | 'noop' | 'dropped'

export interface BulkForm {
  /** The action line up to the id and routing. */
  readonly action: string
  /** Text before and after each document on its line. */
  readonly opening: string
  readonly closing: string
  /** Whether the line of the document is sent. If not, it stays in memory: a dead letter needs it. */
  readonly sendsDocument: boolean
}

export interface OperationRow extends Omit<BulkForm, 'action'> {
  readonly verb: Verb
  /** Whether the operation changes stored documents: then each needs an id of the user's. */
  readonly changes: boolean
  /** Whether it sends only some fields. */
  readonly isPartial: boolean
  /** Whether it stores a document whose id is new. */
  readonly storesNew: boolean
  /** Whether Elasticsearch makes its index, if there is none. */
  readonly makesIndex: boolean
  readonly takes: readonly Term[]
  /** Each suffices. A warning names the first one. */
  readonly privileges: readonly [WritePrivilege, ...WritePrivilege[]]
  /** What a document counts as that is accepted with status 200, by the result in the answer. */
  readonly results: Readonly<Partial<Record<string, Accepted>>> & { readonly otherwise: Accepted }
  /** The cluster's answer if Sluice sends the same document again. `conflict`: its id exists. */
  readonly repeat: 'conflict' | 'updated' | 'noop' | 'notFound'
}

const rows: Readonly<Record<Operation, OperationRow>> = {
  create: {
    verb: 'create',
    opening: '',
    closing: '',
    sendsDocument: true,
    changes: false,
    isPartial: false,
    storesNew: true,
    makesIndex: true,
    takes: ['pipeline', 'newIndex', 'queue'],
    privileges: ['create_doc', 'create', 'index', 'write'],
    // Only a pipeline answers so.
    results: { otherwise: 'dropped' },
    repeat: 'conflict',
  },
  index: {
    verb: 'index',
    opening: '',
    closing: '',
    sendsDocument: true,
    changes: false,
    isPartial: false,
    storesNew: true,
    makesIndex: true,
    takes: ['version', 'sequence', 'pipeline', 'newIndex'],
    privileges: ['index', 'write'],
    results: { noop: 'dropped', otherwise: 'updated' },
    repeat: 'updated',
  },
  update: {
    verb: 'update',
    opening: '{"doc":',
    closing: '}',
    sendsDocument: true,
    changes: true,
    isPartial: true,
    storesNew: false,
    makesIndex: true,
    takes: ['sequence', 'script', 'retries'],
    privileges: ['index', 'write'],
    // A script may delete, too.
    results: { noop: 'noop', deleted: 'deleted', otherwise: 'updated' },
    repeat: 'noop',
  },
  upsert: {
    verb: 'update',
    opening: '{"doc":',
    closing: ',"doc_as_upsert":true}',
    sendsDocument: true,
    changes: true,
    isPartial: true,
    storesNew: true,
    makesIndex: true,
    takes: ['script', 'retries'],
    privileges: ['index', 'write'],
    results: { noop: 'noop', deleted: 'deleted', otherwise: 'updated' },
    repeat: 'noop',
  },
  delete: {
    verb: 'delete',
    opening: '',
    closing: '',
    sendsDocument: false,
    changes: true,
    isPartial: false,
    storesNew: false,
    makesIndex: false,
    takes: ['version', 'sequence'],
    privileges: ['delete', 'write'],
    results: { otherwise: 'deleted' },
    repeat: 'notFound',
  },
}

export const operations = Object.keys(rows) as [Operation, ...Operation[]]

/** Some of its documents are only in memory, and some of its items change documents. */
const mixed = { ...rows.update, opening: '', closing: '', sendsDocument: false }

export function rowOf(operation: BatchOperation): OperationRow {
  return operation === 'mixed' ? mixed : rows[operation]
}

/** Returns what a document counts as that is accepted with status 200. */
export function acceptedAs({ results }: Pick<OperationRow, 'results'>, result: string | undefined): Accepted {
  return (result !== undefined && Object.hasOwn(results, result) ? results[result] : undefined) ?? results.otherwise
}

/** The operations that may be combined with something. */
export function takersOf(term: Term): readonly Operation[] {
  return operations.filter(operation => rows[operation].takes.includes(term))
}

interface Terms {
  /** Elasticsearch repeats no update that has one. */
  readonly condition?: ConditionKind | undefined
  /** The document holds the parameters of the script. */
  readonly script?: Script | undefined
  /** How often Elasticsearch repeats an update if another request changes the document at the same moment. Default 3. */
  readonly retryOnConflict?: number | undefined
}

export function bulkFormOf(operation: BatchOperation, terms: Terms = {}): BulkForm {
  const { verb, opening, closing, sendsDocument, takes } = rowOf(operation)
  if (operation === 'mixed') return { action: '', opening, closing, sendsDocument }
  const { condition, script, retryOnConflict = 3 } = terms
  const hasRetries = takes.includes('retries') && condition === undefined && retryOnConflict > 0
  const action = `{"${verb}":{${hasRetries ? `"retry_on_conflict":${retryOnConflict},` : ''}`
  const around = script === undefined || !takes.includes('script') ? {} : aroundParameters(script, operation)
  return { action, opening, closing, sendsDocument, ...around }
}

/** With `scripted_upsert`, the script runs also for a new document, which is empty at first. */
function aroundParameters(script: Script, operation: Operation): Pick<BulkForm, 'opening' | 'closing'> {
  const named = 'id' in script ? script : { ...script, lang: 'painless' }
  return {
    opening: `{"script":${JSON.stringify(named).slice(0, -1)},"params":`,
    closing: rows[operation].storesNew ? '},"upsert":{},"scripted_upsert":true}' : '}}',
  }
}

export function isOperation(value: unknown): value is Operation {
  return typeof value === 'string' && Object.hasOwn(rows, value)
}

export function isVerb(value: unknown): value is Verb {
  return isOperation(value) && rows[value].verb === value
}

/** Those that the target took: it stored, queued or deleted them, had nothing to do, or its pipeline dropped them. */
export const taken = [
  'created',
  'accepted',
  'updated',
  'deleted',
  'noop',
  'notFound',
  'older',
  'dropped',
  'duplicate',
] as const

export const outcomes = [...taken, 'rejected', 'skipped', 'unsent', 'unknown'] as const

export type Taken = (typeof taken)[number]

export type OutcomeName = (typeof outcomes)[number]

/** How many documents the target took. */
export function takenOf(counts: Readonly<Partial<Record<Taken, number>>>): number {
  return taken.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
}

export interface FieldIds {
  readonly from: 'field' | 'hash'
  /** A list of paths: `branch,order.no`. */
  readonly field: string
  /** One character between the values. Default `|`. */
  readonly separator?: string
}

/**
 * The source of a document's `_id`. `run`: a token and the document's number, so that a resend doubles nothing and
 * the ids of a run can be listed. `by` offset: the offset of its line takes the place of the number, so that the ids do not depend on how
 * an input is cut. `field`: the values of fields. `hash`: the SHA-256 of these. `cluster`: Elasticsearch makes
 * it, and an unknown outcome stays unknown.
 */
export type Ids = { readonly from: 'run'; readonly by?: 'offset' } | FieldIds | { readonly from: 'cluster' }

export const DEFAULT_SEPARATOR = '|'
