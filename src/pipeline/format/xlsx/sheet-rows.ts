/** Takes the rows of a sheet from the XML of its cells. Source: ECMA-376, part 1, 18.3.1. */
import { plainNumber } from '../csv/cell-types.js'
import { ESCAPED, type Cells } from '../csv/split-row.js'
import { type Meaning, writtenDate } from './number-format.js'
import { numberOfCell } from './numbers.js'
import type { SharedStrings } from './shared-strings.js'
import { Texts } from './texts.js'
import { XmlTokens } from './xml-tokens.js'

/** The mark of a cell that is no text: it stands as JSON writes it. */
export const OWN = 4

/** No spreadsheet has more. */
const MOST_COLUMNS = 16_384

/** Why a row is no document. */
interface Problem {
  readonly column: number
  readonly what: string
}

interface Known {
  readonly strings: SharedStrings | undefined
  readonly meanings: readonly Meaning[]
  readonly is1904: boolean
}

/** What a cell is while its parts come. */
interface Cell {
  column: number
  type: string
  style: number
  start: number
  hasFormula: boolean
  hasValue: boolean
}

export class SheetRows implements Cells {
  /** The row that came last: its number in the sheet, and its cells as places in `bytes`. */
  number = 0
  readonly starts: number[] = []
  readonly ends: number[] = []
  readonly marks: number[] = []
  count = 0
  problem: Problem | undefined
  /** Whether a cell of it holds an error, such as #N/A. */
  hasError = false
  /** How many cells are merged with cells of other rows, which the sheet lists behind its rows. */
  merged = 0
  readonly #known: Known
  readonly #texts = new Texts()
  readonly #tokens = new XmlTokens()
  readonly #cell: Cell = { column: -1, type: '', style: 0, start: 0, hasFormula: false, hasValue: false }
  #isInRows = false
  #isInCell = false
  /** Whether a text that comes belongs to the cell. */
  #isText = false
  #guides = 0

  constructor(known: Known) {
    this.#known = known
  }

  get bytes(): Buffer {
    return this.#texts.bytes
  }

  /** How many bytes its cells have. */
  get length(): number {
    return this.#texts.length
  }

  add(chunk: Uint8Array): void {
    this.#tokens.add(chunk)
  }

  /** Throws an error if the sheet is not whole. */
  end(): void {
    this.#tokens.end()
  }

