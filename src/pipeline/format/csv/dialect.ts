/** Finds out by looking how a CSV file is written: encoding, delimiter and quote. */
import { isUtf8 } from 'node:buffer'
import { endOfLine } from '../../../base/text/bytes.js'
import { utf16Of } from '../look-alike.js'
import { RowSplitter } from './split-row.js'
import { type Encoding, toUtf8 } from './to-utf8.js'

export interface Dialect {
  readonly encoding: Encoding
  /** One ASCII character each. No quote: every cell is taken as it stands. */
  readonly delimiter: string
  readonly quote: string | undefined
  /** Bytes before the first row: a byte order mark. */
  readonly skipBytes: number
  /** Bytes of Excel's line `sep=;` in UTF-8, which comes next. */
  readonly sepBytes: number
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
  return { encoding, delimiter, quote: quote === '' ? undefined : quote, skipBytes, sepBytes: sepLine.length }
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
    const counts = cellCounts(rows, delimiter, quote, isWhole)
    const cells = counts[0] ?? 1
    const share = counts.filter(count => count === cells).length / counts.length
    if (cells > 1 && (share > best.share || (share === best.share && cells > best.cells)))
      best = { delimiter, share, cells }
  }
  return best.delimiter
}

function cellCounts(rows: Buffer, delimiter: string, quote: string, isWhole: boolean): number[] {
  const splitter = new RowSplitter(delimiter.charCodeAt(0), quote === '' ? undefined : quote.charCodeAt(0))
  const counts: number[] = []
  let at = 0
  while (at < rows.length && counts.length < MOST_ROWS) {
    const found = splitter.next(rows, at, isWhole)
    if (found === 'cut' || found === 'open') break
    // With another delimiter, quotes may be in the wrong place.
    if (found === 'broken') counts.push(-1)
    else if (splitter.count > 1 || splitter.ends[0] !== splitter.starts[0]) counts.push(splitter.count)
    at = found === 'broken' ? endOfLine(rows, at) : splitter.end
  }
  return counts
}
