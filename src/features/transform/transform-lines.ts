/** Transforms the documents of whole lines. What is no document stays as it is: the next stage rejects it. */
import { isUtf8 } from 'node:buffer'
import type { Lines } from '../../base/flow.js'
import type { DocumentPlace, TransformFunction } from '../../options/ingest-options.js'
import {
  type CarriedAction,
  endOfLine,
  findAction,
  isWhiteSpace,
  LINE_FEED,
  LINE_PART_BYTES,
  mayBePart,
  mayBeRefusedLine,
  MORE_FOLLOWS,
  NOTHING_COMES,
  refusedLineStart,
} from '../../base/text/bytes.js'
import { jsonFault, NO_FAULT } from '../../base/json/json-fault.js'
import { transformDocument, type Transformed, type TransformLimits } from './transform-document.js'
import { Untransformable } from './untransformable.js'

/** Lines of one input that are transformed together. */
export interface LineJob {
  /** With line ends, which the last one of an input may lack. */
  readonly bytes: Uint8Array
  readonly kind: Lines['kind']
  /** Number of the first line. */
  readonly line: number
  /** How many documents of the first line are settled. */
  readonly settled: number
  readonly path: string
  readonly file: string
  /** Whether the input broke off in the last line. Only a whole document counts then. */
  readonly isBroken: boolean
}

/** Bytes of results that are passed on together, and how long they may wait. */
const PIECE_BYTES = 1 << 20
const PIECE_MS = 200

/** Yields the lines of the results. `begin`: called with the number of each line before its document is transformed. */
export async function* transformLines(
  job: LineJob,
  transform: TransformFunction,
  limits: TransformLimits,
  begin: (line: number) => void,
): AsyncGenerator<Uint8Array> {
  const work = new Work(job, transform, limits)
  const bytes = Buffer.from(job.bytes.buffer, job.bytes.byteOffset, job.bytes.byteLength)
  const isValid = isUtf8(bytes)
  let line = job.line
  let since = performance.now()
  for (let from = 0; from < bytes.length; line += 1) {
    const to = endOfLine(bytes, from)
    begin(line)
    const given = work.give(bytes, from, to, line, isValid || isUtf8(bytes.subarray(from, to)))
    const made = given instanceof Promise ? await given : given
    if (made !== undefined) work.put(made, bytes, from, to, line === job.line ? job.settled : 0)
    from = to
    if (work.length < PIECE_BYTES && performance.now() - since < PIECE_MS) continue
    yield work.take()
    since = performance.now()
  }
  if (work.length > 0) yield work.take()
}

class Work {
  readonly #job: LineJob
  readonly #transform: TransformFunction
  readonly #limits: TransformLimits
  readonly #action: CarriedAction = { operationEnd: 0, condition: undefined, address: 0, document: 0 }
  #parts: Uint8Array[] = []
  length = 0

  constructor(job: LineJob, transform: TransformFunction, limits: TransformLimits) {
    this.#job = job
    this.#transform = transform
    this.#limits = limits
  }

  /** Gives a line to the function. Returns undefined for a line without a document, which is passed on or refused. */
  give(
    bytes: Buffer,
    from: number,
    to: number,
    line: number,
    isValid: boolean,
  ): Transformed | Promise<Transformed> | undefined {
    const { kind, path, file } = this.#job
    let object = from
    const isAction = kind === 'actions' && findAction(bytes, from, this.#action)
    if (isAction) object = this.#action.document
    while (object < to && isWhiteSpace(bytes[object])) object += 1
    const isTooLong = to - from > this.#limits.maxBytes
    const isDeletion = isAction && bytes[from + 1] === LETTER_D
    if (isTooLong || isDeletion || !isObject(bytes, object, to, isValid) || (kind === 'actions' && !isAction)) {
      // An input cannot forge this marker.
      const isForged = mayBePart(bytes, from) || (kind === 'lines' && mayBeRefusedLine(bytes, from))
      if (isForged) this.#push(refusedLineStart('DOCUMENT_NOT_JSON', 'broken JSON at byte 0 of the line'))
      this.#push(bytes.subarray(from, to))
      return undefined
    }
    const place: DocumentPlace = { file, path, line }
    return transformDocument(bytes.toString('utf8', object, to), place, this.#transform, this.#limits)
  }

  /** Writes what the line became. `settled`: how many of its documents an earlier process has settled. */
  put(made: Transformed, bytes: Buffer, from: number, to: number, settled: number): void {
    const { kind, isBroken } = this.#job
    const isAction = kind === 'actions' && findAction(bytes, from, this.#action)
    const { address, document } = this.#action
    // The last line may still grow, so its mark is where it begins.
    const end = bytes[to - 1] === LINE_FEED || isBroken ? NEW_LINE : NOTHING
    const before = isAction ? bytes.subarray(from, document) : NOTHING
    const hasId = isAction && bytes[address + 4] === LETTER_D
    const problem = problemOf(made, hasId, this.#limits.maxBytes - before.length - LINE_PART_BYTES - 1)
    if (made instanceof Untransformable || problem !== undefined) {
      this.#push(refusedLineStart('DOCUMENT_NOT_TRANSFORMED', String(problem)), before)
      // A person who corrects a document also sees its address before it.
      if (isAction) this.#push(bytes.subarray(address, document - 1), BLANK, bytes.subarray(document, to))
      else this.#push(bytes.subarray(from, to))
      return
    }
    if (made.length <= settled) this.#push(NOTHING_COMES, end)
    for (let at = settled; at < made.length; at += 1) {
      const isLast = at === made.length - 1
      this.#push(isLast ? NOTHING : MORE_FOLLOWS, before, made[at] as Buffer, isLast ? end : NEW_LINE)
    }
  }

  /** Returns what was written, in memory of its own. */
  take(): Uint8Array {
    const bytes = new Uint8Array(this.length)
    let end = 0
    for (const part of this.#parts) {
      bytes.set(part, end)
      end += part.length
    }
    this.#parts = []
    this.length = 0
    return bytes
  }

  #push(...parts: readonly Uint8Array[]): void {
    for (const part of parts) {
      if (part.length === 0) continue
      this.#parts.push(part)
      this.length += part.length
    }
  }
}

const OPENING = 0x7b
const LETTER_D = 0x64
const NOTHING = Buffer.alloc(0)
const BLANK = Buffer.from(' ')
const NEW_LINE = Buffer.from('\n')

/** Returns why what the line became cannot be sent. `most`: bytes of a document. */
function problemOf(made: Transformed, hasId: boolean, most: number): string | undefined {
  if (made instanceof Untransformable) return made.message
  if (hasId && made.length > 1) return 'the function returned several documents, but the line has the id of one'
  return made.some(({ length }) => length > most) ? `the function returned more than ${most} bytes` : undefined
}

function isObject(bytes: Buffer, from: number, to: number, isValid: boolean): boolean {
  return isValid && bytes[from] === OPENING && jsonFault(bytes, from, to) === NO_FAULT
}
