/** Finds out which rejected documents still wait: nobody has stored them by a replay, read their inputs again, or deleted their file. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { type Checkpoint, type CheckpointInput, runNameOf, nextLimitFrom, lettersOf } from '../checkpoint/checkpoint.js'
import { type KnownRun, knownRuns } from './runs.js'

/** Documents that a run has rejected, or that a replay of them has rejected again. */
export interface OpenLetters {
  readonly run: string
  readonly documents: number
  /** Absolute path of the dead letters. Absent if none were written. */
  readonly deadLetters?: string
  /** Names of the runs that stopped because too many documents were rejected, these among them: see `nameOf`. */
  readonly tooMany: readonly string[]
}

/** Knows what became of dead letters. It looks through all runs once, and answers for many. */
export class Letters {
  readonly #replays: Replays
  readonly #forgotten: ReadonlySet<string>
  readonly #there: ReadonlySet<string>

  /** `known`: all runs of the state folder. */
  constructor(known: readonly KnownRun[]) {
    this.#replays = new Replays(known)
    this.#forgotten = new Set(known.flatMap(one => (one.isForgotten ? [runNameOf(one.checkpoint)] : [])))
    this.#there = new Set(known.map(one => runNameOf(one.checkpoint)))
  }

  /** Returns the runs that hold what is left of the rejected documents of a run, each with the documents of one file, if there is one. */
  leftOf(run: Checkpoint): readonly Checkpoint[] {
    if (run.counts.rejected === 0) return []
    const left = filesOf(run).flatMap(file => this.#replays.leftBy(file))
    return [...new Map(left.map(one => [nameOfFile(one), one])).values()]
  }

  /** Returns what is left of the rejected documents of some runs, each file once. */
  async openOf(runs: readonly Checkpoint[]): Promise<readonly OpenLetters[]> {
    const open = new Map<string, OpenLetters>()
    for (const run of runs) {
      const tooMany = run.status !== 'finished' && nextLimitFrom(run) !== undefined ? [runNameOf(run)] : []
      if (!this.#there.has(runNameOf(run)) || this.#replays.settled.has(runNameOf(run))) continue
      for (const left of filesOf(run).flatMap(file => this.#replays.leftBy(file))) {
        const name = nameOfFile(left)
        const path = pathOf(left)
        if (
          this.#forgotten.has(runNameOf(left)) ||
          (path === undefined ? tooMany.length === 0 : !(await isThere(path)))
        )
          continue
        const deadLetters = path === undefined ? {} : { deadLetters: path }
        const documents = left.counts.rejected
        open.set(name, {
          run: left.run,
          documents,
          ...deadLetters,
          tooMany: [...(open.get(name)?.tooMany ?? []), ...tooMany],
        })
      }
    }
    return [...open.values()]
  }
}

/** Returns what is left of the rejected documents of some runs of a state folder. Without one, nothing is known. */
export async function openLetters(
  stateDir: string | undefined,
  runs: readonly Checkpoint[],
): Promise<readonly OpenLetters[]> {
  return stateDir === undefined ? [] : await new Letters((await knownRuns(stateDir)).known).openOf(runs)
}

/** A run that read a file of dead letters to its end. */
interface Replay {
  readonly run: Checkpoint
  readonly input: CheckpointInput
}

class Replays {
  /** Runs whose documents a later load has read again from their inputs. */
  readonly settled: ReadonlySet<string>
  /** Rejected documents of all runs of a name. */
  readonly #rejected = new Map<string, number>()
  /** Several replays may read the same file. Each replay continues where the previous one stopped. */
  readonly #byToken = new Map<string, Replay[]>()

  constructor(known: readonly KnownRun[]) {
    const settled: string[] = []
    for (const { checkpoint: run } of known) {
      this.#rejected.set(run.run, (this.#rejected.get(run.run) ?? 0) + run.counts.rejected)
      if (run.status === 'finished') settled.push(...(run.settles ?? []))
      if (run.kind !== 'replay') continue
      for (const input of run.inputs) {
        if (input.status !== 'finished' || input.read === 0) continue
        this.#byToken.set(input.token, [...(this.#byToken.get(input.token) ?? []), { run, input }])
      }
    }
    this.settled = new Set(settled)
  }

  /** Returns the runs whose files hold what is left of the rejected documents of a run with one file. */
  leftBy(run: Checkpoint, before: ReadonlySet<string> = new Set()): readonly Checkpoint[] {
    if (before.has(nameOfFile(run))) return []
    const replayed = [...this.#byToken.values()].filter(parts => parts.some(part => isOf(run, part)))
    const whole = replayed.filter(parts => this.#haveAll(parts, run))
    // One whole replay that rejected nothing has stored all of them.
    if (whole.some(parts => parts.every(part => part.run.counts.rejected === 0))) return []
    const seen = new Set([...before, nameOfFile(run)])
    const again = new Set(replayed.flat().map(part => part.run))
    const files = [...again].filter(one => one.counts.rejected > 0).flatMap(filesOf)
    const left = files.flatMap(one => this.leftBy(one, seen))
    return whole.length > 0 ? left : [run, ...left]
  }

  /** Returns whether the replays of one file have read all dead letters of a run: its own file, or as many from a copy of it. */
  #haveAll(parts: readonly Replay[], run: Checkpoint): boolean {
    const path = pathOf(run)
    const isWhole = parts.some(({ input }) => input.start === undefined)
    const isOwn = parts.some(
      ({ run: { began }, input }) => input.file?.path === path && (input.since ?? began) >= run.written,
    )
    if (path !== undefined && isWhole && isOwn) return true
    const runs = new Set(parts.map(part => part.run))
    const names = new Set(parts.flatMap(part => part.run.replays ?? []))
    // How many are of a run that nobody knows any more is not known either.
    const wanted = [...names].reduce((sum, name) => sum + (this.#rejected.get(name) ?? Infinity), 0)
    // Blank lines are skipped.
    const read = [...runs].reduce((sum, { counts }) => sum + counts.read - counts.skipped, 0)
    return names.has(run.run) && read >= wanted && parts.every(part => part.run.left === 0)
  }
}

/** Returns whether a replay has read dead letters of a run, from its file or from a copy of it. */
function isOf(run: Checkpoint, { run: replay, input }: Replay): boolean {
  const path = pathOf(run)
  return replay.replays?.includes(run.run) === true || (path !== undefined && input.file?.path === path)
}

/** Returns a run once for each file that holds its dead letters, each with the documents of that file. */
function filesOf(run: Checkpoint): readonly Checkpoint[] {
  const files = lettersOf(run)
  if (files.length < 2) return [run]
  return files.map(({ path, length, documents }) => ({
    ...run,
    deadLetters: { path, length },
    counts: { ...run.counts, rejected: documents },
  }))
}

function nameOfFile(run: Checkpoint): string {
  return `${runNameOf(run)} ${pathOf(run) ?? ''}`
}

function pathOf({ deadLetters }: Checkpoint): string | undefined {
  return deadLetters === undefined || deadLetters.length === 0 ? undefined : resolve(deadLetters.path)
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}
