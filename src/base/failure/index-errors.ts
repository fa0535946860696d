import { explain, type FailureCode, fixesFor } from './failure.js'

/**
 * Why Elasticsearch rejects single documents, by the types of its own errors, as receipts and dead letters show them. For
 * `sluice explain TYPE`, receipts and docs/failures.md.
 */
export interface IndexError {
  readonly type: string
  readonly meaning: string
  readonly fix: string
}

const MAPPING =
  'Correct the documents in the dead letters, or load into a new index with another mapping. Then run `sluice replay FILE`.'

export const indexErrors: readonly IndexError[] = [
  {
    type: 'document_parsing_exception',
    meaning: 'A value does not fit the type of its field, for example text in a number or an unknown form of a date.',
    fix: MAPPING,
  },
  {
    type: 'mapper_parsing_exception',
    meaning: 'A value does not fit the type of its field. Older versions of Elasticsearch use this name.',
    fix: MAPPING,
  },
  {
    type: 'strict_dynamic_mapping_exception',
    meaning: 'The document has a field that the mapping does not know, and the mapping is strict.',
    fix: 'Add the field to the mapping of the index (PUT /<index>/_mapping), or remove it from the documents. Then run `sluice replay FILE`.',
  },
  {
    type: 'version_conflict_engine_exception',
    meaning: 'A document with this id is in the index already.',
    fix: 'To overwrite it, load again with --op index. To keep it, load again with --on-conflict skip.',
  },
  {
    type: 'illegal_argument_exception',
    meaning: 'The index or a pipeline does not accept the document, for example because it has too many fields.',
    fix: 'Read the reason in the dead letters. For too many fields, raise index.mapping.total_fields.limit, or load into a new index with --mapping infer, which does that. Then run `sluice replay FILE`.',
  },
  {
    type: 'routing_missing_exception',
    meaning: 'The mapping requires a routing value, and the document has none.',
    fix: 'Pass --routing-field with the field that holds it.',
  },
  {
    type: 'document_missing_exception',
    meaning: 'The document that should change is not in the index.',
    fix: 'To store documents that do not exist yet, load the file again with --op upsert or --op index.',
  },
  {
    type: 'index_not_found_exception',
    meaning: 'The index does not exist, and the cluster does not create it by itself.',
    fix: 'Create the index, or correct --index. Then run `sluice replay FILE`.',
  },
  {
    type: 'index_closed_exception',
    meaning: 'The index is closed.',
    fix: 'Open it (POST /<index>/_open). Then run `sluice replay FILE`.',
  },
  {
    type: 'invalid_index_name_exception',
    meaning: 'Elasticsearch does not allow this index name.',
    fix: 'Correct --index, or the names in the documents. Then run `sluice replay FILE`.',
  },
  {
    type: 'cluster_block_exception',
    meaning:
      'The index accepts no writes, because the disk of the cluster is nearly full or somebody made the index read-only.',
    fix: 'Run `sluice explain INDEX_BLOCKED`.',
  },
  {
    type: 'security_exception',
    meaning: 'The credentials do not allow writing to this index.',
    fix: 'Run `sluice explain CLUSTER_PRIVILEGE_MISSING`.',
  },
  {
    type: 'es_rejected_execution_exception',
    meaning: 'The cluster had too much work to take the document.',
    fix: 'Lower --concurrency, and run `sluice replay FILE` later.',
  },
  {
    type: 'circuit_breaking_exception',
    meaning: 'The cluster had too little memory for the request.',
    fix: 'Lower --batch-bytes or --concurrency, and run `sluice replay FILE` later.',
  },
  {
    type: 'failure_store',
    meaning: 'The data stream put the document into its failure store instead of its index.',
    fix: 'Read the reason in the failure store: search STREAM::failures with the name of the data stream. Correct the documents, the mapping or the pipeline, and run `sluice replay FILE`.',
  },
]

const FIELDS = 'the index takes only '

/** Says why an index rejected a document, if its fields are too many. */
export function tooManyFields(limit: string): string {
  return `${FIELDS}${limit} fields`
}

const MANY_FIELDS =
  'The documents have more fields than the index takes. To load them into a new index that takes them, pass --mapping infer. Or raise index.mapping.total_fields.limit of this index, and run `sluice replay FILE`.'

/** Returns what a type in a receipt means and what to do: that of Elasticsearch, or Sluice's own code. `reasons`: as the receipt has them. */
export function adviceOn(type: string, ...reasons: readonly (string | undefined)[]): string | undefined {
  if (reasons.length > 0 && reasons.every(reason => reason?.startsWith(FIELDS))) return MANY_FIELDS
  const error = indexErrors.find(one => one.type === type)
  if (error !== undefined) return `${error.meaning} ${error.fix}`
  const own = explain(type as FailureCode) as ReturnType<typeof explain> | undefined
  if (own === undefined) return undefined
  const known = reasons.filter(reason => reason !== undefined)
  // One row is enough to need the advice for its reason.
  const [fix] = known.length === 0 ? own.fixes : fixesFor(type as FailureCode, known.join('\n'))
  return `${own.title}. ${fix}`
}

export interface RehearsedRefusal {
  readonly field?: string
  /** The kind of values that the documents have in this field. */
  readonly kind?: string
  readonly documents: number
  readonly first: string
  readonly reason: string
}

/** Says a refusal to people: `total is text in 1.2% of documents, first at orders.csv, line 812`. */
export function sayRefusal({ field, kind, documents, first, reason }: RehearsedRefusal, all: number): string {
  const share = `in ${((100 * documents) / Math.max(1, all)).toFixed(1)}% of documents, first at ${first}`
  return field === undefined || kind === undefined ? `${reason}, ${share}` : `${field} is ${kind} ${share}`
}
