import type { Row } from './table.js'

/**
 * The rows of a table in the order of some fields, kept as they come and go: a binary search and a move of memory for each.
 * After many at once they are put in order when somebody asks.
 */
export class SortedRows {
  readonly fields: readonly [string, ...string[]]
  #rows: Row[] = []
  #isSorted = true

  /** The last of the fields must be unique, so that there is one order. */
  constructor(fields: readonly [string, ...string[]]) {
    this.fields = fields
  }

  get rows(): readonly Row[] {
    if (!this.#isSorted) {
      this.#rows.sort((one, other) => this.#compare(one, other))
      this.#isSorted = true
    }
    return this.#rows
  }

  /** Adds many rows, none of which is there yet. */
  addAll(rows: readonly Row[]): void {
    for (const row of rows) this.#rows.push(row)
    this.#isSorted = false
  }

  add(row: Row): void {
    if (!this.#isSorted) this.#rows.push(row)
    else this.#rows.splice(this.#placeOf(row), 0, row)
  }

  remove(row: Row): void {
    const { rows } = this
    const at = this.#placeOf(row)
    if (rows[at] === row) this.#rows.splice(at, 1)
  }

  /** The first place whose row has this value of the first field, or a greater one; with `after` a greater one alone. */
  placeOf(value: string, after = false): number {
    const [field] = this.fields
    return search(this.rows, row => {
      const own = row[field] ?? ''
      return after ? own > value : own >= value
    })
  }

  #placeOf(row: Row): number {
    return search(this.#rows, other => this.#compare(other, row) >= 0)
  }

  #compare(one: Row, other: Row): number {
    for (const field of this.fields) {
      const [left = '', right = ''] = [one[field], other[field]]
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }
}

/** The first place where it holds, when it holds for every later one. */
function search(rows: readonly Row[], holds: (row: Row) => boolean): number {
  let from = 0
  let to = rows.length
  while (from < to) {
    const middle = (from + to) >>> 1
    const row = rows[middle]
    if (row !== undefined && holds(row)) to = middle
    else from = middle + 1
  }
  return from
}
