import type { ActionTemplate } from '../action-line.js'
import type { Slot } from '../slots.js'
import { kernelCode } from './code.js'
import {
  AFTER,
  AS_DATE,
  AS_VALUE,
  BEFORE,
  BETWEEN,
  CLOSING,
  FIELDS,
  FIELD_BYTES,
  FIRST_STATE,
  ID_IN_FIELD,
  ID_NONE,
  ID_NUMBER,
  ID_OFFSET,
  ID_OF_PARTS,
  MOST_FIELDS,
  NAME_OPENING,
  NAME_OPENING_BYTES,
  OPENING,
  ROUND_CONSTANTS,
  STOP_FULL,
  STOP_LINE,
} from './layout.js'
import type { KernelMemory } from './memory.js'
import { Names } from './names.js'
import { firstState, roundConstants } from './sha256-constants.js'
import { ID_FIELD, LONGEST_TEXT_BYTES, ROUTING_FIELD, TEXT_START } from '../../../base/json/strict/layout.js'
import { compile, copyInto, type Global, webAssembly } from '../../../base/memory.js'

/** The functions and globals of assembly/frame.ts. Sizes and addresses are in bytes. */
interface Exports {
  prepare(
    id: number,
    isRouted: number,
    isOfParts: number,
    idFields: number,
    separator: number,
    isHashed: number,
    indexFields: number,
  ): void
  frame(
    from: number,
    to: number,
    body: number,
    room: number,
    mostDocuments: number,
    longestLine: number,
    number: number,
  ): number
  readonly blankLines: Global
  readonly blankBytes: Global
  readonly linesBytes: Global
  readonly bodyBytes: Global
  readonly documents: Global
  readonly missingName: Global
  readonly isBeyondAscii: Global
}

interface Limits {
  /** How far the body may be filled. */
  readonly bodyBytes: number
  readonly documents: number
  readonly lineBytes: number
}

/** The result of one call: it passed blank lines, then framed documents. */
interface Framed {
  readonly blankLines: number
  readonly blankBytes: number
  readonly documents: number
  /** Bytes of the documents' lines. */
  readonly lineBytes: number
  /** Bytes that the body grew by. */
  readonly bodyBytes: number
  /** `line`: the next one is no matter for the kernel, whatever the reason. `full`: the body has no room for it. */
  readonly stop: 'done' | 'full' | 'line'
  /** The place for the name of the index that the next line needs. 0: it needs none. */
  readonly namePlace: number
  /** If true, all that it framed is ASCII. If false, the result only holds if the lines are UTF-8. */
  readonly isAscii: boolean
}

/**
 * Compiled when this file is loaded, so that callers can tune the engine before. Undefined if the machine has no
 * SIMD.
 */
const compiled = compile(kernelCode)

/** Returns undefined without memory or SIMD. Then plain JavaScript does everything. */
export function openKernel(memory: KernelMemory | undefined): Kernel | undefined {
  if (memory === undefined || webAssembly === undefined || compiled === undefined) return undefined
  const { exports } = new webAssembly.Instance(compiled, { env: { memory: memory.memory } })
  return new Kernel(memory, exports as Exports)
}

/**
 * Frames lines in one pass: each checked (strict JSON, one object), its action line written, the document copied byte for byte.
 * It frames what is usual and stops before anything else, which the plain code of this folder then settles.
 */
class Kernel {
  readonly #memory: KernelMemory
  readonly #bytes: Buffer
  readonly #exports: Exports
  #isPrepared = false
  /** Start of the loaded lines. */
  #lines = 0
  /** Names of indices, if fields of the documents make them. */
  readonly #names: Names

  constructor(memory: KernelMemory, exports: Exports) {
    this.#memory = memory
    this.#bytes = Buffer.from(memory.memory.buffer)
    this.#bytes.set(new Uint8Array(firstState.buffer), FIRST_STATE)
    this.#bytes.set(new Uint8Array(roundConstants.buffer), ROUND_CONSTANTS)
    this.#exports = exports
    this.#names = new Names(this.#bytes)
  }

