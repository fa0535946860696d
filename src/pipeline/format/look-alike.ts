/** Recognises what the beginning of an input is, if it is no NDJSON. Nothing is read and nothing is kept here. */
import { isVerb } from '../../base/operation.js'
import { relaxedJson } from './relaxed-json.js'
import { isUtf8 } from 'node:buffer'
import { LINE_FEED, endOfLine, isBlank, isWhiteSpace } from '../../base/text/bytes.js'
import { endOfValue } from '../../base/json/json-fault.js'
import { isObject, type JsonObject, parseJson } from '../../base/json/parse-json.js'

/** Number of lines that decide. Blank ones do not count. */
export const MOST_LINES = 1000
/** Lines that are so long that fewer fit decide as well, from this many on. */
const FEWEST_LINES = 10

/** `lines`: NDJSON, perhaps with broken lines. `json`: a JSON document on several lines, or several in one line. */
export type LookAlike = 'lines' | 'json' | Found

interface Found {
  readonly kind: ForeignKind
  /** The observed evidence. */
  readonly observed: string
  /** The format that reads it, if its documents carry their own ids. */
  readonly dump?: 'bulk' | 'elasticdump' | 'search'
}

type ForeignKind =
  | 'CSV'
  | 'CSV with semicolons'
  | 'CSV with tabs'
  | PerhapsTable
  | '_bulk lines'
  | 'an elasticdump file'
  | 'an answer of _search'
  | 'XML'
  | 'JSON with comments'
  | 'JSON with trailing commas'
  | 'UTF-16LE text'
  | 'UTF-16BE text'
  | 'a workbook'
  | 'an encrypted workbook'
  | 'an old Excel workbook (.xls)'
  | 'an old or encrypted Office file'
  | 'a ZIP archive'
  | 'gzip data inside gzip data'
  | 'plain text'
  | 'binary data'

/** Text that Sluice does not read as CSV by itself, because titles, empty rows or unusual names hide its columns. */
type PerhapsTable = 'a table with semicolons' | 'a table with tabs'

/** `text`: the first bytes of an input, behind a byte order mark. `isWhole`: the input has no more. */
export function lookAlike(text: Buffer, isWhole: boolean): LookAlike {
  const stored = magicOf(text)
  if (stored !== undefined) return { kind: stored, observed: 'its first bytes show it' }
  if (isAnswer(text)) return { kind: 'an answer of _search', observed: 'it begins with hits.hits', dump: 'search' }
  const [first] = linesOf(text, isWhole, 1)
  if (first === undefined) return hasJsonInOneLine(text) ? 'json' : 'lines'
  const value = parseJson(first)
  if (value !== undefined) return jsonLines(value)
  if (hasJsonInOneLine(text)) return 'json'
  const lines = linesOf(text, isWhole, MOST_LINES)
  if (isDocumentOnLines(text, isWhole, lines)) return 'json'
  const relaxed = relaxedJson(text)
  if (relaxed !== undefined) return relaxed
  if (lines.some(line => parseJson(line) !== undefined)) return 'lines'
  if (!isWhole && lines.length < FEWEST_LINES) return 'lines'
  const kind = kindOf(text, lines)
  return { kind, observed: firstLines(lines.length) }
}

function firstLines(count: number): string {
  return count === 1 ? 'its first line is not JSON' : `none of its first ${count.toLocaleString('en-US')} lines is JSON`
}

/** Returns the first lines that are not blank. The last line counts if nothing can follow it. */
function linesOf(text: Buffer, isWhole: boolean, most: number): string[] {
  const lines: string[] = []
  for (let from = 0; from < text.length && lines.length < most;) {
    const to = endOfLine(text, from)
    const isEnded = isWhole || to < text.length || text[to - 1] === LINE_FEED
    if (isEnded && !isBlank(text, from, to)) lines.push(text.toString('utf8', from, to).trim())
    from = to
  }
  return lines
}

/** The longest id of a scroll stands before the rest. */
const ANSWER_BYTES = 64 << 10

/** Returns whether the text begins as Elasticsearch writes the answer of a search, up to its first hit. */
function isAnswer(text: Buffer): boolean {
  const head = text.toString('latin1', 0, ANSWER_BYTES)
  return ANSWER.test(head) && HITS.test(head)
}

