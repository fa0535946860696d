/** The parts of `ingest` that a worker uses. `src/jobs.ts` passes them. */
import type { IndexDescription } from '../../../base/flow.js'
import type { Receipt } from '../../../pipeline/ledger/receipt.js'
import type { IngestOptions } from '../../../options/ingest-options.js'
import type { FoundInput, RangeJob } from '../../../features/ranges/range-load.js'
import type { Composed, Feature, OpenConnection } from '../../../run/loop/hooks.js'

export interface LoadParts {
  /** Finds inputs, and looks into those of at least `cutFrom` bytes. */
  findInputs(options: IngestOptions, cutFrom: number): AsyncIterable<FoundInput>
  /** Looks at indices of another cluster before the load of a job begins. Other inputs have none. */
  describeInputs(options: IngestOptions): Promise<InputsDescribed>
  /**
   * A load with one more feature, over a connection of its own. `isContinued`: an earlier process may have finished it, and was killed
   * before it could say so.
   */
  loadWhole(options: IngestOptions, feature: Composed, isContinued: boolean): Promise<Receipt>
  /** Returns a loader of ranges. It keeps their shared parts until it is disposed of. */
  openRanges(): RangeLoads
}

export interface InputsDescribed {
  /** By the names of the inputs. */
  readonly describes: ReadonlyMap<string, readonly IndexDescription[]>
  readonly warnings: readonly string[]
}

export interface RangeLoads extends AsyncDisposable {
  /** A load of ranges with one more feature, over an open connection. */
  load(
    options: Omit<IngestOptions, 'source'>,
    job: RangeJob,
    part: {
      readonly feature: Feature
      readonly connection: OpenConnection
      /** Bytes per second that the connection may carry. Infinity: as many as it can. Absent: there is no such limit. */
      readonly perSecond?: (() => number) | undefined
    },
  ): Promise<Receipt>
}