  /** Sets the action lines of one input. If they are too unusual, the kernel frames no line. */
  prepare(template: ActionTemplate): void {
    const { index, before, id, between, routing, numbers, after, opening, closing } = template
    const rule = typeof id === 'object' ? id : undefined
    const isOfParts = !isFlat(template)
    const fields = rule?.fields ?? []
    const ofIndex = index?.pattern.fields ?? []
    const others = [...fields, ...(routing === undefined ? [] : [routing.field])]
    const paths = isOfParts ? [...others, ...ofIndex.map(({ field }) => field)] : []
    const texts: [number, string][] = [
      [BEFORE, before],
      [BETWEEN, between],
      [AFTER, after],
      [OPENING, opening],
      [CLOSING, closing],
      [ID_FIELD, isOfParts ? '' : (fields[0] ?? '')],
      [ROUTING_FIELD, isOfParts ? '' : (routing?.field ?? '')],
    ]
    this.#isPrepared =
      numbers.length === 0 &&
      paths.length <= MOST_FIELDS &&
      texts.every(([at, text]) => this.#layDown(at, text, LONGEST_TEXT_BYTES)) &&
      paths.every((path, at) => this.#layDown(FIELDS + at * FIELD_BYTES, path, FIELD_BYTES - TEXT_START)) &&
      this.#layDown(NAME_OPENING, index?.opening ?? '', NAME_OPENING_BYTES)
    for (const [at, { date }] of ofIndex.entries())
      this.#bytes.writeUInt32LE(
        date === undefined ? AS_VALUE : AS_DATE,
        FIELDS + (others.length + at) * FIELD_BYTES + 12,
      )
    this.#names.begin(index?.pattern.text)
    const ofField = isOfParts ? ID_OF_PARTS : ID_IN_FIELD
    const kind = typeof id === 'object' ? ofField : kinds[id]
    const separator = rule?.separator.charCodeAt(0) ?? 0
    const isHashed = rule?.isHashed === true
    const { prepare } = this.#exports
    const [isRouted, ofParts, hashed] = [routing !== undefined, isOfParts, isHashed].map(Number) as [
      number,
      number,
      number,
    ]
    prepare(kind, isRouted, ofParts, fields.length, separator, hashed, ofIndex.length)
  }

  #layDown(at: number, text: string, longest: number): boolean {
    const { texts } = this.#memory
    // Inputs that follow each other differ in one text, and there may be very many of them.
    if (texts.get(at) === text) return true
    const bytes = Buffer.from(text)
    // Half of a surrogate pair has no UTF-8, and would be taken for another character.
    if (bytes.length > longest || bytes.toString() !== text) return false
    this.#bytes.writeUInt32LE(bytes.length, at)
    bytes.copy(this.#bytes, at + TEXT_START)
    texts.set(at, text)
    return true
  }

  /** Returns the end of the lines that one `load` can take from `from` on, or `from` if it cannot take one. */
  reach(bytes: Buffer, from: number): number {
    if (!this.#isPrepared) return from
    const near = lastLineEnd(bytes, from + AT_ONCE_BYTES)
    if (near > from) return near
    return Math.max(from, lastLineEnd(bytes, from + this.#memory.input.length))
  }

  /** Takes whole lines. Leaves them in place if they lie in its own memory. */
  load(lines: Buffer): void {
    const isHere = lines.buffer === this.#bytes.buffer
    if (!isHere) copyInto(this.#memory.input, 0, lines)
    this.#lines = isHere ? lines.byteOffset : this.#memory.input.byteOffset
  }

  /**
   * Goes on with the loaded lines of [from, to): blank ones, then documents into `slot`, whose first `filled` bytes are in use. `number`: that
   * of the next document, or the offset of the next line if ids end with offsets.
   */
  frame(from: number, to: number, slot: Buffer, filled: number, limits: Limits, number: number): Framed {
    const { frame, blankLines, blankBytes, linesBytes, bodyBytes, documents, missingName, isBeyondAscii } =
      this.#exports
    const stop = frame(
      this.#lines + from,
      this.#lines + to,
      slot.byteOffset + filled,
      Math.max(0, Math.min(limits.bodyBytes, slot.length) - filled),
      Math.min(limits.documents, MOST_DOCUMENTS),
      limits.lineBytes,
      number,
    )
    return {
      blankLines: blankLines.value,
      blankBytes: blankBytes.value,
      documents: documents.value,
      lineBytes: linesBytes.value,
      bodyBytes: bodyBytes.value,
      stop: stop === STOP_FULL ? 'full' : stop === STOP_LINE ? 'line' : 'done',
      namePlace: stop === STOP_LINE ? missingName.value : 0,
      isAscii: isBeyondAscii.value === 0,
    }
  }

  /** Returns how many documents each index got since the last call. */
  takeNamed(): Iterable<readonly [string, number]> {
    return this.#names.take()
  }

  /** Takes the name of the index for a line at which a call stopped. */
  rememberName(place: number, name: string): void {
    this.#names.put(place, name)
  }

  /** Whether a slot lies in this kernel's memory. */
  holds({ bytes }: Slot): boolean {
    return bytes.buffer === this.#bytes.buffer
  }
}

/** Returns whether id and routing are values of top-level fields as they stand: the kernel finds these while it checks a line. */
function isFlat({ index, id, routing }: ActionTemplate): boolean {
  if (index !== undefined) return false
  const rule = typeof id === 'object' ? id : undefined
  const paths = [...(rule?.fields ?? []), ...(routing === undefined ? [] : [routing.field])]
  return rule?.isHashed !== true && (rule?.fields.length ?? 0) < 2 && !paths.some(path => path.includes('.'))
}

const kinds = { none: ID_NONE, number: ID_NUMBER, offset: ID_OFFSET } as const

const LINE_FEED = 0x0a
/** Looked at several times, one pass behind the other: it stays in the CPU's second cache meanwhile. */
const AT_ONCE_BYTES = 256 << 10
const MOST_DOCUMENTS = 2 ** 32 - 1

function lastLineEnd(bytes: Buffer, before: number): number {
  return bytes.lastIndexOf(LINE_FEED, Math.min(bytes.length, before) - 1) + 1
}

export type { Kernel }