const ANSWER = /^\s*\{\s*"(?:_scroll_id|pit_id|took)"\s*:[^{}[\]]*"timed_out"\s*:\s*(?:true|false)\s*,/
const HITS = /"hits"\s*:\s*\{(?:[^{}[\]]|\{[^{}[\]]*\})*"hits"\s*:\s*\[/

/** Lines that are JSON: documents, or something that wraps documents. */
function jsonLines(first: unknown): LookAlike {
  if (!isObject(first)) return 'lines'
  const names = Object.keys(first)
  const [name = ''] = names
  const action = first[name]
  if (names.length === 1 && isVerb(name) && isObject(action) && Object.keys(action).every(isOfAction))
    return { kind: '_bulk lines', observed: `its first line is an action (${name})`, dump: 'bulk' }
  if (isObject(first['_source']) && (typeof first['_id'] === 'string' || typeof first['_index'] === 'string'))
    return { kind: 'an elasticdump file', observed: 'its first line has the document in _source', dump: 'elasticdump' }
  if (isHitWithoutDocument(first))
    return { kind: 'an elasticdump file', observed: 'its first line has only fields of a hit', dump: 'elasticdump' }
  return 'lines'
}

/** A search may leave the documents out. Elasticsearch stores no document with these fields. */
function isHitWithoutDocument(first: JsonObject): boolean {
  const hasNames = typeof first['_id'] === 'string' && typeof first['_index'] === 'string'
  return hasNames && Object.keys(first).every(name => name.startsWith('_') || name === 'fields' || name === 'sort')
}

const OF_ACTIONS = new Set([
  'routing',
  'pipeline',
  'version',
  'version_type',
  'if_seq_no',
  'if_primary_term',
  'require_alias',
  'require_data_stream',
  'retry_on_conflict',
  'dynamic_templates',
  'list_executed_pipelines',
])

/** Returns whether a name is a parameter of an action. */
export function isOfAction(name: string): boolean {
  return name.startsWith('_') || OF_ACTIONS.has(name)
}

/** A longer line is not looked at to its end. */
const LONGEST_LOOK = 1 << 20

/** Returns whether the first line holds several objects, one behind the other. Its last one may be cut off if the line is. */
export function hasJsonInOneLine(text: Buffer): boolean {
  let at = text.findIndex(byte => !isWhiteSpace(byte))
  const lineEnd = endOfLine(text, Math.max(at, 0))
  const to = Math.min(lineEnd, LONGEST_LOOK)
  const mayBeCut = text[to - 1] !== LINE_FEED
  for (let objects = 0; at >= 0; objects += 1) {
    if (at >= to) return objects > 1
    const end = text[at] === BRACE ? endOfValue(text, at, to) : 'broken'
    if (end === 'broken') return false
    if (end === 'cut') return objects > 0 && mayBeCut
    at = end
  }
  return false
}

const BRACE = 0x7b

/** Returns whether the text is JSON whose first value continues after its first line. */
function isDocumentOnLines(text: Buffer, isWhole: boolean, lines: readonly string[]): boolean {
  let from = text.findIndex(byte => !isWhiteSpace(byte))
  if (text[from] !== 0x7b && text[from] !== 0x5b) return false
  const firstLine = endOfLine(text, from)
  for (let isFirst = true; from < text.length; isFirst = false) {
    const end = endOfValue(text, from, text.length)
    if (end === 'broken') return false
    // Of an input that was cut off and of one whose first line is broken, only the latter has whole documents.
    if (end === 'cut') return !isWhole || !lines.some(line => line.startsWith('{') && parseJson(line) !== undefined)
    if (isFirst && end <= firstLine) return false
    from = end
  }
  return true
}

function magicOf(text: Buffer): ForeignKind | undefined {
  if (text.length >= 4 && text.toString('latin1', 0, 4) === 'PK\u0003\u0004')
    return isOfficeFile(text) ? 'a workbook' : 'a ZIP archive'
  if (text.toString('latin1', 0, 8) === '\u00d0\u00cf\u0011\u00e0\u00a1\u00b1\u001a\u00e1') return compoundFileOf(text)
  if (text[0] === 0x1f && text[1] === 0x8b) return 'gzip data inside gzip data'
  return utf16Of(text)
}

/** Returns whether a ZIP archive begins as office programs write workbooks. */
export function isOfficeFile(head: Buffer): boolean {
  return /\[Content_Types\]\.xml|xl\/|spreadsheet/.test(head.toString('latin1', 0, 4096))
}

/** Old office programs wrote files with a directory, and newer ones do if they encrypt. Its names show which it is. */
function compoundFileOf(text: Buffer): ForeignKind {
  const has = (name: string) => text.includes(Buffer.from(name, 'utf16le'))
  if (has('EncryptedPackage')) return 'an encrypted workbook'
  return has('Workbook') || has('Book') ? 'an old Excel workbook (.xls)' : 'an old or encrypted Office file'
}

/** Most text has ASCII characters: in UTF-16 every other byte of them is zero. */
export function utf16Of(text: Buffer): ForeignKind | undefined {
  const sample = text.subarray(0, 2000 + (text.length % 2))
  // Looked at for each of very many files.
  if (!sample.includes(0)) return undefined
  const zeros = (parity: number) => sample.filter((byte, at) => byte === 0 && at % 2 === parity).length
  const [even, odd] = [zeros(0), zeros(1)]
  const enough = sample.length / 5
  if (sample.length < 4 || Math.max(even, odd) < enough || Math.min(even, odd) > enough / 4) return undefined
  return odd > even ? 'UTF-16LE text' : 'UTF-16BE text'
}

/** Names text of which no line is JSON. */
function kindOf(text: Buffer, lines: readonly string[]): ForeignKind {
  const head = text.subarray(0, 4096)
  if (head.includes(0) || !(isUtf8(head) || isUtf8(head.subarray(0, -3)) || isLatin1(head))) return 'binary data'
  if (/^<[?!a-z]/i.test(lines[0] ?? '')) return 'XML'
  for (const [separator, kind] of SEPARATORS) if (isTable(lines, separator)) return kind
  for (const [separator, kind] of PERHAPS) if (mayBeTable(lines, separator)) return kind
  return 'plain text'
}

const SEPARATORS = [
  [',', 'CSV'],
  [';', 'CSV with semicolons'],
  ['\t', 'CSV with tabs'],
] as const

/** Commas stand in prose and logs as well. */
const PERHAPS = [
  [';', 'a table with semicolons'],
  ['\t', 'a table with tabs'],
] as const

/** Text of an older encoding has few control characters. */
function isLatin1(bytes: Buffer): boolean {
  return bytes.every(byte => byte >= 0x20 || isWhiteSpace(byte))
}

/** Returns whether the first line names columns, and most others have as many. A quoted value may hold anything. */
function isTable(lines: readonly string[], separator: string): boolean {
  const [header = '', ...rows] = lines
  const names = header.split(separator).map(name => name.trim().replace(/^"(.*)"$/, '$1'))
  const areNames = names.length > 1 && new Set(names).size === names.length && names.every(isName)
  if (!areNames) return false
  const fitting = rows.filter(row => columnsIn(row, separator) >= names.length)
  return fitting.length >= rows.length * 0.9
}

/** Most lines above the names of the columns. */
const MOST_ABOVE = 50

/** Returns whether a line could name columns, and most lines below it have as many. */
function mayBeTable(lines: readonly string[], separator: string): boolean {
  const counts = lines.map(line => columnsIn(line, separator))
  return lines.slice(0, MOST_ABOVE).some((line, at) => {
    const columns = counts[at] as number
    const rows = counts.slice(at + 1)
    const fitting = rows.filter(count => count === columns)
    const isSettled = columns > 1 && rows.length > 0 && fitting.length >= rows.length * 0.9
    return isSettled && mayNameColumns(line.split(separator))
  })
}

/** Returns whether cells could be names: several, without numbers and dates, and none twice. */
function mayNameColumns(cells: readonly string[]): boolean {
  const names = cells.map(cell => cell.trim().replace(/^"(.*)"$/, '$1')).filter(name => name !== '')
  const isUsual = (name: string) => /^[^\d{[<]/.test(name) && /[\p{L}\ufffd]/u.test(name) && name.length <= 64
  return names.length > 1 && new Set(names).size === names.length && names.every(isUsual)
}

function isName(text: string): boolean {
  return /^[\p{L}_@#$][\p{L}\p{N} _.@#$%()/-]{0,63}$/u.test(text)
}

function columnsIn(row: string, separator: string): number {
  let columns = 1
  let isQuoted = false
  for (const character of row) {
    if (character === '"') isQuoted = !isQuoted
    else if (character === separator && !isQuoted) columns += 1
  }
  return columns
}
