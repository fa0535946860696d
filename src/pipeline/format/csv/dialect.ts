/** Finds out by looking how a CSV file is written: encoding, delimiter and quote. */
import { isUtf8 } from 'node:buffer'
import { endOfLine } from '../../../base/text/bytes.js'
import { utf16Of } from '../look-alike.js'
import { RowSplitter } from './split-row.js'
import type { Encoding } from '../formats.js'
import { toUtf8 } from '../to-utf8.js'

export interface Dialect {
  readonly encoding: Encoding
  /** One ASCII character each. No quote: every cell is taken as it stands. */
  readonly delimiter: string
  readonly quote: string | undefined
  /** Bytes before the first row: a byte order mark. */
  readonly skipBytes: number
  /** Bytes of Excel's line `sep=;` in UTF-8, which comes next. */
  readonly sepBytes: number
  /** The first rows, in UTF-8. */
  readonly rows: Buffer
  /** Whether each row has one cell more than the first one, and not as an empty one at its end: R writes the names of rows so. */
  readonly hasRowNames: boolean
}

/** The parts of the dialect that the user has set. */
interface DialectOptions {
  readonly encoding?: Encoding | undefined
  readonly delimiter?: string | undefined
  readonly quote?: string | undefined
}

/** `sample`: the first bytes of the file. `isWhole`: it has no more. */
export function findDialect(sample: Buffer, isWhole: boolean, given: DialectOptions): Dialect {
  const encoding = given.encoding ?? encodingOf(sample, isWhole)
  const skipBytes = markLength(sample, encoding)
  const text = toUtf8(encoding)(sample.subarray(skipBytes), isWhole)
  const [sepLine = '', separator] = /^sep=([^\r\n])(?:\r\n|[\r\n]|$)/i.exec(text.toString('latin1', 0, 8)) ?? []
  const rows = text.subarray(sepLine.length)
  const quote = given.quote ?? quoteIn(rows)
  const delimiter = given.delimiter ?? separator ?? delimiterIn(rows, quote, isWhole)
  return {
    encoding,
    delimiter,
    quote: quote === '' ? undefined : quote,
    skipBytes,
    sepBytes: sepLine.length,
    rows,
    hasRowNames: hasRowNames(rowShapes(rows, delimiter, quote, isWhole)),
  }
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

/** Most rows that are looked at. */
const MOST_ROWS = 200

/** Returns the single quote if half of the first lines hold cells in single quotes, and no cell begins with a double one. */
function quoteIn(rows: Buffer): string {
  const lines = rows
    .toString('latin1')
    .split(/[\r\n]+/, MOST_ROWS)
    .filter(line => line !== '')
  if (lines.some(line => /(?:^|[,;|\t])"/.test(line))) return '"'
  const single = lines.filter(line => /(?:^|[,;|\t])'[^']*'(?:[,;|\t]|$)/.test(line)).length
  return single > 0 && single >= lines.length / 2 ? "'" : '"'
}

const DELIMITERS = [',', ';', '\t', '|']

/** Returns the delimiter that gives most rows as many cells as the first one has. A file with one column may have any. */
function delimiterIn(rows: Buffer, quote: string, isWhole: boolean): string {
  let best = { delimiter: ',', share: 0, cells: 1 }
  for (const delimiter of DELIMITERS) {
    const shapes = rowShapes(rows, delimiter, quote, isWhole)
    const cells = (shapes[0]?.cells ?? 1) + (hasRowNames(shapes) ? 1 : 0)
    const share = shapes.filter(shape => shape.cells === cells).length / shapes.length
    if (cells > 1 && (share > best.share || (share === best.share && cells > best.cells)))
      best = { delimiter, share, cells }
  }
  return best.delimiter
}

function hasRowNames([first, ...others]: readonly Shape[]): boolean {
  if (first === undefined || others.length < 2) return false
  return others.every(({ cells }) => cells === first.cells + 1) && others.some(({ endsEmpty }) => !endsEmpty)
}

/** `cells`: -1 if the row cannot be split. */
interface Shape {
  readonly cells: number
  readonly endsEmpty: boolean
}

function rowShapes(rows: Buffer, delimiter: string, quote: string, isWhole: boolean): Shape[] {
  const splitter = new RowSplitter(delimiter.charCodeAt(0), quote === '' ? undefined : quote.charCodeAt(0))
  const shapes: Shape[] = []
  let at = 0
  while (at < rows.length && shapes.length < MOST_ROWS) {
    const found = splitter.next(rows, at, isWhole)
    if (found === 'cut' || found === 'open') break
    const { count, starts, ends } = splitter
    // With another delimiter, quotes may be in the wrong place.
    if (found === 'broken') shapes.push({ cells: -1, endsEmpty: false })
    else if (count > 1 || ends[0] !== starts[0])
      shapes.push({ cells: count, endsEmpty: starts[count - 1] === ends[count - 1] })
    at = found === 'broken' ? endOfLine(rows, at) : splitter.end
  }
  return shapes
}
