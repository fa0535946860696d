/** Writes each row of a sheet of a workbook as a line of NDJSON. */
import { isUtf8 } from 'node:buffer'
import { fail, isSluiceError } from '../../../base/failure/failure.js'
import type { Lines, StoredFile } from '../../../base/flow.js'
import { free } from '../../../base/memory.js'
import { visible } from '../../../base/text/shown.js'
import { zipContent } from '../archive/zip.js'
import type { WorkbookFile } from '../archive/open-archive.js'
import type { ZipEntry } from '../archive/zip-directory.js'
import { ByteReader } from '../byte-reader.js'
import { columnForms } from '../csv/column-forms.js'
import { AS_IT_STANDS, type Column, columnsOf, columnsProblem, TEXT } from '../csv/columns.js'
import type { FirstRows } from '../csv/first-rows.js'
import { LineWriter } from '../csv/line-writer.js'
import { missingIn } from '../csv/missing-values.js'
import { nameColumns } from '../csv/name-columns.js'
import { quotationOf } from '../csv/quotation.js'
import { RowSplitter } from '../csv/split-row.js'
import type { CsvOptions } from '../formats.js'
import { readSharedStrings } from './shared-strings.js'
import { OWN, SheetRows } from './sheet-rows.js'
import { headIn, namesOfRow, type SheetRow } from './table-head.js'
import { chosenSheet, listedSheets, type OpenPart, readWorkbook, type Sheet, type Workbook } from './workbook.js'

interface SheetOptions {
  /** The name of the sheet. Absent: the first one. */
  readonly sheet?: string | undefined
  /** How a table is read, if that is not only for text. */
  readonly csv?: CsvOptions | undefined
  readonly idColumns?: readonly string[] | undefined
  readonly showsCells?: boolean | undefined
}

/** Rows and bytes that show how a table is written. */
const FIRST_ROWS = 200
const FIRST_BYTES = 1 << 20

/**
 * Reads the rows of one sheet while they come. A row that does not fit is a refused line with its reason. Empty rows are no lines.
 * Throws SluiceError INPUT_UNREADABLE, and INPUT_MALFORMED for a column that an option names.
 */
export async function xlsxLines(
  { input, reader, file, entries }: WorkbookFile,
  options: SheetOptions,
  note: (name: string, found: string) => void,
): Promise<Lines> {
  try {
    const open = partsOf(input, file, entries)
    const workbook = await readWorkbook(open)
    const sheet = chosenSheet(workbook.sheets, options.sheet)
    if (typeof sheet === 'string') throw fail('INPUT_UNREADABLE', { input, problem: sheet })
    const entry = entryOf(entries, sheet.path)
    if (entry === undefined) throw new Error(`its sheet ${sheet.name} is missing`)
    const rows = new SheetRows({ ...workbook, strings: await stringsOf(workbook, open) })
    await reader.skip(entry.offset - reader.at)
    const chunks = zipContent(input, reader, entry)
    const first = await firstRows(rows, chunks, options.csv?.skipLines ?? 0)
    const table = tableOf(first, options)
    if (table.problem !== undefined)
      throw fail('INPUT_MALFORMED', {
        input,
        format: 'xlsx',
        problem: `has a sheet ${visible(sheet.name)}, but ${table.problem}`,
      })
    const merged = () =>
      rows.merged === 0
        ? undefined
        : note(
            input,
            `a sheet with cells that are merged over rows (${rows.merged}). Only the first row of each has its value`,
          )
    return {
      kind: 'elements',
      at: 0,
      found: described(workbook.sheets, sheet, table),
      bytes: linesOf({ input, reader, chunks, rows, table, merged, skips: options.csv?.skipLines ?? 0 }),
    }
  } catch (error) {
    await reader.close()
    throw explained(input, error)
  }
}

/** Returns what opens other parts of the file than the one that is read last. */
function partsOf(input: string, file: StoredFile, entries: readonly ZipEntry[]): OpenPart {
  return path => {
    const entry = entryOf(entries, path)
    return entry === undefined ? undefined : zipContent(input, new ByteReader(storedBytes(file, entry)), entry)
  }
}

/** Office programs do not agree on capitals in the names of parts. */
function entryOf(entries: readonly ZipEntry[], path: string): ZipEntry | undefined {
  const same = entries.filter(({ name }) => name.toLowerCase() === path.toLowerCase())
  if (same.length > 1) throw new Error(`it has two parts of the name ${path}`)
  return same[0]
}

const BLOCK_BYTES = 1 << 20
/** Most bytes of what stands in front of a file, without its name. */
const HEADER_BYTES = 30 + 0xffff

