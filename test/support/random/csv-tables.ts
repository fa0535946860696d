/** Random tables, and what csv-parse reads in them. */
import { parse } from 'csv-parse/sync'
import type { Seeded } from './seeded.js'

/** How a table is written. */
export interface Written {
  readonly delimiter: string
  readonly quote: string
}

/** Most cells of a row that is no mistake. */
export const MOST_CELLS = 5

/** Returns what csv-parse makes of rows, or undefined if their quotes are wrong. Rows of empty cells are no documents. */
export function parsedRows(
  text: string,
  { delimiter, quote }: Written,
  isRelaxed: boolean,
  columns = MOST_CELLS,
): string[][] | undefined {
  try {
    const rows = parse(text, {
      delimiter,
      quote,
      escape: quote,
      record_delimiter: ['\r\n', '\n', '\r'],
      relax_column_count: true,
      relax_quotes: isRelaxed,
      skip_empty_lines: true,
      bom: true,
    })
    return rows.filter(row => row.some(cell => cell !== '')).map(row => withoutEnd(row, columns))
  } catch {
    return undefined
  }
}

/** A delimiter behind the last column begins no cell. */
function withoutEnd(row: string[], columns: number): string[] {
  return row.length === columns + 1 && row.at(-1) === '' ? row.slice(0, -1) : row
}

const PIECES = ['a', 'bc', 'ä', '€', '😀', ' ', '', '1', '\\', '\t', '\u0001', '\0', '\ufeff', 'x'.repeat(70)]

/** A table as any writer may write it: every cell that has to be quoted is, and some others. */
export function randomTable(random: Seeded, written: Written, columns = MOST_CELLS): string {
  const { below, chance, pick } = random
  const { delimiter, quote } = written
  const lineEnd = pick(['\n', '\r\n', '\r'])
  const cell = () => {
    const text = Array.from({ length: below(4) }, () =>
      pick([...PIECES, delimiter, quote, '\n', '\r', '\r\n', "'", '"']),
    ).join('')
    const isQuoted = chance(0.2) || [delimiter, quote, '\n', '\r'].some(one => text.includes(one))
    return isQuoted ? quote + text.replaceAll(quote, quote + quote) + quote : text
  }
  const isExact = chance(0.5)
  const row = () =>
    Array.from({ length: isExact ? columns : Math.max(1, columns - 4) + below(MOST_CELLS + 1) }, cell).join(delimiter)
  return Array.from({ length: 1 + below(8) }, row).join(lineEnd) + pick(['', lineEnd])
}

/** Text in which anything may be wrong. csv-parse takes no blanks around quotes. */
export function randomChaos({ below, pick }: Seeded, { delimiter, quote }: Written, hasBlanks = false): string {
  const pieces = ['a', 'b', delimiter, quote, quote, '\n', '\r', '\r\n', 'ä', ...(hasBlanks ? [' ', ' '] : [])]
  return Array.from({ length: below(30) }, () => pick(pieces)).join('')
}

const VALUES = [
  ['0', '-0', '1', '-1', '007', '12', '-12.50', '0.5', '.5', '5.', '-.5', '+3', '1e5', '--1', '-', '.', '1.2.3'],
  ['127', '128', '-128', '-129', '32767', '32768', '2147483647', '2147483648', '99', '9999', '999999999'],
  ['123456789012345', '1234567890123456', '9007199254740991', '9007199254740993', '12345678901234567'],
  ['12345678.1234567', '1234567890.123456', '9223372036854775807', '9223372036854775808', '18446744073709551615'],
  ['1.234,56', '1,5', '1.234', '€ 12,00', '12 %', '1 234', ' 12', '12 ', '0.0', '-0.0', '00', '0.10'],
  ['true', 'false', 'TRUE', 'Tru', 'yes', 'no', 'Ja', 'nein', 't', 'f', 'T', '\u0011', 'vrai', 'falsch', 'trues'],
  ['NA', ' NA ', 'NULL', 'null', 'NaN', '\\N', '-', '#N/A', 'N', 'NAN'],
  ['2026-11-29', '29.11.2026', '{"a":1}', '[1,2]', '{', ' {"a":"b"}', 'word', 'two words', ''],
].flat()

/** A table of values, as programs write them, in which each column has its own kind, mostly. */
export function randomValues(random: Seeded, { delimiter, quote }: Written, columns: number): string {
  const lineEnd = random.pick(['\n', '\r\n', '\r'])
  const kinds = Array.from({ length: columns }, () => {
    const from = random.below(VALUES.length)
    return random.chance(0.2) ? VALUES : VALUES.slice(from, from + 1 + random.below(8))
  })
  const isQuoted = random.chance(0.2)
  const isPadded = random.chance(0.1)
  const cell = (among: readonly string[]) => {
    const text = random.pick(among)
    const mustQuote = [delimiter, quote].some(one => one !== '' && text.includes(one))
    const shown = mustQuote || isQuoted ? quote + text.replaceAll(quote, quote + quote) + quote : text
    return isPadded ? ` ${shown} ` : shown
  }
  const rows = Array.from({ length: 1 + random.below(12) }, () => kinds.map(cell).join(delimiter))
  return rows.join(lineEnd) + random.pick(['', lineEnd, delimiter + lineEnd])
}
