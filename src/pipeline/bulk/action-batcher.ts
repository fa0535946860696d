/**
 * Frames lines that carry their own action: dumps. Their format has checked them, so nothing is parsed here. A document without an id
 * gets one of Sluice's own. The ids of a batch come from one source, and its conditions are of one kind.
 */
import type { Batch, Input, Lines } from '../../base/flow.js'
import { copyInto } from '../../base/memory.js'
import { type BatchOperation, type BulkForm, bulkFormOf, type Operation } from '../../base/operation.js'
import {
  type CarriedAction,
  copyBytes,
  endOfLine,
  findAction,
  isBlank,
  LINE_FEED,
  LINE_PART_BYTES,
  partNumber,
  partOf,
} from '../../base/text/bytes.js'
import { actionTemplate } from './action-line.js'
import type { BatchOptions } from './batcher.js'
import { hasIdAt, idIn, carriedOperation, takeApart } from './carried-action.js'
import { frameLines } from './frame-lines.js'
import { refusedBefore } from './judge-line.js'
import { originAt } from './origin.js'
import { moveWithin, OpenBatch, type Position } from './open-batch.js'
import { RefusedLines } from './refused-lines.js'
import { reserve, type Slot } from './slots.js'

interface ActionBatchOptions extends Pick<
  BatchOptions,
  'batchBytes' | 'bodyBytes' | 'batchDocs' | 'batchMs' | 'maxDocumentBytes' | 'slots' | 'clock' | 'longLine'
> {
  /** The operation for a document whose line names none. */
  readonly operation: Operation
  /** Whether each line names its index. */
  readonly namesIndex?: boolean
}

/** How many documents had an id, and how many got one. */
export interface IdCounts {
  given: number
  own: number
}

/** Space for what a line carries beside its document. */
const ACTION_BYTES = 64 << 10

export class ActionBatcher {
  readonly #options: ActionBatchOptions
  readonly #found: CarriedAction = { operationEnd: 0, condition: undefined, address: 0, document: 0 }
  readonly counts: IdCounts = { given: 0, own: 0 }
  #open: OpenBatch<RefusedLines>
  #operation: BatchOperation | undefined
  #ids: Batch['ids']
  #condition: Batch['condition']
  #formed:
    | { readonly operation: Operation; readonly condition: Batch['condition']; readonly form: BulkForm }
    | undefined

  constructor(options: ActionBatchOptions) {
    this.#options = options
    this.#open = this.#newBatch()
  }

  /** Yields the full batches of one input. `token`: the part of Sluice's own ids that belongs to the input. */
  frame(input: Input, token: string, lines: Lines): AsyncGenerator<Batch> {
    const { maxDocumentBytes, batchMs, clock, operation, longLine } = this.#options
    return frameLines(input, lines, {
      open: () => this.#open,
      seal: () => this.#seal(),
      lines: (bytes, at) => this.#lines(bytes, token, at),
      long: async (head, at) => {
        const found = this.#found
        // Only a refused line carries none.
        if (!findAction(head, 0, found)) return { line: await longLine(input, originAt(at), operation), head }
        const id = idIn(head, found) ?? `${token}-${at.document}`
        const line = await longLine(input, originAt(at), carriedOperation(head, 1, found.operationEnd) ?? operation, id)
        return { line, head: head.subarray(found.document) }
      },
      maxLineBytes: maxDocumentBytes,
      headBytes: ACTION_BYTES,
      batchMs,
      clock,
    })
  }

  /** The last batch, if anything is left for it. */
  rest(): Batch | undefined {
    return this.#open.isEmpty ? undefined : this.#seal()
  }

