/** Finds out by looking how a CSV file is written: encoding, delimiter and quote. */
import { isUtf8 } from 'node:buffer'
import { utf16Of } from '../look-alike.js'
import { commentsIn, firstLines, type Lead, leadIn, noLead } from './lead.js'
import { columnsIn, MOST_ROWS, rowShapes, type RowShape } from './row-shapes.js'
import type { Encoding } from '../formats.js'
import { toUtf8 } from '../to-utf8.js'

export interface Dialect {
  readonly encoding: Encoding
  /** One ASCII character. */
  readonly delimiter: string
  /** As `quote` of `CsvOptions`. */
  readonly quote: string
  /** Bytes before the first row: a byte order mark. */
  readonly skipBytes: number
  /** Bytes of Excel's line `sep=;` in UTF-8, which comes next. */
  readonly sepBytes: number
  /** The lines that come next: above the names of the columns. */
  readonly lead: Lead
  /** The first rows behind them, in UTF-8. */
  readonly rows: Buffer
  /** What they look like. */
  readonly shapes: readonly RowShape[]
}

/** The parts of the dialect that the user has set. */
interface DialectOptions {
  readonly encoding?: Encoding | undefined
  readonly delimiter?: string | undefined
  readonly quote?: string | undefined
  readonly skipLines?: number | undefined
  readonly columns?: readonly string[] | undefined
}

/** `sample`: the first bytes of the file. `isWhole`: it has no more. */
export function findDialect(sample: Buffer, isWhole: boolean, given: DialectOptions): Dialect {
  const encoding = given.encoding ?? encodingOf(sample, isWhole)
  const skipBytes = markLength(sample, encoding)
  const text = toUtf8(encoding)(sample.subarray(skipBytes), isWhole)
  const [sepLine = '', separator] = /^sep=([^\r\n])(?:\r\n|[\r\n]|$)/i.exec(text.toString('latin1', 0, 8)) ?? []
  const all = text.subarray(sepLine.length)
  const named = given.delimiter ?? separator
  const among = named === undefined ? DELIMITERS : [named]
  const quote = given.quote ?? slashedOr(quoteIn(all), all, among, isWhole)
  const { lead, delimiter } = placed(all, among, quote, isWhole, given)
  const rows = all.subarray(lead.bytes)
  return {
    encoding,
    delimiter,
    quote,
    skipBytes,
    sepBytes: sepLine.length,
    lead,
    rows,
    shapes: rowShapes(rows, delimiter, quote, isWhole),
  }
}

/** Finds the lines above the table, unless the user says how many they are, and its delimiter. */
function placed(
  rows: Buffer,
  among: readonly string[],
  quote: string,
  isWhole: boolean,
  { skipLines, columns }: DialectOptions,
): { readonly lead: Lead; readonly delimiter: string } {
  const given = skipLines === undefined ? noLead : firstLines(rows, skipLines)
  const plain = delimiterIn(rows.subarray(given.bytes), among, quote, isWhole)
  // Where the names of the columns are no row, nothing shows which lines stand above rows.
  const isFound = skipLines === undefined && columns === undefined && !isClear(rows, plain)
  const found = isFound ? leadIn(rows, among, quote, isWhole) : undefined
  if (found !== undefined) return { lead: found, delimiter: found.delimiter }
  return { lead: isFound && plain.cells === 1 ? commentsIn(rows) : given, delimiter: plain.delimiter }
}

/** The share of rows that have as many cells as the first one, if that one names the columns. */
const CLEAR_SHARE = 0.9
const NUMBER_SIGN = 0x23

function isClear(rows: Buffer, { share, cells, filled }: Fit): boolean {
  return share >= CLEAR_SHARE && cells > 1 && filled > 1 && rows[0] !== NUMBER_SIGN
}

