/**
 * Frames lines into bulk bodies: each line checked, an action line in front of it, the document itself byte for byte.
 * A body ends before it would pass its size, at its count of documents, or when its first document has waited long enough.
 */
import { isUtf8 } from 'node:buffer'
import type { Batch, Clock, Input, Lines, LongLine, Operation, Origin, ReadMemory } from '../flow.js'
import { LINE_FEED } from '../text/bytes.js'
import { type ActionOptions, type ActionTemplate, actionTemplate, nothingAround, ownId } from './action-line.js'
import { isBlank } from './check-line.js'
import { frameLines } from './frame-lines.js'
import { judgeLine, originOf } from './judge-line.js'
import { type Kernel, openKernel } from './kernel/kernel.js'
import { OpenBatch, type Position } from './open-batch.js'
import { type Slot, type SlotPool, reserve } from './slots.js'

export interface BatchOptions extends ActionOptions {
  /** Bytes of a body. A batch is sealed before it would exceed this. A larger document goes alone. */
  readonly batchBytes: number
  /** Returns the limit to use instead of `batchBytes` from now on. Called often, and never returns more. */
  bodyBytes?(): number
  readonly batchDocs: number
  /** A batch is sealed when its first document has waited this long. */
  readonly batchMs: number
  /** Longest line that is sent at all. */
  readonly maxDocumentBytes: number
  readonly slots: SlotPool
  readonly clock: Clock
  /** Leaves every line to plain JavaScript. Default false: the kernel frames what is usual. The result is the same. */
  readonly plain?: boolean
  /** Takes lines longer than `maxDocumentBytes`. `id`: one of Sluice's own. */
  longLine(input: Input, origin: Origin, operation: Operation, id?: string): Promise<LongLine>
}

/** Whole lines that the kernel has loaded, and how far they have been framed. */
interface Stretch {
  readonly bytes: Buffer
  readonly isUtf8: boolean
  from: number
}

export class Batcher {
  readonly #options: BatchOptions
  readonly #kernel: Kernel | undefined
  #open: OpenBatch

  constructor(options: BatchOptions) {
    this.#options = options
    this.#kernel = options.plain === true ? undefined : openKernel(options.slots.memory)
    this.#open = this.#newBatch()
  }

  /** Memory that is framed without a copy. For one input at a time. Undefined if there is no such memory. */
  get reading(): ReadMemory | undefined {
    return this.#kernel && this.#options.slots.memory?.reading
  }

  /**
   * Yields the full batches of one input. The rest stays for the next input, or for `rest`. If the bytes end in an
   * error, frames the whole lines before it, then throws it.
   */
  frame(input: Input, token: string, lines: Lines): AsyncGenerator<Batch> {
    const { maxDocumentBytes, batchMs, clock, operation, longLine } = this.#options
    const template = actionTemplate(this.#options, token)
    this.#kernel?.prepare(template)
    return frameLines(input, lines, {
      open: () => this.#open,
      seal: () => this.#seal(),
      lines: (bytes, at) => this.#lines(bytes, template, at),
      long: async (head, at) => {
        return { line: await longLine(input, originOf(at), operation, ownId(template, at.document)), head }
      },
      maxLineBytes: maxDocumentBytes,
      headBytes: 0,
      batchMs,
      clock,
    })
  }

  /** The last batch, if anything is left for it. */
  rest(): Batch | undefined {
    return this.#open.isEmpty ? undefined : this.#seal()
  }

  #seal(): Batch {
    const batch = this.#open.seal(this.#options.operation, this.#options.slots)
    this.#open = this.#newBatch()
    return batch
  }

  #newBatch(): OpenBatch {
    return new OpenBatch(this.#options.around ?? nothingAround)
  }

