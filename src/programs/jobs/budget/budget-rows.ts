/**
 * What is left of the bytes that a job may send, from the rows of its log. All rows have one order, so each reader comes to the same result,
 * and no row is ever taken back.
 */
import type { JobRow } from '../queue/job-state.js'

export class BudgetRows {
  readonly #limit: number
  #taken = 0
  /** Rows that gave bytes back: one that somebody writes again gives none. */
  readonly #given = new Set<string>()

  /** `limit`: bytes of the whole job. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get left(): number {
    return this.#limit - this.#taken
  }

  /** Returns how many bytes the row takes, or 0 if too few are left. */
  read(row: JobRow): number {
    if (row.type === 'unused' && !this.#given.has(row.id)) {
      this.#given.add(row.id)
      this.#taken -= row.bytes
    }
    if (row.type !== 'take') return 0
    const bytes = row.bytes <= this.left ? row.bytes : row.least <= this.left ? this.left : 0
    this.#taken += bytes
    return bytes
  }
}