async function* storedBytes(
  file: StoredFile,
  { offset, rawName, storedBytes: length }: ZipEntry,
): AsyncGenerator<Buffer> {
  const size = file.reading?.stat.size ?? file.stat.size
  const end = Math.min(size, offset + HEADER_BYTES + rawName.length + length)
  for (let at = offset; at < end; at += BLOCK_BYTES) {
    const block = await file.part(at, Math.min(end, at + BLOCK_BYTES))
    yield block
    if (block.byteLength === block.buffer.byteLength) free(block.buffer)
  }
}

async function stringsOf({ strings }: Workbook, open: OpenPart) {
  if (strings === undefined) return undefined
  const part = open(strings)
  if (part === undefined) throw new Error('the part with its texts is missing')
  return await readSharedStrings(part)
}

/** Reads the first rows into memory of their own. `skips`: rows of the sheet that are passed over. */
async function firstRows(rows: SheetRows, chunks: AsyncIterator<Uint8Array>, skips: number): Promise<SheetRow[]> {
  const first: SheetRow[] = []
  let bytes = 0
  while (first.length < FIRST_ROWS && bytes < FIRST_BYTES) {
    if (rows.next()) {
      if (rows.number <= skips) continue
      first.push(keptRow(rows))
      bytes += rows.length
      continue
    }
    const { done, value } = await chunks.next()
    if (done === true) break
    rows.add(value)
  }
  return first
}

function keptRow({ number, bytes, length, starts, ends, marks, count, problem, hasError }: SheetRows): SheetRow {
  const cells = { starts: starts.slice(0, count), ends: ends.slice(0, count), marks: marks.slice(0, count) }
  return { number, bytes: Buffer.from(bytes.subarray(0, length)), ...cells, count, problem, hasError }
}

/** How the rows of a sheet become documents. */
interface Table {
  /** What is wrong with it. */
  readonly problem?: string | undefined
  readonly names: readonly string[]
  readonly notes: readonly string[]
  /** Rows that were read already. */
  readonly rows: readonly SheetRow[]
  readonly writer: LineWriter
  /** Names more columns if a row has cells behind those that have a name. Returns how many there are. */
  widen(cells: number): number
  nameOf(column: number): string
}

function tableOf(first: readonly SheetRow[], { csv = {}, idColumns = [], showsCells = false }: SheetOptions): Table {
  const { columns: given, types = {}, inferTypes = false, empty } = csv
  const hasHead = given === undefined || csv.skipHeader === true
  const at = given === undefined ? headIn(first) : 0
  const head = hasHead ? first[at] : undefined
  const others = first.slice(hasHead ? at + 1 : 0)
  const width = Math.max(given?.length ?? 0, head?.count ?? 0, ...others.map(({ count }) => count))
  const rows = others.map(row => filled(row, width))
  const written = given ?? (head === undefined ? [] : namesOfRow(head))
  const isUsed = (column: number) => rows.some(({ starts, ends }) => starts[column] !== ends[column])
  const padded = Array.from({ length: width }, (_, column) => written[column] ?? '')
  const named = nameColumns(padded, false, column => !isUsed(column))
  const names = [...named.names]
  const problem = names.length === 0 ? undefined : columnsProblem(names, types, idColumns)
  const sample = asCsv(rows, width)
  // Cells say what they are, so words for missing values are found as if types were inferred.
  const missing = missingIn(sample, names, { ...csv, inferTypes: true })
  const { isMissing } = missing
  const known = { names, types, inferTypes: true, isMissing, takesComma: false, quotation: NO_QUOTES, showsCells }
  // Only numbers that are texts have a form.
  const { forms, notes } = columnForms(asCsv(rows, width, OWN), known)
  const typing = { types, inferTypes, takesComma: false, quotation: NO_QUOTES, forms, missingIn: missing.of }
  const plain = { ...typing, forms: new Map(), missingIn: () => undefined }
  const columns = ofCells(
    columnsOf(names, named.given, typing),
    columnsOf(names, named.given, plain).map(({ read }, at) => (isTyped(at) ? (read ?? asText) : asItStands)),
  )
  const errors = first.some(({ hasError }) => hasError) ? ['Cells with errors are missing values'] : []
  const above = head === undefined || at === 0 ? [] : [`Its row ${head.number} names the columns`]
  return {
    problem,
    names: names.filter((_, column) => !named.given.has(column) || isUsed(column)),
    notes: [...above, named.note, missing.note, ...errors, ...notes].filter(text => text !== ''),
    rows,
    writer: new LineWriter(columns, empty === 'null', NO_QUOTES, showsCells),
    widen: count => {
      if (count <= columns.length) return columns.length
      const more = nameColumns([...names, ...Array.from({ length: count - names.length }, () => '')], false).names
      const given = new Set(more.keys())
      columns.push(...ofCells(columnsOf(more, given, plain), []).slice(columns.length))
      names.push(...more.slice(names.length))
      return columns.length
    },
    nameOf: column => names[column] ?? '',
  }

  function isTyped(column: number): boolean {
    return Object.hasOwn(types, names[column] ?? '')
  }
}

