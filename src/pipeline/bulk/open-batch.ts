import type { Batch, Input, Lines, Mark, Member, Origin, Rejected, Span } from '../../base/flow.js'
import { copyInto } from '../../base/memory.js'
import type { BatchOperation } from '../../base/operation.js'
import { LINE_FEED, endWithoutSpace } from '../../base/text/bytes.js'
import type { Around } from './action-line.js'
import { enterMember, originIn } from './origin.js'
import type { Slot, SlotPool } from './slots.js'

/** How far an input has been read: number, line and offset of what comes next. */
export interface Position {
  readonly input: Input
  readonly kind: Lines['kind']
  document: number
  line: number
  offset: number
  /** The file of an archive that holds the line, or one before it. */
  member?: Member | undefined
  /** How many documents of its line come before it. Undefined: the lines have no parts. */
  within?: number | undefined
  /** Start of a last line without a line end. */
  tail?: { readonly document: number; readonly line: number; readonly offset: number }
}

/** A batch that is being filled. `R` keeps the lines that cannot be sent. */
export class OpenBatch<R extends Rejected = Rejected> {
  docs = 0
  #blank = 0
  /** Bytes of the slot that are in use. */
  bytes = 0
  refusedBytes = 0
  /** When its first line came, on the batcher's clock. */
  since = 0
  slot: Slot | undefined
  readonly #spans: Span[] = []
  readonly refused: R
  /** Documents by the index that they name. */
  readonly #indices = new Map<string, number>()
  readonly #taken: { input: Input; lines: number }[] = []
  /** The positions themselves, which move on until the batch is sealed. */
  readonly #reached: Position[] = []
  /** A document at this position belongs to the last span. */
  #next: { input: Input; offset: number } | undefined

  readonly #around: Around
  readonly #aroundBytes: number

  constructor(around: Around, refused: R) {
    this.refused = refused
    this.#around = around
    this.#aroundBytes = Buffer.byteLength(around.opening + around.closing)
  }

  get isEmpty(): boolean {
    return this.#reached.length === 0
  }

  /** Returns the bytes that the document in `bytes[from, to)` will take. */
  bytesFor(action: string, bytes: Buffer, from: number, to: number): number {
    const lineEnd = bytes[to - 1] === LINE_FEED ? 0 : 1
    return Buffer.byteLength(action) + this.#aroundBytes + to - from + lineEnd
  }

