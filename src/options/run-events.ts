/** The events of a run, as the library reports them. */
import type { Failure } from '../base/failure/failure.js'
import type { Refused } from '../base/flow.js'
import type { Counts } from '../pipeline/ledger/receipt.js'

/** Bytes over the wire so far, in both directions, and the budget. */
interface WireUse {
  readonly bytes: number
  readonly budget: number
}

/** Rows of a table that were read, and the total, if the platform reported one. */
interface RowsRead {
  readonly read: number
  readonly total: number
}

/** Counts what is in the inputs and not in the index, so far. */
export interface Missing {
  /** Documents that earlier runs rejected, and that are not replayed. */
  readonly unreplayed?: number
  /** Files that had the name of an input, and whose lines are not all loaded. */
  readonly gaps?: number
}

/** Where a run stands. */
export interface StandingEvent {
  readonly type: 'standing'
  /** Counts of the whole run, with those of earlier processes. */
  readonly ofRun: Counts
  /** Stored bytes of the run's files that are read, and all of them. Absent if an input has no size. */
  readonly bytes?: { readonly read: number; readonly total: number }
  /** The number of the input that is being read, and how many there are. 0 before the first one. */
  readonly file?: { readonly number: number; readonly of: number }
  /** Batches that were read, and have no outcome yet. */
  readonly underWay: number
  /** The run reads and sends nothing more, and waits for the batches under way. */
  readonly isStopping?: true
}

/** Events of a run, in the order in which they happen. */
export type IngestEvent =
  /**
   * The route is open. `missChance`: chance from 0 to 1 that one of two addresses is still blocked. `notes`: how the
   * proxy was chosen.
   */
  | {
      readonly type: 'preflight'
      readonly cluster: string
      readonly version?: string
      readonly route: string
      readonly probes: number
      readonly missChance: number
      readonly egress: Readonly<Record<string, number>>
      readonly notes: readonly string[]
    }
  /** Sluice has found the inputs. It reports next what it knows of each. */
  | { readonly type: 'planning'; readonly inputs: number }
  /** It is known which run this is: a new one, or one that continues. */
  | { readonly type: 'begun'; readonly run: string }
  /**
   * Reading of an input begins, or continues with the document `resumedAt`. `since`: for a table, only changes since
   * then are read.
   */
  | { readonly type: 'input'; readonly name: string; readonly resumedAt?: number; readonly since?: string }
  /** How Sluice reads a CSV input: delimiter, encoding and columns, as it found them or as options say. */
  | { readonly type: 'format'; readonly name: string; readonly found: string }
  /** What Sluice proposes for the mapping of a missing index, or that the index exists (`mapping: 'infer'`). */
  | { readonly type: 'mapping'; readonly index: string; readonly message: string }
  /** An input was loaded before, and has nothing new. */
  | { readonly type: 'loaded'; readonly name: string }
  /** A file that is followed is new, or was renamed, truncated or deleted. */
  | { readonly type: 'followed'; readonly name: string; readonly message: string }
  /**
   * The outcomes of a batch were booked. `bytesRead`: decoded bytes. `wire`: only with a byte budget. `rows`: only
   * for a table.
   */
  | {
      readonly type: 'progress'
      readonly counts: Counts
      readonly bytesRead: number
      readonly wire?: WireUse
      readonly rows?: RowsRead
    }
  /** Sent when loading begins, whenever a batch is read or has its outcomes, and when the run begins to stop. */
  | StandingEvent
  /** All is loaded, and documents of rows that were deleted are looked for. */
  | { readonly type: 'deletions'; readonly mode: 'reconcile'; readonly index: string }
  /** A bulk request is sent. `open`: requests without an answer, with this one. `bytes`: of its body on the wire. */
  | { readonly type: 'sent'; readonly open: number; readonly documents: number; readonly bytes: number }
  /**
   * A bulk request has its answer after `ms`, or lost its connection: then it has no `status` of HTTP. `bytes`: of the answer's
   * body on the wire. `code`: why it was not accepted as a whole.
   */
  | {
      readonly type: 'answered'
      readonly open: number
      readonly documents: number
      readonly ms: number
      readonly bytes: number
      readonly status?: number
      readonly code?: Failure['code']
    }
  /** A request will be sent again, whole or in part, after `waitMs`. */
  | { readonly type: 'retry'; readonly failure: Failure; readonly documents: number; readonly waitMs: number }
  /**
   * Access is lost, and the run waits (`onBlock`). Sent when the wait begins, and again after each refused probe.
   * `since`: when access was lost, in ISO 8601. `problem`: a different failure of the last probe.
   */
  | {
      readonly type: 'blocked'
      readonly failure: Failure
      readonly since: string
      readonly waitedMs: number
      readonly leftMs: number
      readonly nextProbeMs: number
      readonly problem?: string
    }
  /** Access is back. `failure`: the cause of the wait. `waitedMs`: its duration. */
  | { readonly type: 'unblocked'; readonly failure: Failure; readonly waitedMs: number }
  /** Documents were rejected. The listener may keep these copies. */
  | { readonly type: 'rejected'; readonly documents: readonly Refused[] }
  /** An input could not be read to its end, the egress check named no address, or a resume is not what one might expect. */
  | { readonly type: 'warning'; readonly message: string; readonly missing?: Missing }
