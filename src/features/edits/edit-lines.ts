/** Edits the documents of an input, line by line. A line that is no document stays unchanged: the next stage rejects it. */
import { isUtf8 } from 'node:buffer'
import type { Lines } from '../../base/flow.js'
import { LineStarts, type RewrittenLines } from '../../run/loop/moved-lines.js'
import {
  type CarriedAction,
  endOfLine,
  findAction,
  isWhiteSpace,
  LINE_FEED,
  mayBeRefusedLine,
  refusedLineStart,
} from '../../base/text/bytes.js'
import { jsonFault, NO_FAULT } from '../../base/json/json-fault.js'
import type { DocumentEditor } from './document-editor.js'
import type { EditKernel } from './kernel/kernel.js'

/** Edited together: they stay in the CPU's second cache until they are framed. */
const AT_ONCE_BYTES = 256 << 10

/** `maxLineBytes`: a longer line is not sent, so it is not edited. */
export function editLines(
  lines: Lines,
  editor: DocumentEditor,
  kernel: EditKernel | undefined,
  maxLineBytes: number,
): Required<RewrittenLines> & { readonly starts: LineStarts } {
  const starts = new LineStarts(lines.at, lines.line ?? 1)
  const work = new LineEditor(lines.kind, editor, kernel, starts)
  // Only these stood so in the input.
  const kind = lines.kind === 'lines' ? 'edited' : lines.kind
  return { starts, lines: { ...lines, kind, bytes: edited(lines.bytes, work, maxLineBytes) } }
}

/** Edits the lines of an input. If the bytes end in an error, yields the lines before it, then throws it. */
async function* edited(
  chunks: AsyncIterable<Uint8Array>,
  work: LineEditor,
  maxLineBytes: number,
): AsyncGenerator<Uint8Array> {
  let held: Buffer[] = []
  let heldBytes = 0
  let isLong = false
  let broken: { readonly error: unknown } | undefined
  try {
    for await (const chunk of chunks) {
      const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
      let from = 0
      if (heldBytes > 0 || isLong) {
        const lineFeed = bytes.indexOf(LINE_FEED)
        from = lineFeed === -1 ? bytes.length : lineFeed + 1
        const rest = bytes.subarray(0, from)
        if (!isLong && heldBytes + from > maxLineBytes) {
          for (const piece of held) yield work.pass(piece)
          isLong = true
        }
        if (isLong) yield work.pass(rest)
        else if (lineFeed !== -1) yield* work.edit(Buffer.concat([...held, rest]))
        else held.push(Buffer.from(rest))
        heldBytes += from
        if (lineFeed !== -1 || isLong) {
          held = []
          heldBytes = 0
        }
        if (lineFeed !== -1) isLong = false
      }
      const end = bytes.lastIndexOf(LINE_FEED) + 1
      while (from < end) {
        const near = bytes.lastIndexOf(LINE_FEED, Math.min(end, from + AT_ONCE_BYTES) - 1) + 1
        const to = near > from ? near : endOfLine(bytes, from)
        yield* work.edit(bytes.subarray(from, to))
        from = to
      }
      if (from < bytes.length) {
        held.push(Buffer.from(bytes.subarray(from)))
        heldBytes += bytes.length - from
      }
    }
  } catch (error) {
    broken = { error }
  }
  if (heldBytes > 0) yield* work.edit(Buffer.concat(held))
  if (broken !== undefined) throw broken.error
}

class LineEditor {
  readonly #kind: Lines['kind']
  readonly #editor: DocumentEditor
  readonly #kernel: EditKernel | undefined
  readonly #starts: LineStarts
  readonly #action: CarriedAction = { operationEnd: 0, condition: undefined, address: 0, document: 0 }
  #out = Buffer.allocUnsafeSlow(2 * AT_ONCE_BYTES)

  constructor(kind: Lines['kind'], editor: DocumentEditor, kernel: EditKernel | undefined, starts: LineStarts) {
    this.#kind = kind
    this.#editor = editor
    this.#kernel = kernel
    this.#starts = starts
  }

  /** Passes a piece of a line on as it is. */
  pass(piece: Buffer): Buffer {
    this.#starts.pass(piece)
    return piece
  }

