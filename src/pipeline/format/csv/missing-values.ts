/** Finds cells that stand for no value, as R, pandas, databases and spreadsheets write them. */
import { SPACE } from '../../../base/text/bytes.js'
import type { CellType, CsvOptions } from '../formats.js'
import { isInferred } from './cell-types.js'
import { type FirstRows, forEachRow } from './first-rows.js'

/** How other programs write a missing number or date. */
const usual: readonly string[] = ['NA', 'N/A', 'n/a', '#N/A', '<NA>', 'NaN', 'nan', 'NULL', 'null', 'None', '\\N']

/** Returns whether the cell `bytes[start, end)` stands for no value. */
export type IsMissing = (bytes: Buffer, start: number, end: number) => boolean

function missingAs(values: readonly string[]): IsMissing {
  const texts = values.map(value => Buffer.from(value))
  const longest = Math.max(0, ...texts.map(({ length }) => length))
  return (bytes, start, end) => {
    let [from, to] = [start, end]
    while (from < to && bytes[from] === SPACE) from += 1
    while (to > from && bytes[to - 1] === SPACE) to -= 1
    if (to - from > longest) return false
    return texts.some(text => text.length === to - from && bytes.compare(text, 0, text.length, from, to) === 0)
  }
}

interface Missing {
  /** Finds such cells in any column. */
  readonly isMissing: IsMissing
  /** Bytes of the longest such cell, without blanks around it. */
  readonly longest: number
  /** Finds the cells without a value in a column. Undefined: only empty ones have none. */
  of(column: number, type: CellType | undefined): IsMissing | undefined
  /** The columns of which the first rows hold such cells, if Sluice chose them. */
  readonly said: readonly string[]
}

/** Finds out which columns may lack values. In a column of text, such a word is a text like others: NA is also a country. */
export function missingIn(
  rows: FirstRows,
  names: readonly string[],
  { nullValues, types = {}, inferTypes = false }: CsvOptions,
): Missing {
  const words = nullValues ?? usual
  const isMissing = missingAs(words)
  const longest = Math.max(0, ...words.map(word => Buffer.byteLength(word)))
  if (nullValues !== undefined)
    return { isMissing, longest, of: () => (nullValues.length === 0 ? undefined : isMissing), said: [] }
  if (!inferTypes)
    return {
      isMissing,
      longest,
      of: (_, type) => (type !== undefined && isTyped(type) ? isMissing : undefined),
      said: [],
    }
  const { texts, lacking } = evidenceIn(rows, names.length, isMissing)
  const mayLack = (column: number, type: CellType | undefined) =>
    type === undefined ? !texts.has(column) : isTyped(type)
  return {
    isMissing,
    longest,
    of: (column, type) => (mayLack(column, type) ? isMissing : undefined),
    said: names.filter(
      (name, at) => lacking.has(at) && mayLack(at, Object.hasOwn(types, name) ? types[name] : undefined),
    ),
  }
}

/** Returns whether text cannot be a value of a type. */
function isTyped(type: CellType): boolean {
  return !TEXTS.has(type)
}

const TEXTS: ReadonlySet<CellType> = new Set(['keyword', 'text', 'version', 'wildcard'])

/** What the first rows of a file show of its columns. */
interface Evidence {
  /** Columns in which cells hold text that is neither a number, a truth value, a date nor a missing value. */
  readonly texts: ReadonlySet<number>
  /** Columns in which values are missing. */
  readonly lacking: ReadonlySet<number>
}

/** Looks at the first rows that have a cell for each column. */
function evidenceIn(rows: FirstRows, columns: number, isMissing: IsMissing): Evidence {
  const { sample, splitter } = rows
  const texts = new Set<number>()
  const lacking = new Set<number>()
  forEachRow(rows, columns, () => {
    for (let column = 0; column < columns; column += 1) {
      const [start, end] = [splitter.starts[column] as number, splitter.ends[column] as number]
      if (start === end || texts.has(column)) continue
      if (isMissing(sample, start, end)) lacking.add(column)
      else if (!isValue(sample, start, end)) texts.add(column)
    }
  })
  return { texts, lacking }
}

const LONGEST_VALUE = 40
/** Numbers, also with leading zeros or many digits, and dates with or without a time. */
const VALUE =
  /^(?:[-+]?[\d.,]*\d(?:[eE][-+]?\d+)?|\d{4}-\d\d-\d\d(?:[T ][\d:.,]+(?: ?Z| ?[-+][\d:]+)?)?|\d{1,4}[./]\d{1,2}[./]\d{1,4}(?: [\d:]+)?)$/

/** Returns whether a cell holds a number, a truth value or a date. */
function isValue(bytes: Buffer, start: number, end: number): boolean {
  if (isInferred(bytes, start, end)) return true
  return end - start <= LONGEST_VALUE && VALUE.test(bytes.toString('latin1', start, end).trim())
}
