/** What becomes of documents, in the order for readers. Together the outcomes make up all documents that were read. */

/** Those that the target took: it stored, queued or deleted them, had nothing to do, or its pipeline dropped them. */
export const taken = [
  'created',
  'accepted',
  'updated',
  'deleted',
  'noop',
  'notFound',
  'older',
  'dropped',
  'duplicate',
] as const

export const outcomes = [...taken, 'rejected', 'skipped', 'unsent', 'unknown'] as const

export type Taken = (typeof taken)[number]

export type OutcomeName = (typeof outcomes)[number]

/** How many documents the target took. */
export function takenOf(counts: Readonly<Partial<Record<Taken, number>>>): number {
  return taken.reduce((sum, name) => sum + (counts[name] ?? 0), 0)
}
