/** What Sluice says of another cluster before it reads. */
import { type FoundIndex, isSynthetic } from './find-indices.js'

/** Indices that a message names. */
const NAMED = 3

/** Returns a message if the cluster does not keep documents as they were sent. */
export function rebuilt(found: readonly FoundIndex[]): readonly string[] {
  const names = found.filter(isSynthetic).map(({ index }) => index)
  if (names.length === 0) return []
  const more = names.length > NAMED ? ` and ${names.length - NAMED} more` : ''
  return [
    `the other cluster does not keep the documents of ${names.slice(0, NAMED).join(', ')}${more} as they were sent. It builds them from their fields (synthetic _source), so keys and arrays may be in another order`,
  ]
}

/** `why`: the doubt of `findBoundary`. */
export function doubtOf(why: string): string {
  return `Sluice cannot see whether the latest writes to the other cluster are complete: ${why}. Before the last load, stop whatever writes there`
}
