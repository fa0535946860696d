/** Finds out by the first rows whether the first one can name the columns. */
import { parseJson } from '../../../base/json/parse-json.js'
import type { Dialect } from './dialect.js'
import { endsShort, hasRowNames, type RowShape } from './row-shapes.js'

/** Fewer rows show nothing. */
const FEWEST_ROWS = 3

/** Returns why the first row does not name the columns, and how to load the file. `skipLines`: as the user has set it. */
export function headerProblem(
  header: readonly string[],
  { shapes, lead }: Pick<Dialect, 'shapes' | 'lead'>,
  skipLines: number | undefined,
): string | undefined {
  const [, ...others] = shapes
  if (header.length === 0 || others.length < FEWEST_ROWS) return undefined
  const cells = cellsOf(others)
  // A row may end with a delimiter, which begins no cell.
  const hasOther = cells !== undefined && cells !== header.length && !others.some(({ endsEmpty }) => endsEmpty)
  if (hasOther && !hasRowNames(shapes) && !endsShort(shapes)) {
    const what = `its first row has ${counted(header.length)}, and the other rows have ${cells}`
    return `${what}. If it does not name the columns, pass --skip-lines ${lead.lines + 1}, and name all columns with --columns`
  }
  if (skipLines !== undefined || !header.every(isNumber) || areYears(header)) return undefined
  return 'its first row holds only numbers, so that it seems to name no columns. Name them with --columns. If the numbers are names, pass --skip-lines 0'
}

/** Returns that JSON stands in place of the first row: all of it, or the beginning of an object or a list on several lines. */
export function jsonProblem(rows: Buffer): string | undefined {
  const [first = ''] = rows
    .toString('utf8')
    .trimStart()
    .split(/[\r\n]/, 1)
  const isJson = /^(?:\[\s*)?\{\s*"|^[[{]\s*$/.test(first) || (first.startsWith('[') && parseJson(first) !== undefined)
  return isJson ? 'it begins with JSON' : undefined
}

/** Says that some names are numbers, which may be data. Empty: they are words, or years. */
export function numbersAsNames(names: readonly string[]): string {
  const numbers = names.filter(isNumber)
  if (numbers.length === 0 || areYears(numbers)) return ''
  const shown = numbers.slice(0, NAMED).join(', ') + (numbers.length > NAMED ? ', …' : '')
  return `Some names are numbers (${shown}). If the first row does not name the columns, pass --columns`
}

/** Numbers that a note shows. */
const NAMED = 3

/** Returns the number of cells that all rows have. */
function cellsOf(rows: readonly RowShape[]): number | undefined {
  const [first] = rows
  return first !== undefined && rows.every(({ cells }) => cells === first.cells) ? first.cells : undefined
}

function isNumber(name: string): boolean {
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?$/.test(name)
}

function areYears(names: readonly string[]): boolean {
  return new Set(names).size === names.length && names.every(name => /^[12]\d{3}$/.test(name))
}

function counted(cells: number): string {
  return `${cells} cell${cells === 1 ? '' : 's'}`
}
