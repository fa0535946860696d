/**
 * Frames the records of dead letters as bulk bodies, in plain JavaScript: each document byte for byte, behind an action line with
 * the operation, id and routing that it had. A body holds documents of one destination and one kind of ids.
 */
import type { Batch, Input, Lines, LongLine, Refused, Replayed } from '../flow.js'
import { nothingAround } from './action-line.js'
import type { BatchOptions } from './batcher.js'
import { isBlank, lineProblem } from './check-line.js'
import { HEAD_BYTES, readLongHead } from './dead-letter.js'
import { type ReplayRules, type Resend, destinationOf, judgeDeadLetter } from './judge-dead-letter.js'
import { originOf, withoutLineEnd } from './judge-line.js'
import { OpenBatch, type Position } from './open-batch.js'
import { type Slot, reserve } from './slots.js'
import { wholeLines } from './whole-lines.js'

const LINE_FEED = 0x0a
/** What a record has besides its document: an id, a routing, a path and a reason. */
const RECORD_BYTES = 1 << 20

export interface ReplayBatchOptions
  extends
    ReplayRules,
    Pick<BatchOptions, 'batchBytes' | 'bodyBytes' | 'batchDocs' | 'batchMs' | 'slots' | 'clock' | 'longLine'> {
  /** Where a record goes that is too long to hold: its head, then what follows that, without the line end. */
  longRecord(input: Input, head: Omit<Refused, 'document' | 'reason'>): Promise<LongLine>
}

export class ReplayBatcher {
  readonly #options: ReplayBatchOptions
  /** Longer than any record of a document that can be sent. */
  readonly #maxRecordBytes: number
  #open = new OpenBatch(nothingAround)
  /** The first document of the open batch, which the others are like, and what is needed of each should it be refused again. */
  #first: Resend | undefined
  #histories: Pick<Refused, 'origin' | 'attempts'>[] = []

  constructor(options: ReplayBatchOptions) {
    this.#options = options
    this.#maxRecordBytes = Math.ceil(options.maxDocumentBytes / 3) * 4 + RECORD_BYTES
  }

