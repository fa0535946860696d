/** Lists the files of dead letters of a run. Each process that continues it may write to another file. */
import type { Checkpoint, EarlierLetters } from './checkpoint.js'

/** Returns the files that hold rejected documents of a run, the last one at the end. */
export function lettersOf({
  deadLetters,
  counts,
}: Pick<Checkpoint, 'deadLetters' | 'counts'>): readonly EarlierLetters[] {
  if (deadLetters === undefined) return []
  const { path, length, earlier = [] } = deadLetters
  const documents = earlier.reduce((left, one) => left - one.documents, counts.rejected)
  return length === 0 || documents <= 0 ? earlier : [...earlier, { path, length, documents }]
}
