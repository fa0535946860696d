import { endOfLine } from '../../../base/text/bytes.js'
import { quotationOf } from './quotation.js'
import { RowSplitter } from './split-row.js'

/** What one row looks like with some delimiter and quote. */
export interface RowShape {
  /** -1 if the row cannot be split. */
  readonly cells: number
  readonly endsEmpty: boolean
  /** How many of its cells hold something. */
  readonly filled: number
}

/** Most rows that are looked at. */
export const MOST_ROWS = 200

/** Returns the shapes of the first rows that are not blank. `isWhole`: nothing follows `rows`. */
export function rowShapes(rows: Buffer, delimiter: string, quote: string, isWhole: boolean): RowShape[] {
  const splitter = new RowSplitter(delimiter.charCodeAt(0), quotationOf(quote))
  const shapes: RowShape[] = []
  let at = 0
  while (at < rows.length && shapes.length < MOST_ROWS) {
    const found = splitter.next(rows, at, isWhole)
    if (found === 'cut' || found === 'open') break
    const { count, starts, ends } = splitter
    const filled = starts.slice(0, count).filter((start, cell) => start !== ends[cell]).length
    // With another delimiter, quotes may be in the wrong place.
    if (found === 'broken') shapes.push({ cells: -1, endsEmpty: false, filled })
    else if (count > 1 || filled > 0)
      shapes.push({ cells: count, endsEmpty: starts[count - 1] === ends[count - 1], filled })
    at = found === 'broken' ? endOfLine(rows, at) : splitter.end
  }
  return shapes
}

/** Returns how many columns a table has, if its first row names them. R names none for the names of rows. */
export function columnsIn(shapes: readonly RowShape[]): number {
  return (shapes[0]?.cells ?? 1) + (hasRowNames(shapes) ? 1 : endsShort(shapes) ? -1 : 0)
}

/** Returns whether the first row ends with a delimiter, and no other row does. */
export function endsShort([first, ...others]: readonly RowShape[]): boolean {
  if (first?.endsEmpty !== true || first.cells < 2 || others.length === 0) return false
  return others.every(({ cells }) => cells === first.cells - 1)
}

/** Returns whether each row has one cell more than the first one, and not as an empty one at its end. */
export function hasRowNames([first, ...others]: readonly RowShape[]): boolean {
  if (first === undefined || others.length < 2) return false
  return others.every(({ cells }) => cells === first.cells + 1) && others.some(({ endsEmpty }) => !endsEmpty)
}