  /** Edits lines. The last one may have no line end. The bytes that it yields are valid until the next call. */
  *edit(lines: Buffer): Generator<Buffer> {
    const isValid = isUtf8(lines)
    const whole = lines.at(-1) === LINE_FEED ? lines.length : lines.lastIndexOf(LINE_FEED) + 1
    const kernel = isValid && this.#kernel?.load(lines) === true ? this.#kernel : undefined
    let filled = 0
    for (let at = 0; at < lines.length;) {
      if (kernel !== undefined && at < whole) {
        const done = kernel.edit(at, whole, filled, this.#starts.line, this.#kind === 'actions')
        this.#starts.addAll(done.ends)
        at = done.consumedTo
        filled = done.filled
        if (done.stop === 'done') continue
        if (done.stop === 'full' && filled > 0) {
          yield kernel.output.subarray(0, filled)
          filled = 0
          continue
        }
      }
      const to = kernel === undefined ? lines.length : endOfLine(lines, at)
      const edited = this.#plain(lines.subarray(at, to), isValid)
      at = to
      if (kernel !== undefined && filled + edited.length <= kernel.output.length)
        filled += edited.copy(kernel.output, filled)
      else {
        if (kernel !== undefined && filled > 0) yield kernel.output.subarray(0, filled)
        filled = 0
        yield edited
      }
    }
    if (kernel !== undefined && filled > 0) yield kernel.output.subarray(0, filled)
  }

  /** Edits lines without the kernel. The result is valid until the next call. */
  #plain(lines: Buffer, isValid: boolean): Buffer {
    const { from: starts, to: ends, text: texts } = this.#editor
    starts.length = ends.length = texts.length = 0
    for (let from = 0; from < lines.length;) {
      const to = endOfLine(lines, from)
      this.#line(lines, from, to, isValid || isUtf8(lines.subarray(from, to)))
      this.#starts.add(to - from, lines[to - 1] === LINE_FEED)
      from = to
    }
    return texts.length === 0 ? lines : this.#written(lines)
  }

  #line(bytes: Buffer, from: number, to: number, isValid: boolean): void {
    let object = from
    if (this.#kind === 'actions') {
      if (!findAction(bytes, from, this.#action) || isDelete(bytes, from)) return
      object = this.#action.document
    }
    while (isWhiteSpace(bytes[object])) object += 1
    const isObject = isValid && bytes[object] === OPENING && jsonFault(bytes, object, to) === NO_FAULT
    const problem = isObject ? this.#editor.edit(bytes, object, this.#starts.line) : undefined
    if (problem !== undefined) this.#refuse(bytes, from, refusedLineStart('DOCUMENT_NOT_EDITED', problem))
    else if (!isObject && this.#kind === 'lines' && mayBeRefusedLine(bytes, from))
      this.#refuse(bytes, from, refusedLineStart('DOCUMENT_NOT_JSON', 'broken JSON at byte 0 of the line'))
  }

  /** Puts a reason in front of the line. A person who corrects a document also sees its address before it. */
  #refuse(bytes: Buffer, from: number, start: Buffer): void {
    const { from: starts, to: ends, text: texts } = this.#editor
    const { address, document } = this.#action
    const places = this.#kind === 'actions' ? [from, document] : [from]
    starts.push(...places)
    ends.push(...places)
    texts.push(start)
    if (this.#kind === 'actions') texts.push(Buffer.concat([bytes.subarray(address, document - 1), BLANK]))
  }

  #written(lines: Buffer): Buffer {
    const { from: starts, to: ends, text: texts } = this.#editor
    const most = texts.reduce((sum, text) => sum + text.length, lines.length)
    if (this.#out.length < most) this.#out = Buffer.allocUnsafeSlow(2 * most)
    const out = this.#out
    let taken = 0
    let end = 0
    for (let at = 0; at < texts.length; at += 1) {
      end += lines.copy(out, end, taken, starts[at])
      end += (texts[at] as Buffer).copy(out, end)
      taken = ends[at] as number
    }
    end += lines.copy(out, end, taken)
    return out.subarray(0, end)
  }
}

const OPENING = 0x7b
const BLANK = Buffer.from(' ')
const LETTER_D = 0x64

/** Returns whether the action of a line is a delete, which sends no document. */
function isDelete(bytes: Buffer, from: number): boolean {
  return bytes[from + 1] === LETTER_D
}
