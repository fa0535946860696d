/** Finds cells that stand for no value, as R, pandas, databases and spreadsheets write them. */
import { SPACE } from '../../../base/text/bytes.js'
import { visible } from '../../../base/text/shown.js'
import type { CellType, CsvOptions } from '../formats.js'
import { isInferred } from './cell-types.js'
import { type FirstRows, forEachRow } from './first-rows.js'

/** How other programs write a missing number or date. */
const usual: readonly string[] = ['NA', 'N/A', 'n/a', '#N/A', '<NA>', 'NaN', 'nan', 'NULL', 'null', 'None', '\\N']

/** Returns whether the cell `bytes[start, end)` stands for no value. */
export type IsMissing = (bytes: Buffer, start: number, end: number) => boolean

/** Returns what finds the word that a cell holds, without blanks around it, by its number. -1: none of them. */
function wordFinder(values: readonly string[]): (bytes: Buffer, start: number, end: number) => number {
  const texts = values.map(value => Buffer.from(value))
  const longest = Math.max(0, ...texts.map(({ length }) => length))
  return (bytes, start, end) => {
    let [from, to] = [start, end]
    while (from < to && bytes[from] === SPACE) from += 1
    while (to > from && bytes[to - 1] === SPACE) to -= 1
    if (to - from > longest) return -1
    return texts.findIndex(text => text.length === to - from && bytes.compare(text, 0, text.length, from, to) === 0)
  }
}

interface Missing {
  /** Finds such cells in any column. */
  readonly isMissing: IsMissing
  /** Bytes of the longest such cell, without blanks around it. */
  readonly longest: number
  /** Finds the cells without a value in a column. Undefined: only empty ones have none. */
  of(column: number, type: CellType | undefined): IsMissing | undefined
  /** Such words in the first rows, by the names of the columns without a type that Sluice chose. */
  readonly lacking: ReadonlyMap<string, readonly string[]>
  /** Names the words and the columns that Sluice chose: one sentence, or none. */
  readonly note: string
}

/** Finds out which columns may lack values. In a column of text, such a word is a text like others: NA is also a country. */
export function missingIn(
  rows: FirstRows,
  names: readonly string[],
  { nullValues, types = {}, inferTypes = false }: CsvOptions,
): Missing {
  const words = nullValues ?? usual
  const word = wordFinder(words)
  const isMissing: IsMissing = (bytes, start, end) => word(bytes, start, end) !== -1
  const longest = Math.max(0, ...words.map(word => Buffer.byteLength(word)))
  const unsaid = { isMissing, longest, lacking: new Map(), note: '' }
  if (nullValues !== undefined) return { ...unsaid, of: () => (nullValues.length === 0 ? undefined : isMissing) }
  if (!inferTypes) return { ...unsaid, of: (_, type) => (type !== undefined && isTyped(type) ? isMissing : undefined) }
  const { texts, lacking } = evidenceIn(rows, names.length, word)
  const typeOf = (name: string) => (Object.hasOwn(types, name) ? types[name] : undefined)
  const mayLack = (column: number, type: CellType | undefined) =>
    type === undefined ? !texts.has(column) : isTyped(type)
  const said = names.flatMap((name, at) => {
    const seen = mayLack(at, typeOf(name)) ? lacking.get(at) : undefined
    return seen === undefined ? [] : [[name, words.filter((_, word) => seen.has(word))] as const]
  })
  const seen = new Set(said.flatMap(([, its]) => its))
  return {
    isMissing,
    longest,
    of: (column, type) => (mayLack(column, type) ? isMissing : undefined),
    lacking: new Map(said.filter(([name]) => typeOf(name) === undefined)),
    note: noteOf(
      words.filter(text => seen.has(text)),
      said.map(([name]) => name),
    ),
  }
}

/** Most columns that the note names. */
const NAMED = 20

function noteOf(words: readonly string[], columns: readonly string[]): string {
  if (words.length === 0) return ''
  const all = words.length === 1 ? words[0] : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
  const what = words.length === 1 ? 'is a missing value' : 'are missing values'
  return `${all} ${what} in ${columns.slice(0, NAMED).map(visible).join(', ')}${columns.length > NAMED ? ', …' : ''}`
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
  /** Columns in which values are missing, with the numbers of the words that stand for them. */
  readonly lacking: ReadonlyMap<number, ReadonlySet<number>>
}

/** Looks at the first rows that have a cell for each column. */
function evidenceIn(rows: FirstRows, columns: number, wordIn: (...cell: Parameters<IsMissing>) => number): Evidence {
  const { sample, splitter } = rows
  const texts = new Set<number>()
  const lacking = new Map<number, Set<number>>()
  forEachRow(rows, columns, () => {
    for (let column = 0; column < columns; column += 1) {
      const [start, end] = [splitter.starts[column] as number, splitter.ends[column] as number]
      if (start === end || texts.has(column)) continue
      const word = wordIn(sample, start, end)
      if (word === -1) {
        if (!isValue(sample, start, end)) texts.add(column)
        continue
      }
      const words = lacking.get(column)
      if (words === undefined) lacking.set(column, new Set([word]))
      else words.add(word)
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
