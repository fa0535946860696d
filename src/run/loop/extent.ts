/** How far a run has come in its inputs, also what earlier processes of the run did. */
import type { Input } from '../../base/flow.js'
import { addCounts } from '../../pipeline/ledger/account.js'
import type { Counts } from '../../pipeline/ledger/receipt.js'
import type { StandingEvent } from '../../options/run-events.js'
import type { Plan, PlannedInput } from '../state/resume/plan.js'

type SoFar = Pick<StandingEvent, 'ofRun' | 'bytes' | 'file'>

export class Extent {
  readonly #before: Counts
  /** In the order in which they are read. */
  readonly #inputs: readonly PlannedInput[]
  #next = 0
  readonly #files: number
  /** Stored bytes of all files of the run. Undefined if an input has no size. */
  readonly #total: number | undefined
  #current: PlannedInput | undefined
  /** Files and bytes before the current input. */
  #number: number
  #bytes = 0

  constructor({ inputs, before }: Pick<Plan, 'inputs' | 'before'>) {
    // Files that other runs have loaded do not count for this run.
    const own = inputs.filter(({ isLoaded, by, refused }) => refused === undefined && !(isLoaded && by !== undefined))
    const loaded = own.filter(({ isLoaded }) => isLoaded)
    this.#before = before.counts
    this.#files = own.length
    this.#number = loaded.length
    for (const input of loaded) this.#bytes += sizeOf(input)
    this.#inputs = inputs
    const isKnown = own.every(({ source: { file, copy } }) => file !== undefined && copy === undefined)
    this.#total = isKnown ? own.reduce((sum, input) => sum + sizeOf(input), 0) : undefined
  }

  /** Called before the first byte of an input is read. Inputs are read in order. */
  begin({ id }: Input): void {
    this.#bytes += this.#current === undefined ? 0 : sizeOf(this.#current)
    this.#number += 1
    while (this.#inputs[this.#next]?.source.id !== id && this.#next < this.#inputs.length) this.#next += 1
    this.#current = this.#inputs[this.#next]
  }

  /** Returns how far the run has come. `counts`: of this process. */
  soFar(counts: Counts): SoFar {
    return {
      ofRun: addCounts(this.#before, counts),
      ...(this.#total === undefined
        ? {}
        : { bytes: { read: this.#bytes + readOf(this.#current), total: this.#total } }),
      ...(this.#files === 0 ? {} : { file: { number: this.#number, of: this.#files } }),
    }
  }
}

function sizeOf({ source }: PlannedInput): number {
  return source.file?.stat.size ?? 0
}

/** A resume reads a file from its mark on, or reads compressed bytes again up to there. */
function readOf(input: PlannedInput | undefined): number {
  if (input === undefined) return 0
  const before = input.from === undefined ? 0 : (input.file?.bytes ?? 0)
  // A file may grow while it is read.
  return Math.min(Math.max(before, input.source.file?.reading?.bytes ?? 0), sizeOf(input))
}
