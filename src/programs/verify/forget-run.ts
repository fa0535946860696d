/** Forgets a run that is undone, and the replays of its rejected documents: no load takes what is deleted for loaded. */
import { isoTime } from '../../base/time/clock.js'
import type { Checkpoint, RunUndone } from '../../run/state/checkpoint/checkpoint.js'
import { changeEnd, recordUndone } from '../../run/state/runs/history.js'
import { hasLoaded, type KnownRun, lastFinished, removeRun, stateDirAround } from '../../run/state/runs/runs.js'
import { isRunLost } from './loaded-again.js'
import type { OpenRun } from './open-run.js'
import { type ReplayOf, replaysOf } from './replays-of.js'

type Undoing = Pick<OpenRun, 'path' | 'checkpoint' | 'others' | 'cluster' | 'readIds'>

/** The replays of a run. A deletion also takes what they stored. */
export class ReplaysOfRun {
  readonly #run: Undoing
  readonly #replays: readonly ReplayOf[]
  #forgotten: Promise<void> | undefined

  constructor(run: Undoing) {
    this.#run = run
    // If ids come from fields, undo keeps what a replay has stored.
    this.#replays = run.readIds === undefined ? replaysOf(run.checkpoint, run.others) : []
  }

  /**
   * Called before something is deleted: if the process ends then, a replay sends the documents again. Those that are still there count as
   * duplicate. Throws SluiceError STATE_UNWRITABLE.
   */
  async forget(): Promise<void> {
    this.#forgotten ??= this.#forget()
    await this.#forgotten
  }

  async #forget(): Promise<void> {
    const stateDir = stateDirAround(this.#run.path)
    for (const { known, sent } of this.#replays) {
      if (stateDir !== undefined)
        await recordUndone(stateDir, known.checkpoint, sent === 'none' ? undefined : this.#undone(true))
      await removeRun(known.path)
    }
  }

  /** Called at the end. `isComplete`: nothing of the run is left. Throws SluiceError STATE_UNWRITABLE. */
  async end({ deleted, isComplete }: { readonly deleted: number; readonly isComplete: boolean }): Promise<void> {
    // A run that is forgotten also takes along the replays whose documents were gone before.
    if (isComplete) await this.forget()
    const stateDir = stateDirAround(this.#run.path)
    if (this.#forgotten === undefined || stateDir === undefined || (deleted > 0 && !isComplete)) return
    for (const { known, sent } of this.#replays) {
      if (sent === 'none') continue
      const change = changeEnd(stateDir, known.checkpoint.run, ({ undone: _, ...end }) =>
        isComplete ? { ...end, undone: this.#undone(sent === 'part') } : end,
      )
      // Then the list says that the replay is undone in part.
      await change.catch(() => undefined)
    }
  }

  /** Returns notes on documents that another replay of the same file would store again or reject. */
  notes(): readonly string[] {
    if (this.#forgotten === undefined) return []
    const known = new Map(this.#run.others.map(({ checkpoint }) => [checkpoint.run, checkpoint]))
    return this.#replays.flatMap(({ known: { checkpoint }, sent }) => {
      const { run, replays = [], inputs } = checkpoint
      const others = replays.filter(name => name !== this.#run.checkpoint.run)
      // Ids of Sluice do not exist twice.
      const doubtful = others.filter(name => (known.get(name)?.options['ids'] ?? 'cluster') !== 'run')
      const isReplay = (name: string) => this.#replays.some(one => one.known.checkpoint.run === name)
      const left = doubtful.filter(name => !isReplay(name))
      if (sent === 'all' || left.length === 0) return []
      const files = Array.from(inputs, ({ name }) => name).join(', ')
      return [
        `replay ${run} has also sent rejected documents of ${left.join(', ')}, and Sluice has forgotten it. Before you replay ${files} again, delete their lines: documents without an id would be stored twice`,
      ]
    })
  }

  #undone(isPart: boolean): RunUndone {
    const undone = { at: isoTime(new Date()), deleted: 0, with: this.#run.checkpoint.run }
    return isPart ? { ...undone, isPart } : undone
  }
}

/**
 * Forgets a run: no load reads it. The list of runs still says that it was undone. Resolves to the run by which the same load goes now, if
 * there is one.
 */
export async function forgetRun({ path, checkpoint, others, cluster }: Undoing, deleted: number): Promise<Forgotten> {
  const forgotten = others.filter(known => knowsOnly(checkpoint, known))
  for (const known of forgotten) await removeRun(known.path)
  const stateDir = stateDirAround(path)
  // Written first: if the process ends between the two, the run is listed twice, and not lost.
  if (stateDir !== undefined) await recordUndone(stateDir, checkpoint, { at: isoTime(new Date()), deleted })
  await removeRun(path)
  const last = stateDir === undefined ? undefined : await lastFinished(stateDir, checkpoint.key)
  const goesBy = last === undefined || (await isRunLost(last, cluster)) ? undefined : last.run
  return { goesBy, forgotten: forgotten.map(known => known.checkpoint.run) }
}

interface Forgotten {
  readonly goesBy: string | undefined
  /** Later runs that found nothing new. */
  readonly forgotten: readonly string[]
}

/** Returns whether a later run found nothing new in an input of this one. By its checkpoint, the same load would skip what is deleted. */
function knowsOnly({ began, inputs }: Checkpoint, { checkpoint: later, isForgotten }: KnownRun): boolean {
  if (isForgotten || hasLoaded(later) || Date.parse(later.began) < Date.parse(began)) return false
  const own = new Set(Array.from(inputs, ({ token }) => token))
  return Array.from(later.inputs).some(({ token }) => own.has(token))
}