  /** Appends it. The slot must have room. */
  add(action: string, bytes: Buffer, from: number, to: number, at: Position): void {
    const body = (this.slot as Slot).bytes
    const objectEnd = endWithoutSpace(bytes, to)
    let end = this.bytes
    end += body.write(action, end)
    end += body.write(this.#around.opening, end)
    end += copyInto(body, end, bytes.subarray(from, objectEnd))
    end += body.write(this.#around.closing, end)
    end += bytes.copy(body, end, objectEnd, to)
    if (bytes[to - 1] !== LINE_FEED) {
      body[end] = LINE_FEED
      end += 1
    }
    this.extend(1, end - this.bytes, at, to - from)
  }

  /** Counts documents that the slot already holds after its `bytes`. `at`: their first line. `lineBytes`: the length of all their lines. */
  extend(docs: number, bodyBytes: number, at: Position, lineBytes: number): void {
    this.bytes += bodyBytes
    this.docs += docs
    this.#take(at, docs)
    const span = this.#spans.at(-1)
    const part = (at.within ?? 0) + 1
    if (span !== undefined && part === 1 && this.#next?.input === at.input && this.#next.offset === at.offset)
      span.docs += docs
    else {
      const { input, kind, document, line, offset } = at
      this.#spans.push({
        input,
        kind,
        document,
        line,
        from: offset,
        member: enterMember(at),
        docs,
        ...(part === 1 ? {} : { part }),
      })
    }
    this.#next = part === 1 ? { input: at.input, offset: at.offset + lineBytes } : undefined
  }

  /** Counts documents that name this index. */
  name(index: string, documents: number): void {
    this.#indices.set(index, (this.#indices.get(index) ?? 0) + documents)
  }

  /** Counts a line that `refused` already holds, and its bytes. */
  refuse(bytes: number, at: Position): void {
    this.refusedBytes += bytes + 256
    this.#take(at, 1)
  }

  passBlank(lines: number, at: Position): void {
    this.#blank += lines
    this.#take(at, lines)
  }

  /** This batch settles everything before `at`, whatever else it holds. */
  reach(at: Position): void {
    if (this.#reached.at(-1) !== at) this.#reached.push(at)
  }

  seal(operation: BatchOperation, pool: SlotPool): Batch {
    const { docs, slot } = this
    const aroundBytes = this.#aroundBytes
    const spans = this.#spans
    const bytes = slot === undefined ? Buffer.alloc(0) : slot.bytes.subarray(0, this.bytes)
    return {
      spans,
      docs,
      taken: this.#taken,
      blank: this.#blank,
      ends: this.#reached.map(at => ({ input: at.input, mark: markOf(at) })),
      refused: this.refused,
      bytes,
      operation,
      ...(this.#indices.size === 0 ? {} : { indices: this.#indices }),
      origins: () => origins(spans, bytes, docs, aroundBytes),
      release: () => {
        if (slot !== undefined) pool.release(slot)
      },
    }
  }

  #take(at: Position, lines: number): void {
    const { input } = at
    this.reach(at)
    const last = this.#taken.at(-1)
    if (last?.input === input) last.lines += lines
    else this.#taken.push({ input, lines })
  }
}

/** Moves a position behind a document that others of the same line follow. */
export function moveWithin(at: Position, bytes: number): void {
  at.within = (at.within ?? 0) + 1
  at.offset += bytes
}

function markOf(at: Position): Mark {
  const { document, line, offset } = at.tail ?? at
  // A last line that may grow is read again from its start.
  const within = at.tail === undefined && at.within !== undefined && at.within > 0 ? { within: at.within } : {}
  return { kind: at.kind, document, line, offset, tail: at.offset - offset, ...within }
}

/**
 * Returns where each document of a body came from. Computes this from the body and its spans, and only for a body with errors:
 * documents of a span lie one behind the other in the input too. `aroundBytes` were put around each of them. Reads the body at once, so that it may change afterwards.
 */
function origins(
  spans: readonly Span[],
  bytes: Uint8Array,
  documents: number,
  aroundBytes: number,
): (ordinal: number) => Origin {
  const ends = documentEnds(bytes, documents, aroundBytes)
  const firsts: number[] = []
  let first = 0
  for (const span of spans) {
    firsts.push(first)
    first += span.docs
  }
  let at = 0
  return ordinal => {
    if (ordinal < (firsts[at] ?? 0)) at = 0
    while (ordinal >= (firsts[at + 1] ?? Infinity)) at += 1
    const span = spans[at]
    if (span === undefined || ordinal >= documents) throw new RangeError(`no document ${ordinal} in this body`)
    const before = firsts[at] ?? 0
    const document = span.document + ordinal - before
    const offset = span.from + (ends[ordinal] ?? 0) - (ends[before] ?? 0)
    return originIn(span.input.name, span.kind, document, span.line + ordinal - before, offset, span.member, span.part)
  }
}

/** Bytes of all documents' lines before each, as they were read: without action lines and what was put around. */
function documentEnds(bytes: Uint8Array, documents: number, aroundBytes: number): Float64Array {
  const ends = new Float64Array(documents + 1)
  let at = 0
  for (let ordinal = 0; ordinal < documents; ordinal += 1) {
    const document = bytes.indexOf(LINE_FEED, at) + 1
    at = bytes.indexOf(LINE_FEED, document) + 1
    ends[ordinal + 1] = (ends[ordinal] ?? 0) + at - document - aroundBytes
  }
  return ends
}
