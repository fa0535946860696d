/**
 * Frames lines into bulk bodies: each line checked, an action line in front of it, the document itself byte for byte.
 * A body ends before it would pass its size, at its count of documents, or when its first document has waited long enough.
 */
import { isUtf8 } from 'node:buffer'
import type { Batch, Clock, Input, Lines, LongLine, Origin, ReadMemory } from '../../base/flow.js'
import type { Operation } from '../../base/operation.js'
import { endOfLine, isBlank, isWhiteSpace, LINE_PART_BYTES, partOf } from '../../base/text/bytes.js'
import { conditionKindOf } from '../../base/text/condition.js'
import { ownNumber } from './own-number.js'
import {
  type ActionForm,
  actionForm,
  type ActionOptions,
  type ActionTemplate,
  actionTemplate,
  namedIndex,
  ownId,
} from './action-line.js'
import { frameLines } from './frame-lines.js'
import { withoutMetadata } from './without-metadata.js'
import { judgeLine, refusedBefore } from './judge-line.js'
import { originAt } from './origin.js'
import { type Kernel, openKernel } from './kernel/kernel.js'
import { moveWithin, OpenBatch, type Position } from './open-batch.js'
import { RefusedLines } from './refused-lines.js'
import { reserve, type Slot, type SlotPool } from './slots.js'

export interface BatchOptions extends ActionOptions {
  /** Bytes of a body. A batch is sealed before it would exceed this. A larger document has a body of its own. */
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

/** Lines that are framed together, and how far they have been framed. */
interface Stretch {
  readonly bytes: Buffer
  /** True if all of them are UTF-8. Undefined: not checked yet. */
  isUtf8: boolean | undefined
  /** Set if the kernel has loaded them. */
  readonly kernel: Kernel | undefined
  from: number
}

export class Batcher {
  readonly #options: BatchOptions
  readonly #kernel: Kernel | undefined
  readonly #form: ActionForm
  #open: OpenBatch<RefusedLines>