  async *#lines(bytes: Buffer, token: string, at: Position): AsyncGenerator<Batch> {
    for (let from = 0; from < bytes.length;) {
      if (this.#open.isEmpty) this.#open.since = this.#options.clock.now()
      const slot = (this.#open.slot ??= await this.#freeSlot())
      from = this.#frame(bytes, from, slot, token, at)
      if (from < bytes.length || this.#isFullAt(this.#bodyBytes)) yield this.#seal()
    }
  }

  #isFullAt(bodyBytes: number): boolean {
    const { docs, refusedBytes } = this.#open
    return docs >= this.#options.batchDocs || refusedBytes >= bodyBytes
  }

  /** Frames lines from `start` until the open batch is full. Returns where it stopped. */
  #frame(bytes: Buffer, start: number, slot: Slot, token: string, at: Position): number {
    let from = start
    // Asking for each document would cost as much as its copy.
    const bodyBytes = this.#bodyBytes
    while (from < bytes.length && !this.#isFullAt(bodyBytes)) {
      const to = endOfLine(bytes, from)
      const isPart = at.within !== undefined && partOf(bytes, from) === 'more'
      const begin = isPart ? from + LINE_PART_BYTES : from
      const found = findAction(bytes, begin, this.#found) ? this.#found : undefined
      if (found === undefined) this.#refuse(bytes, from, to, at)
      else if (!this.#add(bytes, begin, to, found, slot, token, at, bodyBytes)) return from
      else if (isPart) moveWithin(at, to - from)
      else move(at, to - from)
      from = to
    }
    return from
  }

  /** Frames a line. Returns false if it belongs to the next batch. */
  #add(
    bytes: Buffer,
    from: number,
    to: number,
    found: CarriedAction,
    slot: Slot,
    token: string,
    at: Position,
    bodyBytes: number,
  ): boolean {
    const open = this.#open
    const { address, condition, document } = found
    const operation = carriedOperation(bytes, from + 1, found.operationEnd) ?? this.#options.operation
    const hasId = hasIdAt(bytes, address)
    const ids = hasId ? 'given' : 'own'
    if (open.docs > 0 && (ids !== this.#ids || condition !== this.#condition)) return false
    const { action, opening, closing } = this.#formOf(operation, condition)
    const bare = to - document - (bytes[to - 1] === LINE_FEED ? 1 : 0)
    const most = action.length + opening.length + closing.length + (to - from) + token.length + 64
    if (open.docs > 0 && open.bytes + most > bodyBytes) return false
    reserve(slot, open.bytes + most)
    this.#operation = open.docs === 0 || this.#operation === operation ? operation : 'mixed'
    this.#ids = ids
    this.#condition = condition
    const body = slot.bytes
    let end = open.bytes
    end += body.write(action, end, 'latin1')
    if (!hasId) {
      const isAlone = bytes[address + 1] === CLOSING
      const id = `${token}-${partNumber(at.document, at.within)}`
      end += body.write(`"_id":"${id}"${isAlone ? '' : ','}`, end, 'latin1')
    }
    // Without its opening brace, and without the mark behind it.
    end = copyBytes(bytes, address + 1, document - 1, body, end)
    body[end++] = CLOSING
    body[end++] = LINE_FEED
    if (opening !== '') end += body.write(opening, end, 'latin1')
    end += copyInto(body, end, bytes.subarray(document, document + bare))
    if (closing !== '') end += body.write(closing, end, 'latin1')
    body[end++] = LINE_FEED
    open.extend(1, end - open.bytes, at, to - from)
    if (this.#options.namesIndex === true) open.name(indexIn(bytes, address), 1)
    this.counts[ids] += 1
    return true
  }

  /** Documents in a row mostly have the same form. */
  #formOf(operation: Operation, condition: Batch['condition']): BulkForm {
    if (this.#formed?.operation !== operation || this.#formed.condition !== condition)
      this.#formed = { operation, condition, form: bulkFormOf(operation, { condition }) }
    return this.#formed.form
  }

  /** Keeps a line that its format refused, or passes a blank one. */
  #refuse(bytes: Buffer, from: number, to: number, at: Position): void {
    const open = this.#open
    const refused = refusedBefore(bytes, from, to, at)
    if (refused !== undefined) {
      open.refuse(open.refused.add(bytes, refused.from, to, refused.why, at, WITHOUT_ID), at)
      return move(at, to - from)
    }
    const isNothing = at.within !== undefined && partOf(bytes, from) === 'nothing'
    if (!isNothing && !isBlank(bytes, from, to)) throw new RangeError('a line has no action')
    open.passBlank(1, at)
    if (isNothing) return move(at, to - from)
    at.line += 1
    at.offset += to - from
  }

  #seal(): Batch {
    const batch = this.#open.seal(this.#operation ?? this.#options.operation, this.#options.slots)
    const ids = this.#ids
    const condition = this.#condition
    this.#open = this.#newBatch()
    this.#operation = undefined
    this.#ids = undefined
    this.#condition = undefined
    return {
      ...batch,
      ...(ids === undefined ? {} : { ids }),
      ...(condition === undefined ? {} : { condition }),
    }
  }

  #newBatch(): OpenBatch<RefusedLines> {
    const { operation } = this.#options
    return new OpenBatch({ opening: '', closing: '' }, new RefusedLines(operation, takeApart))
  }

  get #bodyBytes(): number {
    return this.#options.bodyBytes?.() ?? this.#options.batchBytes
  }

  async #freeSlot(): Promise<Slot> {
    const slot = await this.#options.slots.acquire()
    this.#open.since = this.#options.clock.now()
    return slot
  }
}

const CLOSING = 0x7d
/** A dead letter that was no document has no id, until somebody adds both. */
const WITHOUT_ID = actionTemplate({ operation: 'create', ids: { from: 'cluster' } }, '')

/** Returns the name in an address. In an id, the quotes would be escaped. */
function indexIn(bytes: Buffer, address: number): string {
  const from = bytes.indexOf(INDEX, address) + INDEX.length
  return bytes.toString('utf8', from, bytes.indexOf(QUOTE, from))
}

const INDEX = Buffer.from('"_index":"')
const QUOTE = 0x22

function move(at: Position, bytes: number): void {
  at.document += 1
  at.line += 1
  at.offset += bytes
  if (at.within !== undefined) at.within = 0
}
