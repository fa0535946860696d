/** Finds dead letters of runs that were undone. If the command of such a run has run again, that run has read their documents again. */
import { recordedRuns } from '../../run/state/runs/history.js'
import { count } from '../../base/text/shown.js'
import { hasLoaded, knownRuns } from '../../run/state/runs/runs.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Dead letters that a replay skipped: their run was undone, and a later run has loaded its inputs again. */
    readonly replaced?: readonly Replaced[]
  }
}

interface Replaced {
  readonly run: string
  /** The later run. */
  readonly by: string
  readonly documents: number
}

interface UndoneRuns {
  readonly undone: ReadonlySet<string>
  /** The later runs by the name of the run that was undone. */
  readonly replaced: ReadonlyMap<string, string>
}

/** Throws SluiceError STATE_UNREADABLE. */
async function undoneRuns(stateDir: string): Promise<UndoneRuns> {
  const { known } = await knownRuns(stateDir)
  const recorded = (await recordedRuns(stateDir)).filter(({ ended }) => ended.undone !== undefined)
  const undone = recorded.filter(({ ended }) => ended.undone?.with === undefined)
  // What they rejected again are documents of the run that they were undone with.
  const replays = recorded.filter(({ ended: { undone: how } }) => how?.with !== undefined && how.isPart !== true)
  const loads = [
    ...known.flatMap(({ checkpoint }) => (hasLoaded(checkpoint) ? [checkpoint] : [])),
    // One that was undone, too, has its own dead letters.
    ...undone.map(({ key, ended: { run, began } }) => ({ key, run, began })),
  ].toSorted((one, other) => Date.parse(other.began) - Date.parse(one.began))
  const replaced = new Map<string, string>()
  for (const { key, ended } of undone) {
    const since = Date.parse(ended.undone?.at ?? '')
    const later = loads.find(one => key !== undefined && one.key === key && Date.parse(one.began) > since)
    if (later !== undefined) replaced.set(ended.run, later.run)
  }
  for (const { ended } of replays) {
    const later = replaced.get(ended.undone?.with ?? '')
    if (later !== undefined) replaced.set(ended.run, later)
  }
  // Runs of the same name make the same ids, so a document of both is stored once.
  const again = new Set(known.map(({ checkpoint }) => checkpoint.run))
  for (const run of again) replaced.delete(run)
  return {
    undone: new Set([...undone, ...replays].flatMap(({ ended: { run } }) => (again.has(run) ? [] : [run]))),
    replaced,
  }
}

/** Dead letters of runs that were undone. */
export class UndoneLetters {
  #runs: UndoneRuns = { undone: new Set(), replaced: new Map() }
  readonly #documents = new Map<string, number>()

  /** Throws SluiceError STATE_UNREADABLE. */
  async look(stateDir: string): Promise<void> {
    this.#runs = await undoneRuns(stateDir)
  }

  /** Counts a dead letter. Returns whether its run was replaced. */
  take(run: string): boolean {
    if (!this.#runs.undone.has(run)) return false
    this.#documents.set(run, (this.#documents.get(run) ?? 0) + 1)
    return this.#runs.replaced.has(run)
  }

  get replaced(): readonly Replaced[] {
    return Array.from(this.#documents).flatMap(([run, documents]) => {
      const by = this.#runs.replaced.get(run)
      return by === undefined ? [] : [{ run, by, documents }]
    })
  }

  /** Returns warnings. */
  says(): readonly string[] {
    const sent = Array.from(this.#documents).filter(([run]) => !this.#runs.replaced.has(run))
    return [...this.replaced.map(sayReplaced), ...sent.map(([run, documents]) => saySent(run, documents))]
  }
}

function sayReplaced({ run, by, documents }: Replaced): string {
  const [are, them] = documents === 1 ? ['dead letter is', 'it'] : ['dead letters are', 'them']
  return `${count(documents)} ${are} of run ${run}, which was undone. Run ${by} loaded its inputs again, so Sluice skipped ${them}. To send ${them} all the same, pass --again`
}

/** The next load gives other ids to the same documents. */
function saySent(run: string, documents: number): string {
  const [are, them] = documents === 1 ? ['dead letter is', 'it'] : ['dead letters are', 'them']
  return `${count(documents)} ${are} of run ${run}, which was undone. Sluice sent ${them}. If you load the inputs of that run again, do not replay the same documents from its new dead letters`
}
