/** Finds dead letters of runs that were undone: their documents may have been loaded again since, with other ids. */
import { recordedRuns } from '../../run/state/runs/history.js'
import { count } from '../../base/text/shown.js'
import { knownRuns } from '../../run/state/runs/runs.js'

/** Dead letters of runs that were undone. */
export class UndoneLetters {
  #undone: ReadonlySet<string> = new Set()
  readonly #documents = new Map<string, number>()

  /** Throws SluiceError STATE_UNREADABLE. */
  async look(stateDir: string): Promise<void> {
    const { known } = await knownRuns(stateDir)
    // Runs of the same name make the same ids, so a document of both is stored once.
    const again = new Set(known.map(({ checkpoint }) => checkpoint.run))
    const undone = (await recordedRuns(stateDir)).filter(
      ({ ended: { undone } }) => undone !== undefined && undone.isPart !== true,
    )
    this.#undone = new Set(undone.flatMap(({ ended: { run } }) => (again.has(run) ? [] : [run])))
  }

  /** Counts a dead letter. Returns whether its run was undone. */
  take(run: string): boolean {
    if (!this.#undone.has(run)) return false
    this.#documents.set(run, (this.#documents.get(run) ?? 0) + 1)
    return true
  }

  /** Returns warnings. */
  says(): readonly string[] {
    return Array.from(this.#documents).map(([run, documents]) => {
      const [belong, them] = documents === 1 ? ['dead letter belongs', 'it'] : ['dead letters belong', 'them']
      return `run ${run} was undone, and ${count(documents)} ${belong} to it. Sluice did not send ${them}, because a new load of the same inputs stores the documents with other ids. To send ${them}, pass --again`
    })
  }
}
