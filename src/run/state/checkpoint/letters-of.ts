/** The files of dead letters of a run. Each process that continues it may write to another file. */
import type { Checkpoint, EarlierLetters, LettersFile } from './checkpoint.js'

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

/** Returns the file of dead letters, with the other files that earlier processes of the run wrote. */
export function lettersIn(
  file: LettersFile,
  before: Pick<Checkpoint, 'deadLetters' | 'counts'> | undefined,
): NonNullable<Checkpoint['deadLetters']> {
  const earlier = before === undefined ? [] : lettersOf(before).filter(one => one.path !== file.path)
  return earlier.length === 0 ? file : { ...file, earlier }
}
