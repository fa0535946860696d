import type { Member, Origin, Refused, Rejected } from '../../base/flow.js'
import type { Operation } from '../../base/operation.js'
import { type ActionTemplate, ownIdStart } from './action-line.js'
import type { Why } from './judge-line.js'
import { enterMember, originIn } from './origin.js'
import { CARRIAGE_RETURN, LINE_FEED } from '../../base/text/bytes.js'
import { ownNumber } from './own-number.js'
import type { Position } from './open-batch.js'

const BLOCK_BYTES = 64 << 10

/** The facts that the lines of one input share. */
interface Stretch {
  readonly first: number
  readonly input: Position['input']
  readonly template: ActionTemplate
  readonly kind: Position['kind']
  readonly name: string
  /** The file of an archive that holds the first line. */
  readonly member: Member | undefined
  /** The start of Sluice's own ids. */
  readonly idStart: string | undefined
}

type TakeApart = (line: Buffer) => Pick<Refused, 'document'> & Partial<Refused>

/** Numbers that are kept of each line. */
const COLUMNS = 5

/** Keeps refused lines in little memory: copies of their bytes one behind the other, and their numbers. */
export class RefusedLines implements Rejected {
  readonly #operation: Operation
  readonly #stretches: Stretch[] = []
  /** A block begins with the line of that number. */
  readonly #blocks: { readonly first: number; readonly bytes: Buffer }[] = []
  /** Bytes of the last block that are in use. */
  #filled = 0
  /** For each line: its document number, line number, offset, its end in its block, and its number among those of its line. */
  readonly #numbers: number[] = []
  readonly #whys: Why[] = []
  readonly #takeApart: TakeApart

  /** `takeApart`: finds what a line carries beside its document. */
  constructor(operation: Operation, takeApart: TakeApart = line => ({ document: line })) {
    this.#operation = operation
    this.#takeApart = takeApart
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
      this.#stretches.push({
        first: this.length,
        input,
        template,
        kind,
        name: input.name,
        member: enterMember(at),
        idStart: ownIdStart(template),
      })
    let block = this.#blocks.at(-1)?.bytes
    if (block === undefined || block.length - this.#filled < length) {
      block = Buffer.allocUnsafeSlow(Math.max(BLOCK_BYTES, length))
      this.#blocks.push({ first: this.length, bytes: block })
      this.#filled = 0
    }
    this.#filled += bytes.copy(block, this.#filled, from, end)
    this.#numbers.push(at.document, at.line, at.offset, this.#filled, (at.within ?? 0) + 1)
    this.#whys.push(why)
    return length
  }

  originOf(number: number): Origin {
    const { name, kind, member } = this.#stretches.findLast(({ first }) => first <= number) as Stretch
    const [document = 0, line = 0, offset = 0, , part] = this.#numbers.slice(number * COLUMNS, (number + 1) * COLUMNS)
    return originIn(name, kind, document, line, offset, member, part)
  }

  /** Yields the refused lines. Lines of one stretch share its objects, because there may be millions of lines. */
  *[Symbol.iterator](): Iterator<Refused> {
    const [numbers, whys, operation, takeApart] = [this.#numbers, this.#whys, this.#operation, this.#takeApart]
    let [stretches, blocks, start] = [0, 0, 0]
    let stretch = this.#stretches[0]
    let block = this.#blocks[0]
    for (let number = 0; number < whys.length; number += 1) {
      if (this.#stretches[stretches + 1]?.first === number) stretch = this.#stretches[++stretches]
      if (this.#blocks[blocks + 1]?.first === number) {
        block = this.#blocks[++blocks]
        start = 0
      }
      if (stretch === undefined || block === undefined) return
      const at = number * COLUMNS
      const document = numbers[at] as number
      const end = numbers[at + 3] as number
      const { status, type, reason } = whys[number] as Why
      const { name, kind, member, idStart, template } = stretch
      const part = numbers[at + 4] as number
      const offset = numbers[at + 2] as number
      const origin = originIn(name, kind, document, numbers[at + 1] as number, offset, member, part)
      const id =
        idStart === undefined
          ? undefined
          : idStart + ownNumber({ kind, document, offset, within: part - 1 }, template.id === 'offset')
      const parts = takeApart(block.bytes.subarray(start, end))
      start = end
      yield { operation, ...(id === undefined ? {} : { id }), status, type, reason, origin, attempts: 0, ...parts }
    }
  }
}
