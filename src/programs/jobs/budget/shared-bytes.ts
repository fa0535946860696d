/** Bytes that many processes share: what those need that send. */
import type { Failure } from '../../../base/failure/failure.js'

export interface SharedBytes {
  /** Bytes that no process has taken, as far as this one knows. */
  readonly left: number
  /** Resolves to `bytes`, or to fewer but at least `least`, or to 0 if there are no more. Each is asked for once the one before is answered. */
  take(bytes: number, least: number): Promise<number>
  /** Names the time whose bytes these are: the month of a plan. Absent: they are of all times. */
  readonly term?: number | undefined
  /** Takes back what was not used. Less than 0: more was used. `term`: of which time it is, if not of this one. */
  give(bytes: number, term?: number): void
  /** Leaves what is not used to other processes. */
  leave(): Promise<void>
  /** Returns why nothing more may be sent. `isBefore`: not even a connection may be opened. */
  spent(needed: number, isBefore: boolean): Failure
}

/** Returns bytes that two limits allow. Absent: that one does not limit. */
export function withinBoth(one: SharedBytes | undefined, other: SharedBytes | undefined): SharedBytes | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return {
    get left() {
      return Math.min(one.left, other.left)
    },
    take: async (bytes, least) => {
      const first = await one.take(bytes, least)
      if (first === 0) return 0
      const both = await other.take(first, least)
      one.give(first - both)
      return both
    },
    get term() {
      return one.term ?? other.term
    },
    give: (bytes, term) => {
      one.give(bytes, term)
      other.give(bytes, term)
    },
    leave: async () => {
      await Promise.all([one.leave(), other.leave()])
    },
    spent: (needed, isBefore) => (one.left <= other.left ? one : other).spent(needed, isBefore),
  }
}
