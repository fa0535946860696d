import type { Failure } from '../failure/failure.js'

/** Counts of documents. `read` is the sum of the others: every document is in exactly one of them. */
export interface Counts {
  /** Documents and blank lines read. */
  readonly read: number
  readonly created: number
  /** Overwritten (operation `index`). */
  readonly updated: number
  readonly deleted: number
  /** Sent, and already as it should be. */
  readonly noop: number
  /** Sent again after an unknown outcome, and found stored. */
  readonly duplicate: number
  /** Rejected by Sluice or by the cluster. They are in the dead letters. */
  readonly rejected: number
  /** Blank lines, and documents that a rule of the user's left out. */
  readonly skipped: number
  /** Certainly not stored, because the run stopped. */
  readonly unsent: number
  /** Sent without a clear answer. They may be stored. */
  readonly unknown: number
}

/** Lists the outcomes of documents in the order for readers. Together they make up all documents that were read. */
export const outcomes = [
  'created',
  'updated',
  'deleted',
  'noop',
  'duplicate',
  'rejected',
  'skipped',
  'unsent',
  'unknown',
] as const satisfies readonly Exclude<keyof Counts, 'read'>[]

/** Rejected documents that were refused for the same reason. Values of documents are never quoted. */
export interface Rejections {
  /** HTTP status of the item. 0 if the document was never sent. */
  readonly status: number
  readonly type: string
  /** The field that the reason names, if it does. */
  readonly field?: string
  readonly documents: number
}

/** The account of one input. */
export interface InputReceipt {
  readonly name: string
  readonly status: 'finished' | 'failed' | 'unfinished'
  /** Documents and blank lines that the run has read from it. */
  readonly read: number
  /** Number of the document with which this process continued. */
  readonly resumedAt?: number
  /** If only what changed was read: since when, in ISO 8601. */
  readonly since?: string
  /** Set if an earlier process loaded this input completely. */
  readonly alreadyLoaded?: true
  readonly failure?: Failure
}

/**
 * The account of a run: its counts are those of all processes that it took. A feature that adds to it declares its part beside its
 * hook.
 */
export interface Receipt extends Counts {
  /** Id of the run: its name, or sortable by time. Part of the default name of the dead letters. A resume keeps it. */
  readonly run: string
  /** `finished`: every input was read to its end and every document has an outcome. */
  readonly status: 'finished' | 'failed' | 'interrupted'
  /** Why the run stopped, or why an input could not be read to its end. */
  readonly failure?: Failure
  readonly inputs: readonly InputReceipt[]
  /** The counts of this process only. Bytes, requests and times are also of this process only. */
  readonly thisProcess: Counts
  readonly rejections: readonly Rejections[]
  /** `read`: decoded input. `sent`, `received`: on the wire, with TLS, all connections and the preflight. */
  readonly bytes: { readonly read: number; readonly sent: number; readonly received: number }
  /** Bulk requests sent, with retries. `retries`: how often Sluice sent a request again, whole or in part. */
  readonly requests: number
  readonly retries: number
  /** From the end of the preflight to the last document's outcome. */
  readonly elapsedMs: number
  /** Documents stored, by `elapsedMs`. */
  readonly docsPerSecond: number
  /** How the cluster was reached: `direct`, or through which proxy. */
  readonly route: {
    readonly form: 'direct' | 'tunnel' | 'forward'
    readonly proxy?: string | undefined
    readonly connections: number
  }
  /** Source addresses that the egress check saw, and how often. */
  readonly egress: Readonly<Record<string, number>>
  readonly cluster: { readonly url: string; readonly name?: string; readonly version?: string }
  /** The file of rejected documents, when there are any: a path as it was given. */
  readonly deadLetters?: string
  /** Limits of Sluice's promises for this load, for example if a pipeline or a data stream changes ids. */
  readonly notes?: readonly string[]
  /** The checkpoint that a resume reads. Absent if none is kept. */
  readonly checkpoint?: string
}
