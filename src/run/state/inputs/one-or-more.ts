/** Maps of very many keys that mostly have one value each. */

/** One value, or a list. There may be very many keys, and a list of one for each would take as much memory as the rest. */
export type OneOrMore<V> = V | V[]

/** Adds a value under a key. */
export function append<K, V>(map: Map<K, OneOrMore<V>>, key: K, value: V): void {
  const others = map.get(key)
  if (Array.isArray(others)) others.push(value)
  else map.set(key, others === undefined ? value : [others, value])
}

/** Returns the values as a list. */
export function listOf<V>(values: OneOrMore<V> | undefined): readonly V[] {
  if (values === undefined) return []
  return Array.isArray(values) ? values : [values]
}

/** Returns the value under a key, or makes one. */
export function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key)
  if (known !== undefined) return known
  const made = make()
  map.set(key, made)
  return made
}
