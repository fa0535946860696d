/**
 * Frames the records of dead letters as bulk bodies, in plain JavaScript: each document byte for byte, behind an action line with
 * the operation, id and routing that it had. A body holds documents of one destination and one kind of ids.
 */
import type { Addressed, Batch, Destination, Input, Lines, LongLine, Refused } from '../../base/flow.js'
import { endOfLine, isBlank } from '../../base/text/bytes.js'
import type { BatchOptions } from './batcher.js'
import { HEAD_BYTES, readLongHead } from './dead-letter.js'
import { frameLines } from './frame-lines.js'
import { type ReadAgain, type ReplayRules, type Resend, destinationOf, judgeDeadLetter } from './judge-dead-letter.js'
import { originAt } from './origin.js'
import { OpenBatch, type Position } from './open-batch.js'
import { type Slot, reserve } from './slots.js'

/** Space for the rest of a record: an id, a routing, a path and a reason. */
const RECORD_BYTES = 1 << 20

export interface ReplayBatchOptions
  extends
    ReplayRules,
    Pick<BatchOptions, 'batchBytes' | 'bodyBytes' | 'batchDocs' | 'batchMs' | 'slots' | 'clock' | 'longLine'> {
  /** Takes a record that is too long to hold: its head, then the rest without the line end. */
  longRecord(input: Input, head: Omit<Refused, 'document' | 'reason'>): Promise<LongLine>
  /** Reads a document whose record holds only its beginning. */
  readonly readAgain: ReadAgain
  /** Throws if a script must not run, because an earlier process may have sent its document. */
  allowScript?(): void
}

export class ReplayBatcher {
  readonly #options: ReplayBatchOptions
  /** Longer than any record of a document that can be sent. */
  readonly #maxRecordBytes: number
  #open = newBatch()
  /** The first document of the open batch, which the others are like, and what is needed of each should it be refused again. */
  #first: Resend | undefined
  #histories: Pick<Refused, 'origin' | 'attempts'>[] = []

  constructor(options: ReplayBatchOptions) {
    this.#options = options
    this.#maxRecordBytes = Math.ceil(options.maxDocumentBytes / 3) * 4 + RECORD_BYTES
  }

  /** Records are taken apart by JavaScript, wherever they lie. */
  readonly reading = undefined

  /** Frames like `Batcher.frame`, with the ids of the records. */
  frame(input: Input, _token: string, lines: Lines): AsyncGenerator<Batch> {
    const { batchMs, clock } = this.#options
    return frameLines(input, lines, {
      open: () => this.#open,
      seal: () => this.#seal(),
      lines: (bytes, at) => this.#lines(bytes, at),
      long: async (head, at) => await this.#pass(head, at),
      maxLineBytes: this.#maxRecordBytes,
      headBytes: HEAD_BYTES,
      batchMs,
      clock,
    })
  }

  /** The last batch, if anything is left for it. */
  rest(): Batch | undefined {
    return this.#open.isEmpty ? undefined : this.#seal()
  }

  async *#lines(bytes: Buffer, at: Position): AsyncGenerator<Batch> {
    for (let from = 0; from < bytes.length;) {
      const to = endOfLine(bytes, from)
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
      const judged = await judgeDeadLetter(line, originAt(at), this.#options, this.#options.readAgain)
      if ('status' in judged) {
        this.#open.refused.push(judged)
        this.#open.refuse(judged.document.length, at)
      } else {
        const { action, document, letter } = judged
        if (judged.destination.script !== undefined) this.#options.allowScript?.()
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

  /** Yields a long record: first its head, then the rest. `head`: the bytes read so far. */
  async #pass(head: Buffer, at: Position): Promise<{ line: LongLine; head: Uint8Array }> {
    const { longLine, longRecord } = this.#options
    const read = readLongHead(head)
    if (read === undefined) return { line: await longLine(at.input, originAt(at), 'create'), head }
    const { destination: _, run, ...recorded } = read.recorded
    if (run !== undefined) this.#options.heard?.(run)
    const destination = destinationOf(read.recorded, this.#options)
    const line = await longRecord(at.input, { ...recorded, ...(destination === undefined ? {} : { destination }) })
    return { line, head: head.subarray(read.length) }
  }

  #seal(): Batch {
    const { slots } = this.#options
    const first = this.#first
    const histories = this.#histories
    const batch = this.#open.seal(first?.letter.operation ?? 'create', slots)
    this.#open = newBatch()
    this.#first = undefined
    this.#histories = []
    if (first === undefined) return batch
    const historyOf = (ordinal: number) => {
      const history = histories[ordinal]
      if (history === undefined) throw new RangeError(`no document ${ordinal} in this body`)
      return history
    }
    const { ids, destination, condition } = first
    const addressed: Addressed = { ids, destination, attempts: ordinal => historyOf(ordinal).attempts }
    const sealed = { ...batch, origins: () => (ordinal: number) => historyOf(ordinal).origin, addressed }
    const { script } = destination
    return { ...sealed, ...(condition === undefined ? {} : { condition }), ...(script === undefined ? {} : { script }) }
  }

  async #freeSlot(): Promise<Slot> {
    const slot = await this.#options.slots.acquire()
    this.#open.since = this.#options.clock.now()
    return slot
  }
}

function newBatch(): OpenBatch<Refused[]> {
  // The line of a document already has the text around it: each letter may have another operation.
  return new OpenBatch({ opening: '', closing: '' }, [])
}

/** Returns whether two letters may stand in one body. */
function areAlike(one: Resend, other: Resend): boolean {
  const isSameKind = one.ids === other.ids && one.condition === other.condition
  return (
    one.letter.operation === other.letter.operation && isSameKind && isSamePlace(one.destination, other.destination)
  )
}

function isSamePlace(one: Destination, other: Destination): boolean {
  return places.every(name => one[name] === other[name]) && JSON.stringify(one.script) === JSON.stringify(other.script)
}

const places = Object.keys({
  index: true,
  pipeline: true,
  ids: true,
  idField: true,
  idSeparator: true,
  routingField: true,
  versionField: true,
  ifSeqNoField: true,
  ifPrimaryTermField: true,
} satisfies Record<Exclude<keyof Destination, 'script'>, true>) as Exclude<keyof Destination, 'script'>[]