type Read = NonNullable<Column['read']>

const asItStands: Read = () => AS_IT_STANDS
const asText: Read = () => TEXT

/** Reads numbers and truth values in a way of their own. Absent: they stand as they are. */
function ofCells(columns: readonly Column[], owns: readonly Read[]): Column[] {
  return columns.map((column, at) => {
    const [read = asText, own = asItStands] = [column.read, owns[at]]
    const readCell: Read = (...cell) => ((cell[3] & OWN) === 0 ? read(...cell) : own(...cell))
    return { ...column, read: readCell }
  })
}

/** Returns a row with more empty cells. */
function filled(row: SheetRow, count: number): SheetRow {
  const more = Array.from({ length: count - row.count }, () => 0)
  const { starts, ends, marks } = row
  return { ...row, starts: [...starts, ...more], ends: [...ends, ...more], marks: [...marks, ...more], count }
}

const COMMA = 0x2c
const NO_QUOTES = quotationOf('')

/** Writes rows as CSV, because what is found in rows of CSV is found in these as well. `without`: the mark of cells that are left out. */
function asCsv(rows: readonly SheetRow[], width: number, without = 0): FirstRows {
  const lines = rows.map(({ bytes, starts, ends, marks }) =>
    Array.from({ length: width }, (_, cell) => {
      const text = bytes.toString('latin1', starts[cell], ends[cell])
      const isLeft = text === '' || ((marks[cell] ?? 0) & without) !== 0
      return isLeft ? '' : `"${text.replaceAll('"', '""')}"`
    }).join(','),
  )
  const sample = Buffer.from(lines.map(line => `${line}\n`).join(''), 'latin1')
  return { sample, isWhole: true, splitter: new RowSplitter(COMMA, quotationOf('"')), hasHeader: false }
}

interface Reading {
  readonly input: string
  readonly reader: ByteReader
  readonly chunks: AsyncGenerator<Uint8Array>
  readonly rows: SheetRows
  readonly table: Table
  /** Says at the end that cells are merged. */
  merged(): void
  readonly skips: number
}

async function* linesOf({ input, reader, chunks, rows, table, merged, skips }: Reading): AsyncGenerator<Uint8Array> {
  const { writer } = table
  try {
    for (const row of table.rows) {
      write(row)
      if (writer.isFull) yield writer.take()
    }
    for (;;) {
      while (rows.next()) {
        if (rows.number <= skips) continue
        write(rows)
        if (writer.isFull) yield writer.take()
      }
      const lines = writer.take()
      if (lines.length > 0) yield lines
      const { done, value } = await chunks.next()
      if (done === true) break
      rows.add(value)
    }
    rows.end()
    merged()
    await reader.skip(Infinity)
  } catch (error) {
    throw explained(input, error)
  } finally {
    await chunks.return(undefined)
    await reader.close()
  }

  function write(row: SheetRow | SheetRows): void {
    const columns = table.widen(row.count)
    if (row instanceof SheetRows) row.fill(columns)
    const at = `row ${row.number}`
    const end = row instanceof SheetRows ? row.length : row.bytes.length
    if (!isUtf8(row.bytes.subarray(0, end))) return writer.refused(`${at} is not valid UTF-8`, row.bytes, row)
    if (row.problem !== undefined) {
      const { column, what } = row.problem
      return writer.refused(`${at}, column ${column + 1} (${visible(table.nameOf(column))}): ${what}`, row.bytes, row)
    }
    const problem = writer.row(row.bytes, row)
    if (problem !== undefined) writer.refused(`${at}, ${problem}`, row.bytes, row)
  }
}

function explained(input: string, error: unknown): unknown {
  if (isSluiceError(error) || !(error instanceof Error) || error.name === 'AbortError') return error
  const problem = `its workbook data cannot be read (${visible(error.message)})`
  return fail('INPUT_UNREADABLE', { input, problem }, { cause: error })
}

/** Most columns that a note names. */
const NAMED = 20

/** Says what was found: `Excel workbook, sheet Orders, 5 columns: id, name, … Sluice does not read its other sheets: Notes`. */
function described(sheets: readonly Sheet[], sheet: Sheet, { names, notes }: Table): string {
  const others = sheets.filter(other => other !== sheet)
  const columns = names.length === 0 ? 'no rows' : `${counted(names.length, 'column')}: ${listed(names)}`
  const hidden = sheet.isHidden ? ', which is hidden' : ''
  const left = others.length === 0 ? [] : [`Sluice does not read its other sheets: ${listedSheets(others)}`]
  return [`Excel workbook, sheet ${visible(sheet.name)}${hidden}, ${columns}`, ...left, ...notes].join('. ')
}

function listed(names: readonly string[]): string {
  return names.slice(0, NAMED).map(visible).join(', ') + (names.length > NAMED ? ', …' : '')
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
