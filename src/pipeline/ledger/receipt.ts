import type { OutcomeName } from '../../base/operation.js'
import { explain, type Failure, isSluiceError, type SluiceError } from '../../base/failure/failure.js'
import type { Origin } from '../../base/flow.js'
import { count } from '../../base/text/shown.js'

/** Counts of documents. `read` is the sum of the others: every document is in exactly one of them. */
export interface Counts extends Readonly<Record<OutcomeName, number>> {
  /** Documents and blank lines read. */
  readonly read: number
  readonly created: number
  /** Queued by a managed ingest endpoint, which stores them later. `verify` shows whether it did. */
  readonly accepted: number
  /** Overwritten (operation `index`), or changed in part (`update`, `upsert`). */
  readonly updated: number
  /** Operation `delete`. */
  readonly deleted: number
  /** Sent, and already as it should be (`update`, `upsert`). */
  readonly noop: number
  /** Deletions of documents that were not there. */
  readonly notFound: number
  /** Sent with a version, but the index has a newer version of the document. Nothing changed. */
  readonly older: number
  /** Dropped by the ingest pipeline of the index or of the request. The cluster accepted them and stored nothing. */
  readonly dropped: number
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

/** Rejected documents that were refused for the same reason. Values of documents are never quoted. */
export interface Rejections {
  /** HTTP status of the item. 0 if the document was never sent. */
  readonly status: number
  readonly type: string
  /** The field that the reason names, if it does. */
  readonly field?: string
  /** What is wrong with a row of a table, and in which column. Or that the index takes no more fields. */
  readonly reason?: string
  /** Only in a dry run, which writes no dead letters: the cell of the first of these rows that does not fit. */
  readonly value?: string
  readonly documents: number
  /** Where the first of them was read. */
  readonly first?: Origin
}

/** The account of one input. */
export interface InputReceipt {
  readonly name: string
  readonly status: 'finished' | 'failed' | 'unfinished'
  /** Documents and blank lines that the run has read from it. */
  readonly read: number
  /** How a table, a workbook or a document with an array was read: `CSV with semicolons, UTF-8, 3 columns: id, name, total`. */
  readonly readAs?: string
  /** Number of the document with which this process continued. */
  readonly resumedAt?: number
  /** If only what changed was read: since when, in ISO 8601. */
  readonly since?: string
  /** Set if an earlier process loaded this input completely. */
  readonly alreadyLoaded?: true
  /** Set if another run did. `at`: ISO 8601. */
  readonly loadedBy?: { readonly run: string; readonly at: string }
  /** Set if this input, or all before `resumedAt`, was read under another name before: its path or URL then. */
  readonly loadedAs?: string
  /**
   * Only in a dry run: what a load would do. `new`: load it whole. `known`: nothing, because it is loaded. `continues`:
   * load the documents from `resumedAt` on. `changed`: it has another content than the one that `loadedBy` loaded. Then a
   * load takes it whole, or refuses it with `failure`.
   */
  readonly plan?: 'new' | 'known' | 'continues' | 'changed'
  readonly failure?: Failure
}

/** A file that had the name of an input. `since`: from which time lines may be missing, in ISO 8601. */
export interface InputGap {
  readonly name: string
  readonly since: string
  /** A sentence that says which lines are missing. */
  readonly message: string
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
  /** Set if the run was a dry run: `unsent` documents would be sent. */
  readonly dryRun?: true
  /** The command: `ingest` or `replay`. */
  readonly command: string
  /** When this process began and ended the run: ISO 8601 with the offset of its time zone. */
  readonly began: string
  readonly ended: string
  /** The exit code of a command that ends so. */
  readonly exit: number
  /** Where documents went. `url` has no credentials. `alias`: only of a guarded load. */
  readonly target: { readonly url: string; readonly index: string; readonly alias?: string | undefined }
  /** Why the run stopped, or why an input could not be read to its end. */
  readonly failure?: Failure
  readonly inputs: readonly InputReceipt[]
  /** The counts of this process only. Bytes, requests and times are also of this process only. */
  readonly thisProcess: Counts
  readonly rejections: readonly Rejections[]
  /** `read`: decoded input. `sent`, `received`: on the wire, with TLS, all connections and the preflight. */
  readonly bytes: { readonly read: number; readonly sent: number; readonly received: number }
  /** Whether requests were compressed in the end, and why. Only if Sluice chose (`compress: 'auto'`): not on loopback without a limit. */
  readonly compression?: { readonly used: 'gzip' | 'none'; readonly why: string }
  /** Bulk requests sent, with retries. `retries`: how often Sluice sent a request again, whole or in part. */
  readonly requests: number
  readonly retries: number
  /** From the end of the preflight to the last document's outcome. Of a job on a queue, from the first range's start to the last one's end. */
  readonly elapsedMs: number
  /** Documents that this process stored, by the time that it loaded: `elapsedMs`, or that of `follow`. */
  readonly docsPerSecond: number
  /** How the cluster was reached: `direct`, or through which proxy. */
  readonly route: {
    readonly form: 'direct' | 'tunnel' | 'forward'
    readonly proxy?: string | undefined
    readonly connections: number
  }
  /** Source addresses that the egress check saw, and how often. Empty if no check is set (IP_CHECK_URL), or none has shown an address. */
  readonly egress: Readonly<Record<string, number>>
  readonly cluster: { readonly url: string; readonly name?: string; readonly version?: string }
  /** The file of rejected documents, when there are any: a path as it was given. */
  readonly deadLetters?: string
  /** Files that had the name of an input, and whose lines are not all loaded. */
  readonly gaps?: readonly InputGap[]
  /** Limits of Sluice's promises for this load, for example if a pipeline or a data stream changes ids. */
  readonly notes?: readonly string[]
  /** The checkpoint that a resume reads. Absent if none is kept. */
  readonly checkpoint?: string
}

/** Returns the exit code of a run: that of its failure, or 1 if a document is rejected or unknown. */
export function exitOf({ failure, rejected, unknown }: Pick<Receipt, 'failure' | 'rejected' | 'unknown'>): number {
  if (failure !== undefined) return explain(failure.code).exit
  return rejected > 0 || unknown > 0 ? 1 : 0
}

/** Returns the status of a run with this ending. */
export function statusOf(stopped: Failure | undefined): Receipt['status'] {
  if (stopped === undefined) return 'finished'
  return explain(stopped.code).exit === 5 ? 'interrupted' : 'failed'
}

/**
 * Returns whether an error is a SluiceError, of this copy of the package or another. Only `ingest` and `replay` attach a receipt,
 * and theirs is of this type.
 */
export function isRunError(error: unknown): error is SluiceError<Receipt> {
  return isSluiceError(error)
}

/** Names the position of a document for people. */
export function describeOrigin({ input, document = 0, member, element = document, line, offset }: Origin): string {
  const name = member === undefined ? input : `${input}/${member}`
  if (line !== undefined) return `${name}, line ${count(line)}`
  // Digits without commas, to be copied into a command.
  return element === 0 && offset !== undefined ? `${name}, byte ${offset}` : `${name}, document ${count(element)}`
}
