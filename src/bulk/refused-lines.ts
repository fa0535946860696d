import type { Origin, Refused, Rejected } from '../flow.js'
import type { Operation } from '../operation.js'
import { type ActionTemplate, ownId } from './action-line.js'
import { type Why, originOf } from './judge-line.js'
import { CARRIAGE_RETURN, LINE_FEED } from '../text/bytes.js'
import type { Position } from './open-batch.js'

const BLOCK_BYTES = 64 << 10

/** What the lines of one input have in common. */
interface Stretch {
  readonly first: number
  readonly input: Position['input']
  readonly kind: Position['kind']
  readonly template: ActionTemplate
}

/** Keeps refused lines in little memory: copies of their bytes one behind the other, and their numbers. */
export class RefusedLines implements Rejected {
  readonly #operation: Operation
  readonly #stretches: Stretch[] = []
  /** A block begins with the line of that number. */
  readonly #blocks: { readonly first: number; readonly bytes: Buffer }[] = []
  /** Bytes of the last block that are in use. */
  #filled = 0
  /** Of each line: its document number, line number, offset, and where it ends in its block. */
  readonly #numbers: number[] = []
  readonly #whys: Why[] = []

  constructor(operation: Operation) {
    this.#operation = operation
  }

  get length(): number {
    return this.#whys.length
  }

  get reasons(): Iterable<Why> {
    return this.#whys
  }

  /** Keeps the line `bytes[from, to)` without its line end. Returns how many bytes that are. */
  add(bytes: Buffer, from: number, to: number, why: Why, at: Position, template: ActionTemplate): number {
    let end = to
    if (bytes[end - 1] === LINE_FEED) end -= 1
    if (end > from && bytes[end - 1] === CARRIAGE_RETURN) end -= 1
    const length = end - from
    const { input, kind } = at
    const last = this.#stretches.at(-1)
    if (last?.input !== input || last.template !== template)
      this.#stretches.push({ first: this.length, input, kind, template })
    let block = this.#blocks.at(-1)?.bytes
    if (block === undefined || block.length - this.#filled < length) {
      block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, length))
      this.#blocks.push({ first: this.length, bytes: block })
      this.#filled = 0
    }
    this.#filled += bytes.copy(block, this.#filled, from, end)
    this.#numbers.push(at.document, at.line, at.offset, this.#filled)
    this.#whys.push(why)
    return length
  }

  originOf(number: number): Origin {
    const { input, kind } = this.#stretches.findLast(({ first }) => first <= number) as Stretch
    const [document = 0, line = 0, offset = 0] = this.#numbers.slice(number * 4, number * 4 + 3)
    return originOf({ input, kind, document, line, offset })
  }

  *[Symbol.iterator](): Iterator<Refused> {
    const numbers = this.#numbers
    let [stretches, blocks, start] = [0, 0, 0]
    let stretch = this.#stretches[0]
    let block = this.#blocks[0]
    for (const [number, { status, type, reason }] of this.#whys.entries()) {
      if (this.#stretches[stretches + 1]?.first === number) stretch = this.#stretches[++stretches]
      if (this.#blocks[blocks + 1]?.first === number) {
        block = this.#blocks[++blocks]
        start = 0
      }
      if (stretch === undefined || block === undefined) return
      const { input, kind, template } = stretch
      const at = number * 4
      const [document, offset] = [numbers[at] ?? 0, numbers[at + 2] ?? 0]
      const [line, end] = [numbers[at + 1] ?? 0, numbers[at + 3] ?? 0]
      const id = ownId(template, document)
      const refused = {
        document: block.bytes.subarray(start, end),
        operation: this.#operation,
        status,
        type,
        reason,
        origin: originOf({ input, kind, document, line, offset }),
        attempts: 0,
      }
      yield id === undefined ? refused : Object.assign(refused, { id })
      start = end
    }
  }
}