function encodingOf(sample: Buffer, isWhole: boolean): Encoding {
  if (sample[0] === 0xff && sample[1] === 0xfe) return 'utf-16le'
  if (sample[0] === 0xfe && sample[1] === 0xff) return 'utf-16be'
  const wide = utf16Of(sample)
  if (wide !== undefined) return wide === 'UTF-16LE text' ? 'utf-16le' : 'utf-16be'
  // The sample may end inside a character.
  const isValid = isUtf8(sample) || (!isWhole && [1, 2, 3].some(cut => isUtf8(sample.subarray(0, -cut))))
  if (isValid) return 'utf-8'
  // One broken character among many does not make it another encoding.
  const text = sample.toString('utf8')
  const broken = text.match(/\ufffd/g)?.length ?? 0
  const whole = text.match(/[^\p{ASCII}\ufffd]/gu)?.length ?? 0
  return whole >= broken ? 'utf-8' : 'windows-1252'
}

function markLength(sample: Buffer, encoding: Encoding): number {
  const mark = { 'utf-8': 'efbbbf', 'utf-16le': 'fffe', 'utf-16be': 'feff', 'windows-1252': '' }[encoding]
  return sample.toString('hex', 0, mark.length / 2) === mark ? mark.length / 2 : 0
}

/** Returns the single quote if it stands around all names, or half of the first lines hold cells in single quotes, and no cell begins with a double one. */
function quoteIn(rows: Buffer): string {
  const lines = rows
    .toString('latin1')
    .split(/[\r\n]+/, MOST_ROWS)
    .filter(line => line !== '')
  if (lines.some(line => /(?:^|[,;|\t])"/.test(line))) return '"'
  const [names = ''] = lines
  if (/^'[^']*'(?:[,;|\t]'[^']*')+$/.test(names)) return "'"
  const single = lines.filter(line => /(?:^|[,;|\t])'[^']*'(?:[,;|\t]|$)/.test(line)).length
  return single > 0 && single >= lines.length / 2 ? "'" : '"'
}

/** Returns the quote behind a backslash if more rows fit so. Otherwise the quote. */
function slashedOr(quote: string, rows: Buffer, among: readonly string[], isWhole: boolean): string {
  const slashed = `\\${quote}`
  if (!rows.includes(slashed)) return quote
  const shareWith = (one: string) => delimiterIn(rows, among, one, isWhole).share
  return shareWith(slashed) > shareWith(quote) ? slashed : quote
}

const DELIMITERS = [',', ';', '\t', '|']

interface Fit {
  readonly delimiter: string
  readonly share: number
  readonly cells: number
  /** How many cells of the first row hold something. */
  readonly filled: number
}

/** Returns the delimiter that gives most rows as many cells as the first one has. A file with one column may have any. */
function delimiterIn(rows: Buffer, among: readonly string[], quote: string, isWhole: boolean): Fit {
  let best: Fit = { delimiter: among[0] ?? ',', share: 0, cells: 1, filled: 1 }
  for (const delimiter of among) {
    const shapes = rowShapes(rows, delimiter, quote, isWhole)
    const cells = columnsIn(shapes)
    const share = shapes.filter(shape => shape.cells === cells).length / shapes.length
    if (cells > 1 && (share > best.share || (share === best.share && cells > best.cells)))
      best = { delimiter, share, cells, filled: shapes[0]?.filled ?? 0 }
  }
  // R separates names in quotes by blanks, which break the quotes of any other table.
  if (best.cells > 1 || among.length === 1 || quote === '') return best
  const shapes = rowShapes(rows, BLANK, quote, isWhole)
  const isBroken = rowShapes(rows, best.delimiter, quote, isWhole)[0]?.cells === -1
  const cells = columnsIn(shapes)
  const isTable = isBroken && cells > 1 && shapes.every((shape, row) => row === 0 || shape.cells === cells)
  return isTable ? { delimiter: BLANK, share: 1, cells, filled: cells } : best
}

const BLANK = ' '
