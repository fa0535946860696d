/** The messages between the process and a thread that compresses. */

/** A body, in memory that both share. It is free again when the answer comes. */
export interface ToWorker {
  readonly memory: SharedArrayBuffer
  readonly bytes: number
}

/** The body as a gzip file. Undefined: this thread has no kernel. */
export type FromWorker = Uint8Array<ArrayBuffer> | undefined
