import { type BatchOptions, Batcher } from '../bulk/batcher.js'
import { ReplayBatcher } from '../bulk/replay-batcher.js'
import { SlotPool } from '../bulk/slots.js'
import { MAX_DOCUMENT_BYTES } from '../options/check-ingest-options.js'
import type { Input, Operation, Origin } from '../flow.js'
import type { IngestOptions } from '../options/ingest-options.js'
import type { Ledger } from '../ledger/ledger.js'
import { DEFAULT_CONCURRENCY } from '../options/defaults.js'
import { systemClock } from '../time/system-clock.js'

export const DEFAULT_BATCH_BYTES = 5_000_000

/** What is sent are dead letters. With an index or a pipeline: to that, whatever they say. */
export interface Replaying {
  readonly index?: string
  readonly pipeline?: string
}

/** What the action lines of documents say that are no dead letters. */
type Action = Pick<BatchOptions, 'operation' | 'ids' | 'routingField'>

interface Framing {
  readonly options: IngestOptions
  readonly action: Action
  readonly replaying: Replaying | undefined
  readonly ledger: Ledger
  /** How large a body may be from now on. */
  bodyBytes(): number
  /** Absent: its own. */
  readonly slots: SlotPool | undefined
}

/** Memory for bodies. One is filled while the others are being sent; which are not needed are never touched. */
export function openSlots({
  concurrency = DEFAULT_CONCURRENCY,
  batchBytes = DEFAULT_BATCH_BYTES,
}: Pick<IngestOptions, 'concurrency' | 'batchBytes'>): SlotPool {
  return new SlotPool(concurrency + 1, batchBytes)
}

export function openBatcher({
  options,
  action,
  replaying,
  ledger,
  bodyBytes,
  slots,
}: Framing): Batcher | ReplayBatcher {
  const { batchBytes = DEFAULT_BATCH_BYTES } = options
  const framing = {
    batchBytes,
    bodyBytes,
    batchDocs: options.batchDocs ?? Infinity,
    batchMs: options.batchMs ?? 1000,
    maxDocumentBytes: MAX_DOCUMENT_BYTES,
    slots: slots ?? openSlots(options),
    clock: systemClock,
    longLine: async (input: Input, origin: Origin, operation: Operation, id?: string) =>
      await ledger.longLine(input, origin, operation, MAX_DOCUMENT_BYTES, id),
  }
  return replaying === undefined
    ? new Batcher({ ...framing, ...action })
    : new ReplayBatcher({
        ...framing,
        ...replaying,
        longRecord: async (input, head) => await ledger.longRecord(input, head),
      })
}