  /** Lines with their line ends, which the last one may lack. */
  async *#lines(bytes: Buffer, template: ActionTemplate, at: Position): AsyncGenerator<Batch> {
    for (let from = 0; from < bytes.length;) {
      const kernel = this.#kernel
      const reach = kernel?.reach(bytes, from) ?? from
      const to = reach > from ? reach : endOfLine(bytes, from)
      if (kernel === undefined || reach === from) yield* this.#line(bytes, from, to, false, template, at)
      else {
        const stretch = load(kernel, bytes.subarray(from, to))
        while (stretch.from < stretch.bytes.length) {
          if (this.#open.isEmpty) this.#open.since = this.#options.clock.now()
          const slot = (this.#open.slot ??= await this.#freeSlot())
          const stop = this.#frame(kernel, stretch, slot, at)
          if (stop === 'full') yield this.#seal()
          else if (stop === 'line') {
            const end = endOfLine(stretch.bytes, stretch.from)
            yield* this.#line(stretch.bytes, stretch.from, end, stretch.isUtf8, template, at)
            stretch.from = end
          }
        }
      }
      from = to
    }
  }

  /** Lets the kernel frame what it can into the open batch, whose slot this is. `line`: the next line is not for the kernel. */
  #frame(kernel: Kernel, stretch: Stretch, slot: Slot, at: Position): 'full' | 'line' | 'done' {
    const open = this.#open
    const { bytes, from } = stretch
    const { batchDocs, maxDocumentBytes } = this.#options
    // If some bytes are not UTF-8, each line is judged by itself.
    const to = stretch.isUtf8 ? bytes.length : endOfLine(bytes, from)
    if (!kernel.holds(slot) || !(stretch.isUtf8 || isUtf8(bytes.subarray(from, to)))) return 'line'
    const limits = { bodyBytes: this.#bodyBytes, documents: batchDocs - open.docs, lineBytes: maxDocumentBytes }
    const framed = kernel.frame(from, to, slot.bytes, open.bytes, limits, at.document)
    const { blankLines, blankBytes, documents, lineBytes, bodyBytes, stop } = framed
    if (blankLines > 0) open.passBlank(blankLines, at)
    move(at, 0, blankLines, blankBytes)
    if (documents > 0) open.extend(documents, bodyBytes, at, lineBytes)
    move(at, documents, documents, lineBytes)
    stretch.from += blankBytes + lineBytes
    if (open.docs >= batchDocs || (stop === 'full' && open.docs > 0)) return 'full'
    return stop === 'done' ? 'done' : 'line'
  }

  async *#line(
    bytes: Buffer,
    from: number,
    to: number,
    utf8: boolean,
    template: ActionTemplate,
    at: Position,
  ): AsyncGenerator<Batch> {
    const { batchDocs, clock } = this.#options
    const bodyBytes = this.#bodyBytes
    if (this.#open.isEmpty) this.#open.since = clock.now()
    const isDocument = !isBlank(bytes, from, to)
    if (!isDocument) this.#open.passBlank(1, at)
    else {
      // Refused lines take memory too: they wait for a slot like any other.
      this.#open.slot ??= await this.#freeSlot()
      const judged = judgeLine(bytes, from, to, utf8, template, at, this.#options)
      if (typeof judged !== 'string') this.#open.refuse(judged, at)
      else {
        const more = this.#open.bytesFor(judged, bytes, from, to)
        if (this.#open.docs > 0 && this.#open.bytes + more > bodyBytes) yield this.#seal()
        this.#open.slot ??= await this.#freeSlot()
        reserve(this.#open.slot, this.#open.bytes + more)
        this.#open.add(judged, bytes, from, to, at)
      }
    }
    move(at, isDocument ? 1 : 0, 1, to - from)
    if (this.#open.docs >= batchDocs || this.#open.refusedBytes >= bodyBytes) yield this.#seal()
  }

  get #bodyBytes(): number {
    return this.#options.bodyBytes?.() ?? this.#options.batchBytes
  }

  async #freeSlot(): Promise<Slot> {
    const slot = await this.#options.slots.acquire()
    // Waiting for memory is not waiting for documents: a busy cluster gets full bodies.
    this.#open.since = this.#options.clock.now()
    return slot
  }
}

function load(kernel: Kernel, bytes: Buffer): Stretch {
  kernel.load(bytes)
  return { bytes, isUtf8: isUtf8(bytes), from: 0 }
}

function move(at: Position, documents: number, lines: number, bytes: number): void {
  at.document += documents
  at.line += lines
  at.offset += bytes
}

/** Returns the offset after the line feed, or the end if there is none. */
function endOfLine(bytes: Buffer, from: number): number {
  const lineFeed = bytes.indexOf(LINE_FEED, from)
  return lineFeed === -1 ? bytes.length : lineFeed + 1
}
