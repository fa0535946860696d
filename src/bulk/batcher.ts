/**
 * Frames lines into bulk bodies: each line checked, an action line in front of it, the document itself byte for byte.
 * A body ends before it would pass its size, at its count of documents, or when its first document has waited long enough.
 */
import { isUtf8 } from 'node:buffer'
import { failure } from '../failure/failure.js'
import type { Batch, Clock, Input, Lines, LongLine, Operation, Origin, Refused } from '../flow.js'
import { type ActionOptions, type ActionWriter, actionWriter } from './action-line.js'
import { isBlank, lineProblem } from './check-line.js'
import { OpenBatch, type Position } from './open-batch.js'
import { type Slot, type SlotPool, reserve } from './slots.js'
import { wholeLines } from './whole-lines.js'

const LINE_FEED = 0x0a

export interface BatchOptions extends ActionOptions {
  /** A body is sent before it would grow past this. A larger document goes alone. */
  readonly batchBytes: number
  readonly batchDocs: number
  /** A body that is not full is sent when its first document has waited for so long. */
  readonly batchMs: number
  /** Longest line that is sent at all. */
  readonly maxDocumentBytes: number
  readonly slots: SlotPool
  readonly clock: Clock
  /** Where lines longer than `maxDocumentBytes` go. */
  longLine(input: Input, origin: Origin, operation: Operation): Promise<LongLine>
}

export class Batcher {
  readonly #options: BatchOptions
  #open: OpenBatch

  constructor(options: BatchOptions) {
    this.#options = options
    this.#open = new OpenBatch()
  }

  /**
   * The full batches of one input; what does not fill a batch stays for the next input, or `rest`. When the input's bytes end in
   * an error, what is whole before it is framed; then the error is thrown.
   */
  async *frame(input: Input, token: string, lines: Lines): AsyncGenerator<Batch> {
    const { maxDocumentBytes: maxLineBytes, batchMs: lateMs, clock } = this.#options
    const actions = actionWriter(this.#options, token)
    const at: Position = { input, kind: lines.kind, document: 1, line: 1, offset: lines.at }
    let long: LongLine | undefined
    try {
      for await (const piece of wholeLines(lines.bytes, { maxLineBytes, lateMs, clock })) {
        switch (piece.kind) {
          case 'lines':
            yield* this.#lines(piece.bytes, actions, at)
            break
          case 'tail':
            // Behind a broken end only a whole object is a document; anything else is a piece that is missing its rest.
            if (!piece.broken || lineProblem(piece.bytes, 0, piece.bytes.length, false) === undefined) {
              yield* this.#lines(piece.bytes, actions, at)
            }
            break
          case 'long':
            long ??= await this.#options.longLine(input, originOf(at), this.#options.operation)
            await long.write(piece.ends ? withoutLineEnd(Buffer.from(piece.bytes)) : piece.bytes)
            at.offset += piece.bytes.length
            if (!piece.ends) break
            await long.end()
            long = undefined
            at.document += 1
            at.line += 1
            break
          case 'late':
            // What is open has waited for as long as the bytes did; timers may be a moment ahead of the clock.
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

  #seal(): Batch {
    const batch = this.#open.seal(this.#options.operation, this.#options.slots)
    this.#open = new OpenBatch()
    return batch
  }

  async *#lines(bytes: Buffer, actions: ActionWriter, at: Position): AsyncGenerator<Batch> {
    const { batchBytes, batchDocs, clock } = this.#options
    const utf8 = isUtf8(bytes)
    for (let from = 0, to = 0; from < bytes.length; from = to) {
      const lineFeed = bytes.indexOf(LINE_FEED, from)
      to = lineFeed === -1 ? bytes.length : lineFeed + 1
      if (this.#open.isEmpty) this.#open.since = clock.now()
      if (isBlank(bytes, from, to)) this.#open.passBlank(at.input)
      else {
        // Refused lines take memory too: they wait for a slot like any other.
        this.#open.slot ??= await this.#freeSlot()
        const action = this.#action(bytes, from, to, utf8, actions, at)
        if (action !== undefined) {
          const more = Buffer.byteLength(action) + to - from + 1
          if (this.#open.docs > 0 && this.#open.bytes + more > batchBytes) yield this.#seal()
          this.#open.slot ??= await this.#freeSlot()
          reserve(this.#open.slot, this.#open.bytes + more)
          this.#open.add(action, bytes, from, to, at)
        }
        at.document += 1
      }
      at.line += 1
      at.offset += to - from
      if (this.#open.docs >= batchDocs || this.#open.refusedBytes >= batchBytes) yield this.#seal()
    }
  }

  async #freeSlot(): Promise<Slot> {
    const slot = await this.#options.slots.acquire()
    // Waiting for memory is not waiting for documents: a busy cluster gets full bodies.
    this.#open.since = this.#options.clock.now()
    return slot
  }

  /** The document's action line; undefined for a line that is not sent. */
  #action(
    bytes: Buffer,
    from: number,
    to: number,
    utf8: boolean,
    actions: ActionWriter,
    at: Position,
  ): string | undefined {
    const problem = lineProblem(bytes, from, to, utf8)
    if (problem !== undefined) return this.#refuse('DOCUMENT_NOT_JSON', { problem }, bytes.subarray(from, to), at)
    if (to - from > this.#options.maxDocumentBytes) {
      const evidence = { bytes: to - from, limit: this.#options.maxDocumentBytes }
      return this.#refuse('DOCUMENT_TOO_LARGE', evidence, bytes.subarray(from, to), at)
    }
    const action = actions.write(at.document, actions.reads ? bytes.toString('utf8', from, to) : '')
    return typeof action === 'string'
      ? action
      : this.#refuse('DOCUMENT_ID_INVALID', action, bytes.subarray(from, to), at)
  }

  #refuse(
    type: 'DOCUMENT_NOT_JSON' | 'DOCUMENT_TOO_LARGE' | 'DOCUMENT_ID_INVALID',
    evidence: Record<string, string | number>,
    line: Buffer,
    at: Position,
  ): undefined {
    const refused: Refused = {
      document: Buffer.from(withoutLineEnd(line)),
      operation: this.#options.operation,
      status: 0,
      type,
      reason: failure(type, evidence as never).message,
      origin: originOf(at),
      attempts: 0,
    }
    this.#open.refuse(refused, at.input)
    return undefined
  }
}

function originOf(at: Position): Origin {
  const { kind, document, line, offset } = at
  return kind === 'lines' ? { input: at.input.name, document, line, offset } : { input: at.input.name, document }
}

function withoutLineEnd(line: Buffer): Buffer {
  let end = line.length
  if (line[end - 1] === LINE_FEED) end -= 1
  if (line[end - 1] === 0x0d) end -= 1
  return line.subarray(0, end)
}
