import { fail } from '../../../base/failure/failure.js'
import type { Lines } from '../../../base/flow.js'
import { visible } from '../../../base/text/shown.js'
import type { CsvOptions, Encoding } from '../formats.js'
import { columnForms } from './column-forms.js'
import { columnsOf, columnsProblem } from './columns.js'
import { type Dialect, findDialect } from './dialect.js'
import { LineWriter } from './line-writer.js'
import { Rows } from './rows.js'
import { missingIn } from './missing-values.js'
import { headerProblem, jsonProblem, numbersAsNames } from './header-problem.js'
import { nameColumns } from './name-columns.js'
import { quotationOf } from './quotation.js'
import { endsShort, hasRowNames } from './row-shapes.js'
import { MOST_CELLS, RowSplitter } from './split-row.js'
import { type ToUtf8, toUtf8 } from '../to-utf8.js'
import type { CsvTable } from './kernel/kernel.js'
import { openUsualRows, type UsualRows } from './usual-rows.js'

/** Number of bytes that show the dialect of a file. */
const SAMPLE_BYTES = 64 << 10

/**
 * Writes each row as a line of NDJSON. A row that does not fit is a refused line with its reason. `found`: what looking at the file showed.
 * Throws SluiceError INPUT_MALFORMED, for the header at once, and for a quote that is never closed after all rows before it.
 */
export async function csvLines(
  input: string,
  bytes: AsyncIterable<Uint8Array>,
  options: CsvOptions,
  { idColumns = [], showsCells = false, usualRows = openUsualRows }: TableNeeds = {},
): Promise<Pick<Lines, 'bytes' | 'found' | 'offered' | 'lacking'>> {
  const malformed = (problem: string) => fail('INPUT_MALFORMED', { input, format: 'csv', problem })
  const opened = bytes[Symbol.asyncIterator]()
  try {
    const { sample, rest, isWhole, iterator } = await readSample(opened)
    const dialect = findDialect(sample, isWhole, options)
    const { delimiter, quote, sepBytes, lead } = dialect
    const { skipLines } = options
    if (skipLines !== undefined && lead.lines < skipLines && !isWhole)
      throw malformed(`is not valid csv: --skip-lines is ${skipLines}, but these lines have more than 64 KiB`)
    const quotation = quotationOf(quote)
    const rows = new Rows(delimiter, quotation, lead.lines + (sepBytes === 0 ? 1 : 2))
    const convert = toUtf8(dialect.encoding)
    rows.add(convert(rest.subarray(dialect.skipBytes), false).subarray(sepBytes + lead.bytes))
    const hasHeader = options.columns === undefined || options.skipHeader === true
    const isNamed = options.columns !== undefined || skipLines !== undefined
    const json = isNamed ? undefined : jsonProblem(dialect.rows)
    if (json !== undefined) throw malformed(`is not valid csv: ${json}`)
    const header = hasHeader ? await readHeader(iterator, convert, rows) : []
    if (typeof header === 'string') throw malformed(header)
    const wrong = options.columns === undefined ? headerProblem(header, dialect, skipLines) : undefined
    if (wrong !== undefined) throw malformed(`is not valid csv: ${wrong}`)
    const { names, given, note } =
      options.columns === undefined
        ? nameColumns(
            endsShort(dialect.shapes) ? header.slice(0, -1) : header,
            hasRowNames(dialect.shapes) && header.length > 0,
          )
        : { names: options.columns, given: new Set<number>(), note: '' }
    const { types = {}, inferTypes = false } = options
    const problem = names.length === 0 ? undefined : columnsProblem(names, types, idColumns)
    if (problem !== undefined) throw malformed(`is not valid csv: ${problem}`)
    const splitter = new RowSplitter(delimiter.charCodeAt(0), quotation)
    const first = { sample: dialect.rows, isWhole, splitter, hasHeader }
    const missing = missingIn(first, names, options)
    const { isMissing } = missing
    const takesComma = delimiter === ';'
    const {
      forms,
      offered,
      notes: ofForms,
    } = columnForms(first, {
      names,
      types,
      inferTypes,
      isMissing,
      takesComma,
      quotation,
      showsCells,
    })
    const columns = columnsOf(names, given, {
      types,
      inferTypes,
      takesComma,
      quotation,
      missingIn: missing.of,
      forms,
    })
    const writesNull = options.empty === 'null'
    const table: CsvTable = {
      columns,
      delimiter: delimiter.charCodeAt(0),
      quotation,
      writesNull,
      longestMissing: missing.longest,
    }
    const openWriter = () => {
      const usual = columns.length === 0 ? undefined : usualRows(table)
      return { usual, writer: new LineWriter(columns, writesNull, quotation, showsCells, usual?.memory) }
    }
    const above = sayAbove(lead.lines)
    const numbers = isNamed ? '' : numbersAsNames(names)
    const notes = [above, note, numbers, missing.note, ...ofForms].filter(text => text !== '').join('. ')
    return {
      ...(names.length === 0 ? {} : { found: described(dialect, names, notes), offered, lacking: missing.lacking }),
      bytes: linesOf({
        iterator,
        convert,
        rows,
        openWriter,
        columns: names.length,
        encoding: dialect.encoding,
        malformed,
      }),
    }
  } catch (error) {
    await opened.return?.()
    throw error
  }
}

