/** The messages between a run and its worker threads. */
import type { MessagePort } from 'node:worker_threads'
import type { LineJob } from '../transform-lines.js'

export interface WorkerSetup {
  readonly port: MessagePort
  /** URL of the module. */
  readonly module: string
  readonly maxBytes: number
  /** Two numbers of 32 bits that the worker counts up: lines that it began, and which one of its job that is. */
  readonly progress: SharedArrayBuffer
}

export type ToWorker =
  | { readonly kind: 'job'; readonly job: LineJob }
  /** The last piece was taken: the next one may come. */
  | { readonly kind: 'taken' }

export type FromWorker =
  | { readonly kind: 'ready' }
  /** The module cannot be used. */
  | { readonly kind: 'unfit'; readonly problem: string }
  | { readonly kind: 'piece'; readonly bytes: Uint8Array }
  /** A job is done. */
  | { readonly kind: 'done' }
