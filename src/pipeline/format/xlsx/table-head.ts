/** Finds the row of a sheet that names the columns. */
import type { Cells } from '../csv/split-row.js'

/** A row as it was read, in memory of its own. */
export interface SheetRow extends Cells {
  readonly number: number
  readonly bytes: Buffer
  readonly problem: { readonly column: number; readonly what: string } | undefined
  readonly hasError: boolean
}

/** Most rows that may stand above it. */
const MOST_ABOVE = 50

/**
 * Returns the place of this row among the first ones: the first with at least two cells, and more than half as many as rows of this sheet
 * mostly have. So a title, a date or a name above a table is none. A sheet with one column is named by its first row.
 */
export function headIn(rows: readonly SheetRow[]): number {
  const counts = rows.map(filledIn)
  const usual = counts.toSorted((a, b) => a - b)[Math.floor(counts.length / 2)] ?? 0
  const at = counts.slice(0, MOST_ABOVE).findIndex(count => count > 1 && count > usual / 2)
  return at === -1 ? 0 : at
}

function filledIn({ starts, ends, count }: SheetRow): number {
  return starts.slice(0, count).filter((start, cell) => start !== ends[cell]).length
}

/** Returns the texts of a row as names. A name may stand on several lines of its cell. */
export function namesOfRow({ bytes, starts, ends, count }: SheetRow): string[] {
  return Array.from({ length: count }, (_, cell) =>
    bytes.toString('utf8', starts[cell], ends[cell]).replaceAll(/\s+/g, ' ').trim(),
  )
}
