/** The messages between the process and a thread that compresses. */

/** A body and the place for its gzip file, in memory that both share. Both are the thread's until it answers. */
export interface ToWorker {
  readonly body: SharedArrayBuffer
  /** Where it begins, and its length. */
  readonly from: number
  readonly bytes: number
  readonly file: SharedArrayBuffer
}

/** How long the gzip file is. Undefined: this thread has no kernel. */
export type FromWorker = number | undefined
