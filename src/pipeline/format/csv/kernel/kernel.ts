import { sumInPlace } from '../../../../base/checksum/checksum.js'
import { compile, copyInto, type Global, newMemory, webAssembly } from '../../../../base/memory.js'
import { falsehoods, truths } from '../cell-types.js'
import { AS_IT_STANDS, type Column, MISSING, TEXT, UNFIT } from '../columns.js'
import { escapes } from '../line-writer.js'
import type { Quotation } from '../quotation.js'
import { kernelCode } from './code.js'
import {
  SUM_AREA,
  COLUMN_BYTES,
  COLUMN_DIGITS,
  COLUMN_FLAGS,
  COLUMN_KIND,
  COLUMN_TEXT,
  COLUMN_TEXT_BYTES,
  COLUMNS,
  ESCAPES,
  KIND_BOOLEAN,
  KIND_INFERRED,
  KIND_NUMBER,
  KIND_OTHER,
  KIND_TEXT,
  KIND_TEXT_OR_MISSING,
  MAY_MISS,
  MOST_COLUMNS,
  READ_AS_IT_STANDS,
  READ_MISSING,
  READ_TEXT,
  READ_UNFIT,
  SPARE_BYTES,
  STOP_END,
  STOP_ROW,
  TAKES_MINUS,
  TAKES_POINT,
  TEXTS,
  TEXTS_BYTES,
  WORDS,
  WRITES_NULL,
} from './layout.js'

/** The functions and globals of assembly/rows.ts. Sizes and addresses are in bytes. */
interface Exports {
  prepareTable(
    columns: number,
    delimiter: number,
    quote: number,
    longestMissing: number,
    truths: number,
    words: number,
  ): void
  write(from: number, to: number, out: number, end: number, isUtf8: number): number
  readonly rowsTo: Global
  readonly linesTo: Global
  readonly linesTaken: Global
}

/** Writes the JSON of a cell to `to`, and returns its length. Returns what the cell is if it has written nothing. */
type ReadCell = (column: number, start: number, end: number, mark: number, to: number) => number

/** How a table is written, and what becomes of it. */
export interface CsvTable {
  readonly columns: readonly Column[]
  readonly delimiter: number
  readonly quotation: Quotation
  /** Whether an empty cell becomes null. */
  readonly writesNull: boolean
  /** Bytes of the longest word that stands for no value. */
  readonly longestMissing: number
}

/** The result of one call. */
interface Written {
  /** Offset behind the rows that it wrote. */
  readonly takenTo: number
  /** How many lines of the file they take. */
  readonly lines: number
  /** Offset behind their lines in `output`. */
  readonly end: number
  /** Why it stopped. `end`: the next row is not whole. `row`: it is unusual. `full`: there is no room for its line. */
  readonly stop: 'end' | 'row' | 'full'
}

/** Bytes that are looked at between two copies: they stay in the CPU's second cache. A longer row is for JavaScript. */
export const LOADED_BYTES = 128 << 10
const OUTPUT_BYTES = 256 << 10
const INPUT_START = Math.ceil((TEXTS + TEXTS_BYTES + SPARE_BYTES) / 64) * 64
const OUTPUT_START = INPUT_START + LOADED_BYTES + 2 * SPARE_BYTES
const PAGE_BYTES = 64 << 10
const LINE_FEED = 0x0a
const TAB = 0x09
const SPACE = 0x20
const LAST_ASCII = 0x7f

/** Writes rows of CSV as lines of NDJSON. It writes what is usual, and stops before any other row. */
export class Kernel {
  /** Holds the lines. */
  readonly output: Buffer
  readonly #bytes: Buffer
  readonly #exports: Exports
  #columns: readonly Column[] = []
  /** The offset after the loaded bytes. */
  #end = INPUT_START

