import type { Failure } from '../../../base/failure/failure.js'
import type { Counts } from '../../../pipeline/ledger/receipt.js'
import type { IngestEvent } from '../../../options/run-events.js'
import type { RangeReceipt } from '../job.js'

/** An event that a worker reports. */
export type WorkerEvent =
  | { readonly type: 'joined'; readonly job: string; readonly index: string }
  /** A range was taken from the queue. */
  | { readonly type: 'took'; readonly job: string; readonly range: string }
  /** While a range is loaded. */
  | { readonly type: 'heard'; readonly job: string; readonly range: string; readonly event: IngestEvent }
  /** A range is loaded. */
  | { readonly type: 'range'; readonly job: string; readonly range: string; readonly receipt: RangeReceipt }
  /** A range could not be loaded. The queue may offer it again. */
  | {
      readonly type: 'failed'
      readonly job: string
      readonly range: string
      readonly receipt: RangeReceipt
      readonly failure: Failure
    }
  /** A range went back to the queue. */
  | { readonly type: 'returned'; readonly job: string; readonly range: string }
  /** Where a job stands that this worker coordinates. */
  | ({ readonly type: 'standing'; readonly job: string } & JobStanding)
  | { readonly type: 'left'; readonly job: string }
  | { readonly type: 'problem'; readonly message: string }

interface JobStanding {
  readonly ranges: { readonly done: number; readonly active: number; readonly waiting: number; readonly failed: number }
  readonly counts: Counts
  /** Stored bytes of inputs. */
  readonly bytes: { readonly read: number; readonly total: number }
  /** Most requests at the same time now. */
  readonly limit: number
  /** Whether all workers wait for access. */
  readonly isParked: boolean
}
