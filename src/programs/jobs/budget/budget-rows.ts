/**
 * What is taken of bytes that many processes share, from the rows of a log. All rows have one order, so each reader comes to the same result,
 * and no row is ever taken back.
 */
import type { JobRow } from '../queue/job-state.js'

export class BudgetRows {
  readonly #limit: number
  #taken = 0
  /** Rows that gave bytes back: one that somebody writes again gives none. */
  readonly #given = new Set<string>()
  /** Bytes by the time of their rows, in milliseconds since the epoch. Only rows of a plan say their time. */
  readonly #times = new Map<number, number>()

  /** `limit`: bytes of all processes together. A row that names a limit keeps to its own. */
  constructor(limit: number) {
    this.#limit = limit
  }

  get left(): number {
    return this.#limit - this.#taken
  }

  /** The time of the first row that has one. */
  get since(): number | undefined {
    const first = Math.min(...this.#times.keys())
    return first === Infinity ? undefined : first
  }

  /** Returns the bytes of the rows of a time. */
  takenIn({ from, until }: { readonly from: number; readonly until: number }): number {
    let sum = 0
    for (const [at, bytes] of this.#times) if (at >= from && at < until) sum += bytes
    return sum
  }

  /** Returns how many bytes the row takes, or 0 if too few are left. */
  read(row: JobRow): number {
    if (row.type === 'unused' && !this.#given.has(row.id)) {
      this.#given.add(row.id)
      this.#add(-row.bytes, row.at)
    }
    if (row.type !== 'take') return 0
    const left = (row.limit ?? this.#limit) - this.#taken
    const bytes = row.bytes <= left ? row.bytes : row.least <= left ? left : 0
    this.#add(bytes, row.at)
    return bytes
  }

  #add(bytes: number, at: number | undefined): void {
    this.#taken += bytes
    if (at !== undefined) this.#times.set(at, (this.#times.get(at) ?? 0) + bytes)
  }
}
