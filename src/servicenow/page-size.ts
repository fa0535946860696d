/** How many rows are asked for at once: half when the instance gives up on a page, slowly more again when it does not. */
export interface PageSize {
  readonly rows: number
  /** A page of as many rows was answered. */
  worked(): void
  /** Half of the rows of a page that was given up. */
  halve(rows: number): number
}

const PAGES_BEFORE_GROWTH = 8

export function pageSize(most: number): PageSize {
  let rows = most
  let patience = PAGES_BEFORE_GROWTH
  let good = 0
  let grew = false
  return {
    get rows() {
      return rows
    },
    worked() {
      if (++good >= PAGES_BEFORE_GROWTH) grew = false
      if (rows === most || good < patience) return
      rows = Math.min(most, rows * 2)
      good = 0
      grew = true
    },
    halve(given) {
      // Where growing was tried in vain, it is tried more and more seldom.
      if (grew) patience = Math.min(patience * 2, 1024)
      grew = false
      rows = Math.max(1, Math.min(rows, Math.floor(given / 2)))
      good = 0
      return rows
    },
  }
}
