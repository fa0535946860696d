import type { Failure } from '../failure/failure.js'
import type { Input } from '../flow.js'
import type { InputReceipt } from './receipt.js'

const statuses = ['unfinished', 'finished', 'failed'] as const

/** Keeps what became of each input that was begun. There may be very many, so it makes an object only when somebody asks. */
export class InputAccounts {
  /** Why inputs could not be read to their end, by their ids. */
  readonly failures = new Map<number, Failure>()
  /** By the ids of the inputs, as the other two. */
  readonly #inputs: (Input | undefined)[] = []
  #statuses = new Uint8Array(64)
  #lines = new Float64Array(64)

  begin(input: Input): void {
    const { id } = input
    this.#reserve(id)
    this.#inputs[id] = input
    this.#statuses[id] = statuses.indexOf('unfinished')
    this.#lines[id] = 0
  }

  /** Returns false if the input was not begun. */
  end({ id }: Input, broken?: Failure): boolean {
    if (this.#inputs[id] === undefined) return false
    this.#statuses[id] = statuses.indexOf(broken === undefined ? 'finished' : 'failed')
    if (broken !== undefined) this.failures.set(id, broken)
    return true
  }

  read(id: number, lines: number): void {
    if (this.#inputs[id] !== undefined) this.#lines[id] = (this.#lines[id] ?? 0) + lines
  }

  /** Returns undefined for an input that was not begun. */
  of(id: number): InputReceipt | undefined {
    const input = this.#inputs[id]
    if (input === undefined) return undefined
    const status = statuses[this.#statuses[id] ?? 0] ?? 'unfinished'
    const failure = this.failures.get(id)
    return { name: input.name, status, read: this.#lines[id] ?? 0, ...(failure === undefined ? {} : { failure }) }
  }

  /** In the order of their ids. */
  all(): InputReceipt[] {
    return this.#inputs.flatMap((_, id) => this.of(id) ?? [])
  }

  #reserve(id: number): void {
    if (id < this.#statuses.length) return
    this.#statuses = grown(this.#statuses, new Uint8Array(2 * id))
    this.#lines = grown(this.#lines, new Float64Array(2 * id))
  }
}

function grown<T extends Uint8Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