  constructor(options: BatchOptions) {
    this.#options = options
    this.#form = actionForm(options)
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
    const template = actionTemplate(this.#options, token, lines.kind, this.#form)
    this.#kernel?.prepare(template)
    return frameLines(input, lines, {
      open: () => this.#open,
      seal: () => this.#seal(),
      lines: (bytes, at) => this.#lines(bytes, template, at),
      long: async (head, at) => {
        return { line: await longLine(input, originAt(at), operation, ownId(template, at)), head }
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
    const condition = conditionKindOf(this.#options)
    const { script } = this.#options
    return { ...batch, ...(condition === undefined ? {} : { condition }), ...(script === undefined ? {} : { script }) }
  }

  #newBatch(): OpenBatch<RefusedLines> {
    const { operation } = this.#options
    return new OpenBatch(this.#form, new RefusedLines(operation))
  }

  /** Lines with their line ends, which the last one may lack. */
  async *#lines(bytes: Buffer, template: ActionTemplate, at: Position): AsyncGenerator<Batch> {
    for (let from = 0; from < bytes.length;) {
      const stretch = this.#stretch(bytes, from)
      while (stretch.from < stretch.bytes.length) {
        if (this.#open.isEmpty) this.#open.since = this.#options.clock.now()
        // Refused lines take memory too: they wait for a slot like any other.
        const slot = (this.#open.slot ??= await this.#freeSlot())
        if (this.#frame(stretch, slot, template, at) === 'full') yield this.#seal()
      }
      from += stretch.bytes.length
    }
  }

  /** Takes the lines from `from` that the kernel can load, or one line for the plain code. */
  #stretch(bytes: Buffer, from: number): Stretch {
    const kernel = this.#kernel
    const reach = kernel?.reach(bytes, from) ?? from
    if (kernel === undefined || reach === from)
      return { bytes: bytes.subarray(from, endOfLine(bytes, from)), isUtf8: false, kernel: undefined, from: 0 }
    const loaded = bytes.subarray(from, reach)
    kernel.load(loaded)
    return { bytes: loaded, isUtf8: undefined, kernel, from: 0 }
  }

  /**
   * Frames what it can of a stretch into the open batch, whose slot this is. No promise and no generator for a single line: there
   * may be millions that only the plain code can judge. `full`: the caller must seal the batch before it continues.
   */
  #frame(stretch: Stretch, slot: Slot, template: ActionTemplate, at: Position): 'full' | undefined {
    const { bytes, from, kernel } = stretch
    if (kernel === undefined || !kernel.holds(slot) || beginsNoDocument(bytes[from]) || (at.within ?? 0) > 0)
      return this.#line(stretch, slot, template, at)
    // If some bytes are not UTF-8, each line is judged by itself.
    const isLine = stretch.isUtf8 === false
    const to = isLine ? endOfLine(bytes, from) : bytes.length
    if (isLine && !isUtf8(bytes.subarray(from, to))) return this.#line(stretch, slot, template, at)
    const open = this.#open
    const { batchDocs, maxDocumentBytes } = this.#options
    const limits = { bodyBytes: this.#bodyBytes, documents: batchDocs - open.docs, lineBytes: maxDocumentBytes }
    const framed = kernel.frame(
      from,
      to,
      slot.bytes,
      open.bytes,
      limits,
      template.id === 'offset' ? at.offset : at.document,
    )
    const indices = framed.documents === 0 || template.index === undefined ? [] : [...kernel.takeNamed()]
    if (!framed.isAscii && stretch.isUtf8 === undefined) {
      stretch.isUtf8 = isUtf8(bytes)
      if (!stretch.isUtf8) return undefined
    }
    const { blankLines, blankBytes, documents, lineBytes, bodyBytes, stop, namePlace } = framed
    if (blankLines > 0) open.passBlank(blankLines, at)
    move(at, 0, blankLines, blankBytes)
    if (documents > 0) open.extend(documents, bodyBytes, at, lineBytes)
    for (const [name, named] of indices) open.name(name, named)
    move(at, documents, documents, lineBytes)
    stretch.from += blankBytes + lineBytes
    if (open.docs >= batchDocs || (stop === 'full' && open.docs > 0)) return 'full'
    return stop === 'done' ? undefined : this.#line(stretch, slot, template, at, namePlace)
  }

  /** Frames the next line of a stretch without the kernel. `namePlace`: where the kernel wants the name of its index. */
  #line(stretch: Stretch, slot: Slot, template: ActionTemplate, at: Position, namePlace = 0): 'full' | undefined {
    const { bytes, kernel } = stretch
    // Once for all of them: the kernel may leave every line.
    const isValid = kernel !== undefined && (stretch.isUtf8 ??= isUtf8(bytes))
    const { batchDocs, maxDocumentBytes } = this.#options
    const open = this.#open
    const to = endOfLine(bytes, stretch.from)
    const part = at.within === undefined ? undefined : partOf(bytes, stretch.from)
    const from = part === 'more' ? stretch.from + LINE_PART_BYTES : stretch.from
    const isDocument = part !== 'nothing' && !isBlank(bytes, from, to)
    const ofOthers = refusedBefore(bytes, from, to, at)
    if (ofOthers !== undefined) open.refuse(open.refused.add(bytes, ofOthers.from, to, ofOthers.why, at, template), at)
    else if (!isDocument) open.passBlank(1, at)
    else {
      const number = ownNumber(at, template.id === 'offset')
      const judged = judgeLine(bytes, from, to, isValid, kernel !== undefined, template, number, maxDocumentBytes)
      if (typeof judged !== 'string') open.refuse(open.refused.add(bytes, from, to, judged, at, template), at)
      else {
        const more = open.bytesFor(judged, bytes, from, to)
        if (open.docs > 0 && open.bytes + more > this.#bodyBytes) return 'full'
        reserve(slot, open.bytes + more)
        if (template.numbers.length === 0) open.add(judged, bytes, from, to, at)
        else {
          const line = withoutMetadata(bytes.subarray(from, to), this.#options)
          open.add(judged, line, 0, line.length, at)
        }
        if (template.index !== undefined) {
          const name = namedIndex(judged, template.index)
          open.name(name, 1)
          kernel?.rememberName(namePlace, name)
        }
      }
    }
    const lineBytes = to - stretch.from
    stretch.from = to
    if (part === 'more') moveWithin(at, lineBytes)
    else move(at, isDocument || part === 'nothing' ? 1 : 0, 1, lineBytes)
    return open.docs >= batchDocs || open.refusedBytes >= this.#bodyBytes ? 'full' : undefined
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

/** A line that begins so is refused, and the kernel need not say that. */
function beginsNoDocument(first: number | undefined): boolean {
  return first !== OPENING && !isWhiteSpace(first)
}

const OPENING = 0x7b

function move(at: Position, documents: number, lines: number, bytes: number): void {
  at.document += documents
  at.line += lines
  at.offset += bytes
  if (at.within !== undefined && lines > 0) at.within = 0
}
