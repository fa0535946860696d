/**
 * Random numbers that are the same on every machine: a Weyl sequence whose steps are mixed (SplitMix with 32 bits).
 * The seed is any whole number.
 */
export function seededRandom(seed) {
  let state = Math.imul(seed, 0x85ebca6b) | 0

  /** A whole number, 0 to 2^32 - 1. */
  const next = () => {
    state = (state + 0x9e3779b9) | 0
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return (mixed ^ (mixed >>> 15)) >>> 0
  }
  const below = limit => next() % limit
  return {
    below,
    pick: list => list[below(list.length)],
    chance: oneIn => below(oneIn) === 0,
    /** Lower-case hexadecimal digits. */
    hex: digits => {
      let text = ''
      while (text.length < digits) text += next().toString(16).padStart(8, '0')
      return text.slice(0, digits)
    },
    list: (count, make) => Array.from({ length: count }, (_, at) => make(at)),
  }
}