/** What a load needs of a table. */
interface TableNeeds {
  /** Columns that it must have, because ids are made of them. */
  readonly idColumns?: readonly string[] | undefined
  /** Whether the reason of a rejected row may hold a cell. */
  readonly showsCells?: boolean | undefined
  /** Opens what writes usual rows fast. Default: the kernel. */
  readonly usualRows?: typeof openUsualRows | undefined
}

/** Reads the first bytes. An early error of the source comes after them, from the iterator for the rest. */
async function readSample(opened: AsyncIterator<Uint8Array>) {
  const parts: Buffer[] = []
  let length = 0
  let iterator = opened
  while (length < SAMPLE_BYTES) {
    try {
      const { done, value } = await opened.next()
      if (done === true) break
      parts.push(Buffer.from(value))
      length += value.length
    } catch (error) {
      const next = () => {
        throw error
      }
      iterator = { next }
      break
    }
  }
  const rest = Buffer.concat(parts)
  // Whatever the chunks are, the same bytes decide.
  return { sample: rest.subarray(0, SAMPLE_BYTES), rest, isWhole: length < SAMPLE_BYTES, iterator }
}

/** Returns the cells of the first row that is not blank, none if there is no row, or what is wrong. */
async function readHeader(
  iterator: AsyncIterator<Uint8Array>,
  convert: ToUtf8,
  rows: Rows,
): Promise<string[] | string> {
  for (;;) {
    const found = rows.next()
    if (found === 'row' && rows.isBlank) continue
    if (found === 'row' && rows.cells.count > MOST_CELLS)
      return `is not valid csv: its first row has ${counted(rows.cells.count, 'cell')}, and Sluice reads at most ${counted(MOST_CELLS, 'column')}`
    if (found === 'row')
      return rows.isValid ? rows.texts().map(name => name.trim()) : 'is not valid csv: its first row is not valid text'
    if (found !== undefined) return `is not valid csv: the quotes of its first row are wrong`
    rows.keep()
    const { done, value } = await iterator.next()
    if (done !== true) rows.add(convert(value, false))
    else if (rows.isLast) return []
    else rows.end(convert(new Uint8Array(0), true))
  }
}

interface Reading {
  readonly iterator: AsyncIterator<Uint8Array>
  readonly convert: ToUtf8
  readonly rows: Rows
  /** Returns what writes the lines, and what writes usual ones into the same memory. */
  openWriter(): { readonly writer: LineWriter; readonly usual: UsualRows | undefined }
  readonly columns: number
  readonly encoding: Encoding
  malformed(problem: string): Error
}

