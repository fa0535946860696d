import type { RangeReceipt } from './job.js'

/** What a worker reports. */
export type WorkerEvent =
  | { readonly type: 'joined'; readonly job: string; readonly index: string }
  | { readonly type: 'range'; readonly job: string; readonly receipt: RangeReceipt }
  | { readonly type: 'left'; readonly job: string }
  | { readonly type: 'problem'; readonly message: string }
