/** Adds up the receipts of rounds: together they are one run. */
import { addCounts } from '../../pipeline/ledger/account.js'
import { takenOf } from '../../base/operation.js'
import type { InputReceipt, Receipt } from '../../pipeline/ledger/receipt.js'
import type { RoundInput } from './round-input.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only of a load with `follow`: how long it loaded. `docsPerSecond` is of this time. `elapsedMs` has the waits between, too. */
    readonly follow?: { readonly loadingMs: number }
  }
}

export class AddedRounds {
  #receipt: Receipt | undefined
  /** Files that were renamed, and those that took their names, have one account. */
  readonly #inputs = new Map<string, InputReceipt>()

  /** Returns undefined before the first round. */
  get receipt(): Receipt | undefined {
    return this.#receipt
  }

  /** `sources`: in their order. */
  add(round: Receipt, sources: readonly RoundInput[]): Receipt {
    const left = [...sources]
    for (const input of round.inputs) {
      const at = left.findIndex(({ name }) => name === input.name)
      const [source] = left.splice(0, at + 1).slice(-1)
      this.#addInput(input, source?.followed)
    }
    const before = this.#receipt
    const inputs = [...this.#inputs.values()]
    this.#receipt =
      before === undefined
        ? { ...round, inputs }
        : { ...round, ...sumOfProcess(before, round), began: before.began, inputs }
    return this.#receipt
  }

  #addInput(input: InputReceipt, file: { counted: number } | undefined): void {
    const before = this.#inputs.get(input.name)
    // The account of an input in a run covers all rounds of the run.
    const more = input.read - (file?.counted ?? 0)
    if (file !== undefined) file.counted = input.read
    if (before === undefined) this.#inputs.set(input.name, input)
    else if (input.alreadyLoaded !== true) {
      const { alreadyLoaded: _, loadedBy: __, ...known } = before
      const { status, failure } = input
      const failed = failure === undefined ? {} : { failure }
      this.#inputs.set(input.name, { ...known, status, read: known.read + more, ...failed })
    }
  }
}

function sumOfProcess(
  before: Receipt,
  round: Receipt,
): Pick<Receipt, 'thisProcess' | 'bytes' | 'requests' | 'retries' | 'elapsedMs' | 'docsPerSecond'> {
  const thisProcess = addCounts(before.thisProcess, round.thisProcess)
  const elapsedMs = before.elapsedMs + round.elapsedMs
  return {
    thisProcess,
    // What went over the wire is counted for the connection, which all rounds share.
    bytes: { ...round.bytes, read: before.bytes.read + round.bytes.read },
    requests: before.requests + round.requests,
    retries: before.retries + round.retries,
    elapsedMs,
    docsPerSecond: Math.round(takenOf(thisProcess) / Math.max(elapsedMs / 1000, 0.001)),
  }
}
