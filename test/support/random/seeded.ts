/** Random choices that come out the same for the same seed, so that a failing case can be run again. */
export interface Seeded {
  /** In [0, 1). */
  real(): number
  /** A whole number from 0 to below `limit`. */
  below(limit: number): number
  chance(probability: number): boolean
  pick<T>(from: readonly T[]): T
}

/** mulberry32 */
export function seeded(seed: number): Seeded {
  let state = seed >>> 0
  const real = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(real() * limit)
  return {
    real,
    below,
    chance: probability => real() < probability,
    pick: from => {
      const at = below(from.length)
      if (from.length === 0) throw new RangeError('nothing to pick from')
      return from[at] as (typeof from)[number]
    },
  }
}
