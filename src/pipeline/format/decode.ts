import { fail } from '../../base/failure/failure.js'
import type { Lines, Source } from '../../base/flow.js'
import { LINE_FEED, isWhiteSpace } from '../../base/text/bytes.js'
import type { IndexPattern } from '../../base/text/index-pattern.js'
import { type CsvOptions, type DumpFormat, type Format, isDump } from './formats.js'
import { type Container, containerKind } from './container-kind.js'
import { isOfficeFile, type LookAlike, lookAlike, utf16Of } from './look-alike.js'
import type { WorkbookFile } from './archive/open-archive.js'
import { hasFeatures, mayBeOneDocument, withNote } from './one-document.js'
import { relaxedJson } from './relaxed-json.js'
import { Look, type Opening, readOpening } from './opening.js'

export interface DecodeOptions {
  readonly format: Format
  /** Path of the array whose elements are the documents: keys and array positions, joined by dots. */
  readonly pick?: string | undefined
  /** How CSV is read. */
  readonly csv?: CsvOptions | undefined
  /** Columns that a table must have, because ids are made of them. */
  readonly idColumns?: readonly string[] | undefined
  /** Whether the reason why a row is rejected may hold one of its cells. Default false: reasons hold no values. */
  readonly showsCells?: boolean | undefined
  /** Whether `auto` may find a format whose documents carry their own ids. Default true. */
  readonly takesDumps?: boolean | undefined
  /** Makes the names of indices of those that stand beside the documents of a dump. Absent: all go to one index. */
  readonly besides?: IndexPattern | undefined
  /** Of an archive: patterns of the names of files to read, separated by commas. Absent: all that hold documents. */
  readonly members?: string | undefined
  /** Of a workbook: the name of the sheet to read. Absent: the first one. */
  readonly sheet?: string | undefined
  /** Whether the input is a file in an archive. Default false. */
  readonly isMember?: boolean | undefined
}

/**
 * Turns the bytes of an input into NDJSON. NDJSON stays as it is. JSON becomes one line for each element of its top-level arrays,
 * or of the picked array, and for each top-level value that is no array. CSV becomes one line for each row, and a dump one for each
 * hit, which carries its id.
 *
 * The caller must iterate `bytes`, or at least call its iterator's `next` or `return`: until then the input stays open.
 * Throws SluiceError INPUT_MALFORMED for UTF-32, and INPUT_NOT_JSON if `auto` recognises something else. The iterator throws everything else after all that was whole: the
 * source's own errors, INPUT_MALFORMED, INPUT_TRUNCATED.
 */
export async function decode(
  source: Source,
  bytes: AsyncIterable<Uint8Array>,
  options: DecodeOptions,
  note: (name: string, found: string) => void = () => {},
): Promise<Lines> {
  const { format, pick, csv } = options
  // Items of an iterable are lines already, and only `auto` judges an input by what it holds.
  const isOpen = format === 'auto' && pick === undefined && source.name !== '(iterable)'
  const opening = await readOpening(bytes, isOpen ? new Look(isNamedNdjson(source.name)) : undefined)
  const { encoding } = opening
  const container = source.name === '(iterable)' ? undefined : containerKind(opening.head)
  if (container !== undefined) return await ofContainer(source, container, opening, options, note)
  const alike = alikeOf(opening)
  const isTable = namesTable(format) || (isOpen && isCsv(source.name, opening, alike))
  if (isTable && encoding !== 'UTF-32') return await fromTable(source, opening, options)
  if (encoding === 'UTF-32') {
    return await refuseWide(source, opening, format)
  }
  const wide = wideOf(opening, alike)
  if (wide !== undefined) {
    const { fromWide, rewritten } = await import('./wide-text.js')
    const text = fromWide(opening.bytes, wide)
    return rewritten(await decode(source, text, { ...options, csv: { ...csv, encoding: 'utf-8' } }, note), wide)
  }
  const found = typeof alike === 'object' ? alike : undefined
  const dump = dumpOf(options, found)
  if (dump !== undefined) {
    const lines = await readerOf(dump)
    return {
      kind: 'actions',
      at: opening.at,
      bytes: lines(source.name, opening.bytes, options.besides),
      ...noted(found),
    }
  }
  if (found !== undefined) {
    await opening.close()
    throw fail('INPUT_NOT_JSON', { input: source.name, kind: found.kind, observed: found.observed })
  }
  const isJson = format === 'json' || pick !== undefined || alike === 'json'
  if (!isOpen) return await fromLines(source, opening, isJson, pick)
  if (isNamedGeoJson(source.name) && hasFeatures(opening.head))
    return { ...(await fromJson(source, opening, 'features')), found: 'GeoJSON: each of its features is a document' }
  const lines = await fromLines(source, opening, isJson, pick)
  if (!mayBeOneDocument(opening.head, isJson)) return lines
  return { ...lines, bytes: withNote(lines.bytes, what => note(source.name, what)) }
}