  /** `instantiate` makes the kernel. It calls back for a cell that JavaScript must read. */
  constructor(memory: SharedArrayBuffer, instantiate: (readCell: ReadCell) => Exports) {
    this.#bytes = Buffer.from(memory)
    this.output = this.#bytes.subarray(OUTPUT_START, OUTPUT_START + OUTPUT_BYTES)
    this.#exports = instantiate((column, start, end, mark, to) => this.#readCell(column, start, end, mark, to))
    for (let byte = 0; byte < 256; byte += 1) {
      const escape = escapes[byte]
      const text = escape === undefined ? Buffer.of(byte) : Buffer.from(escape)
      text.copy(this.#bytes, ESCAPES + byte * 8)
      this.#bytes[ESCAPES + byte * 8 + 7] = text.length
    }
    for (const [at, word] of [...truths, ...falsehoods].entries()) this.#bytes.write(word, WORDS + at * 8)
  }

  /** Sets what it writes. Returns false if that is too unusual. */
  prepare({ columns, delimiter, quotation, writesNull, longestMissing }: CsvTable): boolean {
    const isPlain = (byte: number) => byte === TAB || (byte >= SPACE && byte < LAST_ASCII)
    const { byte: quote, isSlashed } = quotation
    if (isSlashed) return false
    if (columns.length > MOST_COLUMNS || !isPlain(delimiter) || delimiter === quote) return false
    if (quote !== undefined && (!isPlain(quote) || quote === SPACE || quote === TAB)) return false
    let text = TEXTS
    for (const [at, column] of columns.entries()) {
      const { prefix } = column
      if (text + prefix.length > TEXTS + TEXTS_BYTES) return false
      const { kind, digits, flags } = usualOf(column)
      const record = COLUMNS + at * COLUMN_BYTES
      this.#bytes.writeUInt32LE(text, record + COLUMN_TEXT)
      this.#bytes.writeUInt32LE(prefix.length, record + COLUMN_TEXT_BYTES)
      this.#bytes[record + COLUMN_KIND] = kind
      this.#bytes[record + COLUMN_FLAGS] = flags | (writesNull && column.takesNull ? WRITES_NULL : 0)
      this.#bytes[record + COLUMN_DIGITS] = digits
      prefix.copy(this.#bytes, text)
      text += prefix.length
    }
    this.#columns = columns
    const words = truths.length + falsehoods.length
    this.#exports.prepareTable(columns.length, delimiter, quote ?? 0, longestMissing, truths.length, words)
    return true
  }

  /** Takes the bytes of [from, to), which are at most LOADED_BYTES. */
  load(bytes: Buffer, from: number, to: number): void {
    this.#end = INPUT_START + copyInto(this.#bytes, INPUT_START, bytes.subarray(from, to))
    this.#bytes[this.#end] = LINE_FEED
  }

  /** Writes the rows of the loaded bytes from `from` on, behind `filled` bytes of `output`. `isUtf8`: all bytes are. */
  write(from: number, filled: number, isUtf8: boolean): Written {
    const { write, rowsTo, linesTo, linesTaken } = this.#exports
    const out = OUTPUT_START + filled
    const end = OUTPUT_START + OUTPUT_BYTES
    const stop = write(INPUT_START + from, this.#end, out, end, isUtf8 ? 1 : 0)
    return {
      takenTo: rowsTo.value - INPUT_START,
      lines: linesTaken.value,
      end: linesTo.value - OUTPUT_START,
      stop: stop === STOP_END ? 'end' : stop === STOP_ROW ? 'row' : 'full',
    }
  }

  #readCell(column: number, start: number, end: number, mark: number, to: number): number {
    const value = this.#columns[column]?.read?.(this.#bytes, start, end, mark) ?? UNFIT
    if (typeof value !== 'string') return reads[value]
    // There is room for six times its bytes, and some more.
    if (value.length > (end - start) * 6) return READ_UNFIT
    return this.#bytes.write(value, to, 'latin1')
  }
}

const reads = {
  [AS_IT_STANDS]: READ_AS_IT_STANDS,
  [TEXT]: READ_TEXT,
  [MISSING]: READ_MISSING,
  [UNFIT]: READ_UNFIT,
}

function usualOf({ read, usual, mayMiss }: Column): { kind: number; flags: number; digits: number } {
  const flags = mayMiss ? MAY_MISS : 0
  const plain = { flags, digits: 0 }
  if (read === undefined) return { kind: KIND_TEXT, ...plain }
  switch (usual) {
    case 'text':
      return { kind: KIND_TEXT_OR_MISSING, ...plain }
    case 'inferred':
      return { kind: KIND_INFERRED, ...plain }
    case 'boolean':
      return { kind: KIND_BOOLEAN, ...plain }
    case 'other':
      return { kind: KIND_OTHER, ...plain }
    default: {
      const { digits, takesPoint, takesMinus } = usual
      const ofNumber = (takesPoint ? TAKES_POINT : 0) | (takesMinus ? TAKES_MINUS : 0)
      return { kind: KIND_NUMBER, flags: flags | ofNumber, digits }
    }
  }
}

/** Kernels that are free at the moment. Their memory is dear to make, and inputs may be many and small. */
const idle: Kernel[] = []
let compiled: ReturnType<typeof compile>

/** Takes a kernel for one table, until `giveKernelBack`. Undefined: the machine has no SIMD or no memory for it, or the table is too unusual. */
export function takeKernel(table: CsvTable): Kernel | undefined {
  const kernel = idle.pop() ?? newKernel()
  if (kernel === undefined || kernel.prepare(table)) return kernel
  giveKernelBack(kernel)
  return undefined
}

export function giveKernelBack(kernel: Kernel): void {
  if (idle.length === 0) idle.push(kernel)
}

function newKernel(): Kernel | undefined {
  compiled ??= compile(kernelCode)
  const memory = newMemory(Math.ceil((OUTPUT_START + OUTPUT_BYTES + SPARE_BYTES) / PAGE_BYTES))
  if (memory === undefined || webAssembly === undefined || compiled === undefined) return undefined
  const { Instance } = webAssembly
  const module = compiled
  sumInPlace(memory, SUM_AREA)
  // AssemblyScript names what it imports by the file that declares it.
  return new Kernel(
    memory.buffer,
    readCell => new Instance(module, { env: { memory }, rows: { readCell } }).exports as Exports,
  )
}