  /** Moves to the next row with a cell that is not empty. Returns false if more bytes must come first. */
  next(): boolean {
    const tokens = this.#tokens
    for (let token = tokens.next(); token !== undefined; token = tokens.next()) {
      if (token === 'text') {
        if (this.#isText) this.#texts.addText(tokens)
      } else if (token === 'open') this.#open(tokens.name)
      else if (this.#close(tokens.name)) return true
    }
    return false
  }

  /** Gives the row empty cells up to this many. */
  fill(count: number): void {
    for (; this.count < count; this.count += 1)
      this.starts[this.count] = this.ends[this.count] = this.marks[this.count] = 0
  }

  #open(name: string): void {
    switch (name) {
      case 'sheetData':
        this.#isInRows = true
        break
      case 'row':
        if (this.#isInRows) this.#beginRow()
        break
      case 'c':
        if (this.#isInRows) this.#beginCell()
        break
      case 'v':
      case 't':
        this.#isText = this.#isInCell && this.#guides === 0
        if (this.#isText) this.#cell.hasValue = true
        break
      case 'f':
        this.#cell.hasFormula = true
        break
      case 'rPh':
        this.#guides += 1
        break
      case 'mergeCell':
        if (this.#isOverRows()) this.merged += 1
        break
      default:
    }
  }

  /** Returns whether a row with values is whole. */
  #close(name: string): boolean {
    switch (name) {
      case 'sheetData':
        this.#isInRows = false
        break
      case 'row':
        return this.#isInRows && this.#hasValues()
      case 'c':
        if (this.#isInCell) this.#endCell()
        this.#isInCell = false
        break
      case 'v':
      case 't':
        this.#isText = false
        break
      case 'rPh':
        this.#guides -= 1
        break
      default:
    }
    return false
  }

  #hasValues(): boolean {
    if (this.problem !== undefined) return true
    for (let cell = 0; cell < this.count; cell += 1) if (this.starts[cell] !== this.ends[cell]) return true
    return false
  }

  #beginRow(): void {
    const given = this.#tokens.find('r') ? this.#wholeNumber() : this.number + 1
    // Programs may leave numbers out, and none writes an earlier row behind a later one.
    if (!(given > this.number)) throw new Error(`its row ${given} stands behind row ${this.number}`)
    this.number = given
    this.count = 0
    this.problem = undefined
    this.hasError = false
    this.#texts.length = 0
    this.#cell.column = -1
  }

  #beginCell(): void {
    const tokens = this.#tokens
    const cell = this.#cell
    cell.column = tokens.find('r') ? this.#column() : cell.column + 1
    if (cell.column >= MOST_COLUMNS) throw new Error(`its row ${this.number} has more than ${MOST_COLUMNS} columns`)
    cell.type = tokens.attribute('t') ?? 'n'
    cell.style = tokens.find('s') ? this.#wholeNumber() : 0
    cell.start = this.#texts.length
    cell.hasFormula = cell.hasValue = false
    this.#isInCell = true
  }

  #endCell(): void {
    const { column, start, type, hasFormula, hasValue } = this.#cell
    const texts = this.#texts
    // Only a text may be empty. A program that does not calculate leaves the value out, or writes none into it.
    if (hasFormula && !(hasValue && type === 'str') && texts.length === start)
      this.#fail('a formula without a value. Open the workbook in a spreadsheet program, and save it')
    const mark = texts.length === start ? 0 : this.#value()
    // Some sheets have very many empty cells, which only have a colour.
    if (texts.length === start) return
    this.fill(column + 1)
    if (this.starts[column] !== this.ends[column]) throw new Error(`its row ${this.number} has a column twice`)
    this.marks[column] = mark
    this.starts[column] = start
    this.ends[column] = texts.length
  }

  /** Puts what the cell means in the place of what the sheet holds. Returns its mark. */
  #value(): number {
    const { type, start } = this.#cell
    const texts = this.#texts
    switch (type) {
      case 's': {
        const { strings } = this.#known
        const number = Number(texts.bytes.toString('latin1', start, texts.length))
        texts.length = start
        if (strings?.find(number) === true) texts.add(strings.bytes, strings.from, strings.to)
        else this.#fail('the number of a text that the workbook does not hold')
        return ESCAPED
      }
      case 'n':
        return this.#number()
      case 'b': {
        const text = texts.bytes.toString('latin1', start, texts.length)
        texts.length = start
        texts.addString(text === '1' || text === 'true' ? 'true' : 'false')
        return OWN
      }
      case 'e':
        texts.length = start
        this.hasError = true
        return 0
      default:
        return ESCAPED
    }
  }

  #number(): number {
    const { start, style } = this.#cell
    const texts = this.#texts
    const meaning = this.#known.meanings[style] ?? 'number'
    const isNumber = meaning === 'number'
    if (isNumber && plainNumber(texts.bytes, start, texts.length) !== undefined) return OWN
    const text = texts.bytes.toString('latin1', start, texts.length)
    const written = isNumber ? numberOfCell(text) : writtenDate(daysIn(text), meaning, this.#known.is1904)
    if (written === undefined) {
      this.#fail(isNumber ? 'a number that is none' : 'a date that is not in the years 1900 to 9999')
      return ESCAPED
    }
    texts.length = start
    texts.addString(written)
    return isNumber ? OWN : 0
  }

  /** Returns whether a range such as `A2:B3` has several rows. */
  #isOverRows(): boolean {
    const [from, to] = this.#tokens.attribute('ref')?.match(/\d+/g) ?? []
    return from !== to
  }

  #fail(what: string): void {
    this.problem ??= { column: this.#cell.column, what: `it holds ${what}` }
  }

  #wholeNumber(): number {
    const { bytes, from, to } = this.#tokens
    let number = 0
    for (let at = from; at < to; at += 1) number = number * 10 + (bytes[at] as number) - DIGIT_0
    return number
  }

  /** Returns the number of a column, from 0, of a name such as `AB12`. */
  #column(): number {
    const { bytes, from, to } = this.#tokens
    let column = 0
    for (let at = from; at < to; at += 1) {
      const letter = (bytes[at] as number) & UPPER
      if (letter < LETTER_A || letter > LETTER_Z) break
      column = column * 26 + letter - LETTER_A + 1
    }
    return column === 0 ? this.#cell.column + 1 : column - 1
  }
}

function daysIn(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text)
}

const DIGIT_0 = 0x30
const LETTER_A = 0x41
const LETTER_Z = 0x5a
/** Makes a capital of a letter. */
const UPPER = 0xdf
