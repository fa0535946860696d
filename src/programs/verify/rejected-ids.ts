/** Reads from dead letters which documents of an input were rejected, by their own ids. */
import { type Checkpoint, lettersOf } from '../../run/state/checkpoint/checkpoint.js'
import { letterHeads, whyNotRead } from './rejected-numbers.js'

interface RejectedIds {
  /** The ids by the name of the input. */
  readonly rejected: ReadonlyMap<string, ReadonlySet<string>>
  readonly notes: readonly string[]
}

/** `runs`: those that may have rejected the documents. */
export async function readRejectedIds(runs: readonly Checkpoint[], names: readonly string[]): Promise<RejectedIds> {
  const rejected = new Map(names.map(name => [name, new Set<string>()]))
  const notes: string[] = []
  for (const run of runs) {
    if (run.counts.rejected === 0) continue
    const letters = lettersOf(run)
    if (letters.length === 0)
      notes.push(`Sluice does not know which documents run ${run.run} rejected, because it wrote no dead letters`)
    for (const { path, length } of letters)
      try {
        for await (const { input = '', id } of letterHeads(path, length))
          if (id !== undefined) rejected.get(input)?.add(id)
      } catch (error) {
        notes.push(`Sluice does not know which documents were rejected: ${path} ${whyNotRead(error)}`)
      }
  }
  return { rejected, notes }
}
