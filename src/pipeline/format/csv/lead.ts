/** Finds the lines above the names of the columns: titles and comments. */
import { LINE_FEED, endOfLine, isBlank } from '../../../base/text/bytes.js'
import { columnsIn, rowShapes } from './row-shapes.js'

/** Lines that are no rows, and their bytes. */
export interface Lead {
  readonly lines: number
  readonly bytes: number
}

export const noLead: Lead = { lines: 0, bytes: 0 }

/** Most lines that Sluice finds by itself. */
const MOST_LINES = 50
/** The share of rows that must have as many cells as the names. */
const MOST_SHARE = 0.9

/** Returns the first lines of a text: fewer if it has not so many whole ones. */
export function firstLines(text: Buffer, most: number): Lead {
  let [lines, bytes] = [0, 0]
  for (; lines < most && bytes < text.length; lines += 1) {
    const end = endOfLine(text, bytes)
    if (text[end - 1] !== LINE_FEED) return { lines, bytes: text.length }
    bytes = end
  }
  return { lines, bytes }
}

interface Found extends Lead {
  readonly delimiter: string
}

/** Returns the lines above the names with the delimiter behind them that fits best. Undefined: there are none. */
export function leadIn(
  rows: Buffer,
  delimiters: readonly string[],
  quote: string,
  isWhole: boolean,
): Found | undefined {
  let best: (Found & { readonly cells: number }) | undefined
  for (const delimiter of delimiters) {
    const { bytes, lines, hasTitle } = linesAbove(rows, delimiter)
    if (lines === 0 || bytes === rows.length) continue
    const rest = rows.subarray(bytes)
    const shapes = rowShapes(rest, delimiter, quote, isWhole)
    const cells = columnsIn(shapes)
    const fitting = shapes.filter(shape => shape.cells === cells).length
    if (cells < 2 || shapes.length < 2 || fitting < shapes.length * MOST_SHARE) continue
    if (hasTitle && !isAboveNames(rows, rest, delimiter, cells)) continue
    if (best === undefined || cells > best.cells) best = { bytes, lines, delimiter, cells }
  }
  return best
}

/** Returns whether a title stands above names. R leaves out the name above the names of rows, and others leave out more names. */
function isAboveNames(rows: Buffer, rest: Buffer, delimiter: string, cells: number): boolean {
  const isClear = isBlank(rest, 0, endOfLine(rest, 0)) || (cells > 2 && !isPadded(rows, delimiter))
  return isClear ? areNames((cellsIn(rest, delimiter)[0] ?? []).slice(0, cells)) : namesColumns(rest, delimiter)
}

/** Returns the lines up to the first one that has several cells and is no comment. A comment that names all columns is none. */
function linesAbove(rows: Buffer, delimiter: string): Lead & { readonly hasTitle: boolean } {
  let found = { ...noLead, hasTitle: false }
  let hasTitle = false
  let header: { lead: typeof found; cells: number } | undefined
  for (let at = 0, lines = 0; at < rows.length && lines < MOST_LINES; lines += 1) {
    const to = endOfLine(rows, at)
    const text = rows.toString('latin1', at, to).trimEnd()
    const isComment = text.startsWith('#')
    const cells = text.split(delimiter)
    if (!isComment && cells.slice(1).some(cell => cell !== '')) {
      const isHeader = header?.cells === cells.length && !namesColumns(rows.subarray(at), delimiter)
      return isHeader && header !== undefined ? header.lead : found
    }
    header = isComment && cells.length > 1 ? { lead: found, cells: cells.length } : undefined
    hasTitle ||= !isComment && !isBlank(rows, at, to)
    at = to
    if (text !== '') found = { lines: lines + 1, bytes: to, hasTitle }
  }
  return { ...noLead, hasTitle: false }
}

/** Returns whether the first of these lines has only words, and a line behind it has a number. */
function namesColumns(rows: Buffer, delimiter: string): boolean {
  const [names = [], ...others] = cellsIn(rows, delimiter)
  return areNames(names) && others.some(cells => cells.some(isNumber))
}

function areNames(cells: readonly string[]): boolean {
  return cells.every(name => name !== '' && !isNumber(name)) && new Set(cells).size === cells.length
}

/** Returns the cells of the first lines that are not blank. Delimiters in quotes do not matter here. */
function cellsIn(rows: Buffer, delimiter: string): string[][] {
  const lines = rows.toString('latin1', 0, LOOKED_AT).split(/\r?\n/, MOST_LINES)
  return lines.filter(line => line !== '').map(line => line.split(delimiter).map(bare))
}

const LOOKED_AT = 16 << 10

function isPadded(rows: Buffer, delimiter: string): boolean {
  return rows.toString('latin1', 0, endOfLine(rows, 0)).trimEnd().endsWith(delimiter)
}

function bare(cell: string): string {
  return cell.trim().replace(/^(["'])(.*)\1$/, '$2')
}

function isNumber(text: string): boolean {
  return /^[-+]?[\d.,]*\d$/.test(text)
}

/** Returns the comments above a table of one column. */
export function commentsIn(rows: Buffer): Lead {
  let lead = noLead
  while (lead.bytes < rows.length && rows.toString('latin1', lead.bytes, lead.bytes + 2) === '# ')
    lead = { lines: lead.lines + 1, bytes: endOfLine(rows, lead.bytes) }
  return lead.bytes === rows.length ? noLead : lead
}
