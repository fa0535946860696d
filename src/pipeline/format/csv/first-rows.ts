import type { RowSplitter } from './split-row.js'

/** The rows that show how a file is written. */
export interface FirstRows {
  readonly sample: Buffer
  /** Whether the file has no more. */
  readonly isWhole: boolean
  readonly splitter: RowSplitter
  /** Whether the first of them names the columns. */
  readonly hasHeader: boolean
}

/** Calls back for each of the first rows that have a cell for each column. The splitter holds its cells. */
export function forEachRow(
  { sample, isWhole, splitter, hasHeader }: FirstRows,
  columns: number,
  take: () => void,
): void {
  let isHeader = hasHeader
  for (let at = 0; at < sample.length; at = splitter.end) {
    if (splitter.next(sample, at, isWhole) !== 'row') break
    const { starts, ends, count } = splitter
    const isBlank = count === 1 && starts[0] === ends[0]
    const isRow = !isBlank && !isHeader && count >= columns
    if (!isBlank) isHeader = false
    if (isRow) take()
  }
}