async function refuseWide({ name: input }: Source, opening: Opening, format: DecodeOptions['format']): Promise<never> {
  await opening.close()
  const named = format === 'auto' ? 'ndjson' : format
  const problem = `is not valid ${named}: it is ${opening.encoding} text. Convert it to UTF-8`
  throw fail('INPUT_MALFORMED', { input, format: named, problem })
}

type Found = Exclude<LookAlike, string | undefined>

function dumpOf({ format, takesDumps = true }: DecodeOptions, found: Found | undefined) {
  if (isDump(format)) return format
  return takesDumps ? found?.dump : undefined
}

function namesTable(format: DecodeOptions['format']): boolean {
  return format === 'csv' || format === 'tsv'
}

function noted(found: Found | undefined): Pick<Lines, 'found'> {
  return found === undefined ? {} : { found: `${found.kind}: ${found.observed}` }
}

function alikeOf({ look, head, isWhole }: Opening): LookAlike | undefined {
  if (look === undefined) return undefined
  return look.isArray ? arrayAlike(head) : lookAlike(head, isWhole)
}

async function fromTable({ name }: Source, { at, bytes }: Opening, options: DecodeOptions): Promise<Lines> {
  const { format, csv } = options
  // Other formats do not need its code.
  const { csvLines } = await import('./csv/csv-lines.js')
  const delimiter = csv?.delimiter ?? (format === 'tsv' ? '\t' : undefined)
  return { kind: 'elements', at, ...(await csvLines(name, bytes, { ...csv, delimiter }, options)) }
}

async function fromLines(source: Source, opening: Opening, isJson: boolean, pick: string | undefined): Promise<Lines> {
  const { at, bytes } = opening
  return isJson ? await fromJson(source, opening, pick) : { kind: 'lines', at, bytes }
}

async function fromJson({ name }: Source, { at, bytes }: Opening, pick: string | undefined): Promise<Lines> {
  // NDJSON needs neither parser nor cutter.
  const { jsonLines } = await import('./json-lines.js')
  return { kind: 'elements', at, bytes: jsonLines(name, bytes, pick) }
}

/** An array is read as JSON from its first byte on, unless what is there already shows that it is none. */
function arrayAlike(head: Buffer): LookAlike {
  if (utf16Of(head) !== undefined) return lookAlike(head, false)
  return relaxedJson(head.subarray(0, LOOKED_AT)) ?? 'json'
}

const LOOKED_AT = 64 << 10

function wideOf({ encoding, head }: Opening, alike: LookAlike | undefined): 'utf-16le' | 'utf-16be' | undefined {
  if (encoding === 'UTF-16') return head[0] === 0xff ? 'utf-16le' : 'utf-16be'
  if (typeof alike !== 'object' || !alike.kind.startsWith('UTF-16')) return undefined
  return alike.kind === 'UTF-16LE text' ? 'utf-16le' : 'utf-16be'
}

/**
 * Returns whether an input is CSV if no option names its format: its name says so, and its content does not say otherwise.
 * A name that ends with .txt says little, so the content has to look like a table. `alike`: the look of the content, unless UTF-16.
 */
