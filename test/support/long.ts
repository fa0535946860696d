/** Leaves a case to the long tests if others of its kind are in the ordinary run. */
export function longUnless(isOrdinary: boolean): { tags?: string[] } {
  return isOrdinary ? {} : { tags: ['long'] }
}
