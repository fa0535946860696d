/** The months of a plan: from midnight to midnight, UTC. */

export const DAY_MS = 86_400_000

/** Milliseconds since the epoch. */
export interface Period {
  readonly from: number
  readonly until: number
}

/** Returns the month of the plan that holds a moment. `day`: the day of the month on which it begins, 1 to 28. */
export function periodAt(now: number, day: number): Period {
  const at = new Date(now)
  const month = at.getUTCMonth() - (at.getUTCDate() < day ? 1 : 0)
  const year = at.getUTCFullYear()
  return { from: Date.UTC(year, month, day), until: Date.UTC(year, month + 1, day) }
}

/** Returns the midnight before a moment. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS) * DAY_MS
}

/** Returns the calendar month of a moment, as in `2026-11`. */
export function monthOf(at: number): string {
  return new Date(at).toISOString().slice(0, 7)
}