function isCsv(name: string, { encoding, head, isWhole }: Opening, alike: LookAlike | undefined): boolean {
  const [, ending] = /\.(csv|tsv|tab|txt)(?:\.(?:gz|zst|bz2|xz|br))?$/i.exec(name) ?? []
  if (ending === undefined) return false
  if (ending.toLowerCase() !== 'txt') return encoding !== 'UTF-8' || mayBeTable(head, alike)
  const found = encoding === 'UTF-16' ? lookAlike(utf8Of(head), isWhole) : alike
  return typeof found === 'object' && found.kind.startsWith('CSV')
}

const JSON_STARTS = new Set([0x7b, 0x5b])

function mayBeTable(head: Buffer, alike: LookAlike | undefined): boolean {
  const first = head.find(byte => !isWhiteSpace(byte))
  if (first !== undefined && JSON_STARTS.has(first)) return false
  // A column of numbers is JSON as well, and few lines decide nothing.
  return typeof alike !== 'object' || /^(?:CSV|a table|plain text|UTF-16)/.test(alike.kind)
}

function utf8Of(utf16: Buffer): Buffer {
  return Buffer.from(new TextDecoder(utf16[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(utf16))
}

async function ofContainer(
  source: Source,
  kind: Container,
  opening: Opening,
  options: DecodeOptions,
  note: (name: string, found: string) => void,
): Promise<Lines> {
  if (options.isMember === true) {
    await opening.close()
    const observed = 'Sluice does not read this in an archive'
    const isOffice = kind === 'zip' && isOfficeFile(opening.head)
    throw fail('INPUT_NOT_JSON', { input: source.name, kind: isOffice ? 'a workbook' : names[kind], observed })
  }
  if (kind === 'parquet') {
    const { parquetLines } = await import('./parquet/parquet-lines.js')
    const { empty, nan = 'reject' } = options.csv ?? {}
    const lines = await parquetLines(source, opening.bytes, { writesNull: empty === 'null', nan })
    return { kind: 'elements', at: 0, ...lines }
  }
  const { openArchive } = await import('./archive/open-archive.js')
  const decodeFile = async (name: string, bytes: AsyncIterable<Uint8Array>) =>
    await decode({ id: source.id, name, open: () => bytes }, bytes, { ...options, isMember: true }, note)
  const { members } = options
  const openWorkbook = async (workbook: WorkbookFile) => {
    const { xlsxLines } = await import('./xlsx/xlsx-lines.js')
    return await xlsxLines(workbook, options, note)
  }
  return await openArchive(source, kind, opening.bytes, { members, decodeFile, note, openWorkbook })
}

const names: Readonly<Record<Container, string>> = {
  zip: 'a ZIP archive',
  tar: 'a tar archive',
  parquet: 'a Parquet file',
}

async function readerOf(dump: DumpFormat) {
  if (dump === 'bulk') return (await import('./actions/bulk-lines.js')).bulkLines
  const { dumpLines, answerLines } = await import('./actions/hits.js')
  return dump === 'search' ? answerLines : dumpLines
}

/** Returns whether the name promises NDJSON: then a first line that is an array is only a broken document. */
function isNamedNdjson(name: string): boolean {
  return /\.(ndjson|jsonl)(\.(gz|zst|bz2|xz|br))?$/i.test(name)
}

function isNamedGeoJson(name: string): boolean {
  return /\.geojson(\.(gz|zst|bz2|xz|br))?$/i.test(name)
}

/** Skips the first lines. Elements are counted, not their bytes, because another version may have written them otherwise. */
export async function* skipLines(chunks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let left = count
  for await (const chunk of chunks) {
    let from = 0
    for (; left > 0 && from < chunk.length; left -= 1) {
      const lineFeed = chunk.indexOf(LINE_FEED, from)
      if (lineFeed === -1) break
      from = lineFeed + 1
    }
    if (left === 0 && from < chunk.length) yield chunk.subarray(from)
  }
}