  /** As `Batcher.frame`; ids are those of the records. */
  async *frame(input: Input, _token: string, lines: Lines): AsyncGenerator<Batch> {
    const { batchMs: lateMs, clock } = this.#options
    const { kind, document = 1, line = 1 } = lines
    const at: Position = { input, kind, document, line, offset: lines.at }
    const options = { maxLineBytes: this.#maxRecordBytes, lateMs, clock }
    let long: LongLine | undefined
    /** What was read of a record that is too long, until there is enough of it, and where it stands. */
    let head = Buffer.alloc(0)
    let start = at
    try {
      for await (const piece of wholeLines(lines.bytes, options)) {
        switch (piece.kind) {
          case 'lines':
            yield* this.#lines(piece.bytes, at)
            break
          case 'tail':
            // Behind a broken end only what is whole is read; what was torn when it was written is refused by its place.
            if (piece.broken && lineProblem(piece.bytes, 0, piece.bytes.length, false) !== undefined) break
            if (!piece.broken) at.tail = { document: at.document, line: at.line, offset: at.offset }
            yield* this.#lines(piece.bytes, at)
            break
          case 'long': {
            const rest = piece.ends ? withoutLineEnd(Buffer.from(piece.bytes)) : piece.bytes
            if (long === undefined) {
              if (head.length === 0) start = { ...at }
              head = Buffer.concat([head, rest])
              if (head.length >= HEAD_BYTES || piece.ends) {
                // It is written down as it comes: what stands before it has to be on its way.
                if (!this.#open.isEmpty) yield this.#seal()
                long = await this.#pass(head, start)
                head = Buffer.alloc(0)
              }
            } else await long.write(rest)
            at.offset += piece.bytes.length
            if (!piece.ends) break
            await long?.end()
            long = undefined
            at.document += 1
            at.line += 1
            if (this.#open.isEmpty) this.#open.since = clock.now()
            this.#open.reach(at)
            break
          }
          case 'late':
            if (!this.#open.isEmpty) yield this.#seal()
            break
        }
        if (!this.#open.isEmpty && clock.now() - this.#open.since >= lateMs) yield this.#seal()
      }
    } finally {
      await long?.abandon()
    }
  }

  /** The last batch, if anything is left for it. */
  rest(): Batch | undefined {
    return this.#open.isEmpty ? undefined : this.#seal()
  }

  async *#lines(bytes: Buffer, at: Position): AsyncGenerator<Batch> {
    for (let from = 0; from < bytes.length;) {
      const lineFeed = bytes.indexOf(LINE_FEED, from)
      const to = lineFeed === -1 ? bytes.length : lineFeed + 1
      yield* this.#line(bytes.subarray(from, to), at)
      from = to
    }
  }

  async *#line(line: Buffer, at: Position): AsyncGenerator<Batch> {
    const { batchDocs, batchBytes, clock } = this.#options
    const bodyBytes = this.#options.bodyBytes?.() ?? batchBytes
    if (this.#open.isEmpty) this.#open.since = clock.now()
    const isRecord = !isBlank(line, 0, line.length)
    if (!isRecord) this.#open.passBlank(1, at)
    else {
      this.#open.slot ??= await this.#freeSlot()
      const judged = judgeDeadLetter(line, originOf(at), this.#options)
      if ('status' in judged) this.#open.refuse(judged, at)
      else {
        const { action, document, letter } = judged
        const more = this.#open.bytesFor(action, document, 0, document.length)
        const first = this.#first
        if (first !== undefined && (!areAlike(first, judged) || this.#open.bytes + more > bodyBytes)) yield this.#seal()
        this.#open.slot ??= await this.#freeSlot()
        reserve(this.#open.slot, this.#open.bytes + more)
        this.#open.add(action, document, 0, document.length, at)
        this.#first ??= judged
        this.#histories.push({ origin: letter.origin, attempts: letter.attempts })
      }
    }
    at.document += isRecord ? 1 : 0
    at.line += 1
    at.offset += line.length
    if (this.#open.docs >= batchDocs || this.#open.refusedBytes >= bodyBytes) yield this.#seal()
  }

  /** Begins to write a record down that is too long to hold; `head` is what was read of it. */
  async #pass(head: Buffer, at: Position): Promise<LongLine> {
    const { longLine, longRecord } = this.#options
    const read = readLongHead(head)
    if (read === undefined) {
      const long = await longLine(at.input, originOf(at), 'create')
      await long.write(head)
      return long
    }
    const { destination: _, ...recorded } = read.recorded
    const destination = destinationOf(read.recorded, this.#options)
    const long = await longRecord(at.input, { ...recorded, ...(destination === undefined ? {} : { destination }) })
    await long.write(head.subarray(read.length))
    return long
  }

  #seal(): Batch {
    const { slots } = this.#options
    const first = this.#first
    const histories = this.#histories
    const batch = this.#open.seal(first?.letter.operation ?? 'create', slots)
    this.#open = new OpenBatch(nothingAround)
    this.#first = undefined
    this.#histories = []
    if (first === undefined) return batch
    const historyOf = (ordinal: number) => {
      const history = histories[ordinal]
      if (history === undefined) throw new RangeError(`no document ${ordinal} in this body`)
      return history
    }
    const { ids, destination } = first
    const replayed: Replayed = { ids, destination, attempts: ordinal => historyOf(ordinal).attempts }
    return { ...batch, origins: () => ordinal => historyOf(ordinal).origin, replayed }
  }

  async #freeSlot(): Promise<Slot> {
    const slot = await this.#options.slots.acquire()
    this.#open.since = this.#options.clock.now()
    return slot
  }
}

/** Whether they may stand in one body. */
function areAlike({ letter, ids, destination: one }: Resend, { destination: other, ...next }: Resend): boolean {
  const isSamePlace = one.index === other.index && one.pipeline === other.pipeline
  const areSameFields = one.idField === other.idField && one.routingField === other.routingField
  return letter.operation === next.letter.operation && ids === next.ids && isSamePlace && areSameFields
}
