/** How many rows are asked for at once: half when the instance gives up on a page, slowly more again when it does not. */
export interface PageSize {
  readonly rows: number
  /** A page of as many rows was answered. */
  worked(): void
  /** Half of the rows of a page that was given up. */
  halve(rows: number): number
}

const PAGES_BEFORE_GROWTH = 8
/** Pages of a size that have to be given up one after the other before it counts as too large, once it has proven itself. */
const FAILURES_OF_THE_PROVEN = 2

export function pageSize(most: number): PageSize {
  let rows = most
  let patience = PAGES_BEFORE_GROWTH
  let good = 0
  let grew = false
  /** Has worked many times in a row: what goes wrong with it once may have had other reasons than its size. */
  let proven = 0
  let failures = 0
  return {
    get rows() {
      return rows
    },
    worked() {
      failures = 0
      if (++good >= PAGES_BEFORE_GROWTH) {
        grew = false
        proven = Math.max(proven, rows)
      }
      if (rows < proven) rows = Math.min(proven, rows * 2)
      else if (rows < most && good >= patience) {
        rows = Math.min(most, rows * 2)
        good = 0
        grew = true
      }
    },
    halve(given) {
      // Where growing was tried in vain, it is tried more and more seldom.
      if (grew) patience = Math.min(patience * 2, 1024)
      grew = false
      rows = Math.max(1, Math.min(rows, Math.floor(given / 2)))
      if (given > proven || ++failures >= FAILURES_OF_THE_PROVEN) proven = Math.min(proven, rows)
      good = 0
      return rows
    },
  }
}