function sayAbove(lines: number): string {
  return lines === 0 ? '' : `Sluice skips ${counted(lines, 'line')} above it`
}

async function* linesOf({
  iterator,
  convert,
  rows,
  openWriter,
  columns,
  encoding,
  malformed,
}: Reading): AsyncGenerator<Uint8Array> {
  const { writer, usual } = openWriter()
  try {
    for (;;) {
      if (writer.isFull || usual?.write(rows, writer) === true) {
        const lines = writer.take()
        if (lines.length > 0) yield lines
        continue
      }
      const found = rows.next()
      if (found === 'row' || found === 'broken') {
        writeRow(found)
        continue
      }
      const lines = writer.take()
      if (lines.length > 0) yield lines
      if (found === 'open')
        throw malformed(
          `ends inside a quoted cell. The quote of the row in line ${rows.nextLine} is never closed. Sluice read every row before it`,
        )
      if (found === 'long')
        throw malformed(`has a row of more than 64 MiB in line ${rows.nextLine}, or a quote there is never closed`)
      rows.keep()
      const { done, value } = await iterator.next()
      if (done !== true) rows.add(convert(value, false))
      else if (rows.isLast) return
      else rows.end(convert(new Uint8Array(0), true))
    }
  } finally {
    usual?.close()
    await iterator.return?.()
  }

  function writeRow(found: 'row' | 'broken'): void {
    const { bytes, cells, from, to, line } = rows
    const at = `line ${line}`
    if (found === 'broken') return writer.refusedText(`${at}: ${brokenIn(bytes.subarray(from, to))}`, bytes, from, to)
    const unfit = `${at} has ${counted(cells.count, 'cell')} for ${counted(columns, 'column')}`
    if (cells.count > MOST_CELLS) return writer.refusedText(unfit, bytes, from, to)
    if (!rows.isValid) return writer.refused(`${at} is not valid ${ENCODINGS[encoding]}`, bytes, cells)
    if (rows.isBlank) return writer.blank()
    const more = cells.count - columns
    // Many programs end each row with a delimiter.
    const endsEmpty = more === 1 && cells.starts[columns] === cells.ends[columns]
    if (more !== 0 && !endsEmpty) return writer.refused(unfit, bytes, cells)
    const problem = writer.row(bytes, cells)
    if (problem !== undefined) writer.refused(`${at}, ${problem}`, bytes, cells)
  }
}

function brokenIn(row: Buffer): string {
  const isSlashed = row.includes(String.raw`\"`)
  const advice = String.raw`. If a backslash stands before quotes in cells, pass --quote '\"'`
  return `text follows a closing quote${isSlashed ? advice : ''}`
}

const DELIMITERS: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'pipes',
  ' ': 'blanks',
}
const ENCODINGS = { 'utf-8': 'UTF-8', 'utf-16le': 'UTF-16LE', 'utf-16be': 'UTF-16BE', 'windows-1252': 'Windows-1252' }
/** Most columns that a note names. */
const NAMED = 20

/** Says what was found: `CSV with ;, Windows-1252, 12 columns: id, name, …`. */
function described({ delimiter, quote, encoding }: Dialect, names: readonly string[], note: string): string {
  const quotes = quote === '"' ? '' : quote === '' ? ', no quotes' : `, quote ${quote}`
  const columns = counted(names.length, 'column')
  const list = names.length === 0 ? '' : `: ${listed(names)}`
  return `CSV with ${DELIMITERS[delimiter] ?? delimiter}${quotes}, ${ENCODINGS[encoding]}, ${columns}${list}${note === '' ? '' : `. ${note}`}`
}

function listed(names: readonly string[]): string {
  return names.slice(0, NAMED).map(visible).join(', ') + (names.length > NAMED ? ', …' : '')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
