/** Loads what is new in followed files, round by round: each round is a load of its own that continues the same run. */
import { resolve } from 'node:path'
import { cpuUsage } from 'node:process'
import { isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import type { Feature } from '../../run/loop/hooks.js'
import type { StopSection } from '../../options/load.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { OpenConnection } from '../../run/loop/locked-run.js'
import type { RunRecord } from '../../run/loop/run-record.js'
import type { StopSignals } from '../../run/loop/stop-signals.js'
import { newRunId } from '../../run/state/resume/run-identity.js'
import { statusOf } from '../../run/state/resume/state-keeper.js'
import { systemClock } from '../../base/time/system-clock.js'
import { AddedRounds } from './add-round.js'
import type { FollowedFile } from './followed-file.js'
import type { FollowedFiles } from './followed-files.js'
import { earlierFiles, type EarlierFile } from './left-behind.js'
import { planRound } from './plan-round.js'
import type { RoundEvents } from './round-events.js'
import { RoundInput } from './round-input.js'

/** The own parts of one round. */
export interface Round {
  /** Without what ends the whole load. */
  readonly stopping: StopSection
  readonly onEvent: (event: IngestEvent) => void
  readonly feature: Feature
  readonly connection: OpenConnection
}

/** Looking at all files may take at most one part of so many of a CPU. */
const CPU_SHARE = 20

interface Following {
  /** Milliseconds between two looks at the files. */
  readonly pollMs: number
  readonly stopping: StopSection
  readonly loadOnce: (round: Round) => Promise<Receipt>
  readonly files: FollowedFiles
  readonly events: RoundEvents
  readonly record: RunRecord
  readonly connection: OpenConnection
}

export class Rounds {
  readonly #following: Following
  readonly #rounds = new AddedRounds()
  #run = newRunId()
  /** Files that had the followed names before Sluice started. */
  #earlier: EarlierFile[] = []
  /** How long to wait at least after the last look. */
  #restMs = 0

  constructor(following: Following) {
    this.#following = following
  }

  /** Resolves to the receipt of all rounds, after the signal. */
  async run(stop: StopSignals): Promise<Receipt> {
    for (;;) {
      // After the signal, reads only the bytes that exist now.
      const isLast = stop.signal.aborted
      if (this.#rounds.receipt !== undefined) await this.#look()
      const receipt = await this.#round()
      await this.#following.files.addEarlier(this.#earlier.splice(0))
      if (isLast) return { ...receipt, ...notesOn(receipt, this.#following.files.all) }
      await systemClock.sleep(this.#pauseMs, stop.signal).catch(() => undefined)
    }
  }

  get #pauseMs(): number {
    return Math.max(this.#following.pollMs, this.#restMs)
  }

  async #look(): Promise<void> {
    const began = systemClock.now()
    const before = cpuUsage()
    await this.#following.files.scan()
    const { user, system } = cpuUsage(before)
    // A network file system may take long and no CPU: it gets as much rest.
    this.#restMs = Math.max(systemClock.now() - began, (CPU_SHARE * (user + system)) / 1000)
  }

  /** Loads what is new. The first round also opens a run if there is nothing yet. */
  async #round(): Promise<Receipt> {
    const { files, events } = this.#following
    const before = this.#rounds.receipt
    const ready = files.all.filter(({ isReady }) => isReady)
    if (before !== undefined && ready.length === 0) return before
    // A file that has taken the name of another one must not be taken for it.
    const all = new Set([...files.all.filter(({ isLoose, read }) => isLoose && read > 0), ...ready])
    const inputs = [...all].map((file, id) => new RoundInput(id, file, resolve('.')))
    try {
      const receipt = await this.#meanwhileLooking(this.#load(inputs))
      for (const { followed, end, generation } of inputs) followed.loaded(end, generation)
      return this.#keep(receipt, inputs)
    } catch (error) {
      if (!isSluiceError(error)) throw error
      // Another process loads one of the files. Later its documents are known.
      if (error.code === 'RUN_LOCKED' && before !== undefined) {
        events.warn(`${error.message}. Sluice tries again`)
        return before
      }
      throw this.#failed(error, inputs)
    }
  }

  async #load(inputs: readonly RoundInput[]): Promise<Receipt> {
    const { stopping, loadOnce, events, connection, files } = this.#following
    const run = this.#run
    return await loadOnce({
      stopping: { ...stopping, signal: undefined },
      onEvent: events.hear,
      connection,
      feature: () => ({
        sources: inputs,
        identify: plain => ({
          ...plain,
          plan: async planning => {
            if (this.#rounds.receipt === undefined)
              this.#earlier = [...earlierFiles(planning.runs, files.all, resolve('.'))]
            return planRound(await plain.plan({ ...planning, ...ofRun(run) }), events.warn)
          },
        }),
      }),
    })
  }

  /** Adds the receipt of all rounds to an error. */
  #failed({ failure, cause, receipt: last }: SluiceError, inputs: readonly RoundInput[]): SluiceError {
    const before = this.#rounds.receipt
    if (last !== undefined) return new SluiceError(failure, { receipt: this.#keep(last as Receipt, inputs), cause })
    if (before === undefined) return new SluiceError(failure, { cause })
    return new SluiceError(failure, {
      receipt: { ...before, status: statusOf(failure), failure, exit: failure.exit },
      cause,
    })
  }

  #keep(receipt: Receipt, inputs: readonly RoundInput[]): Receipt {
    const { events, record } = this.#following
    this.#run = receipt.run
    if (receipt.checkpoint !== undefined) record.keptAt(receipt.checkpoint)
    const all = this.#rounds.add(receipt, inputs)
    events.ended(all)
    return all
  }

  /** Files may be renamed more than once while a round waits for a busy cluster. */
  async #meanwhileLooking<T>(work: Promise<T>): Promise<T> {
    const over = new AbortController()
    const looking = async () => {
      while (!over.signal.aborted) {
        await systemClock.sleep(this.#pauseMs, over.signal).catch(() => undefined)
        if (!over.signal.aborted) await this.#following.files.scan()
      }
    }
    const looks = looking()
    try {
      return await work
    } finally {
      over.abort()
      await looks
    }
  }
}

/** The run that all rounds continue, also if another one knows their inputs. */
function ofRun(run: string) {
  return { continuing: run, newRunId: () => run, listsRefusals: true }
}

const NAMED = 3

/** Names the files that end within a line. */
function notesOn({ notes = [] }: Receipt, files: readonly FollowedFile[]): Pick<Receipt, 'notes'> {
  const open = files.filter(({ unfinished }) => unfinished > 0)
  const said = open.slice(0, NAMED).map(({ name, unfinished }) => {
    const bytes = unfinished === 1 ? '1 byte of it waits' : `${unfinished.toLocaleString('en-US')} bytes of it wait`
    return `${name} ends within a line: ${bytes} for the line feed`
  })
  if (open.length > NAMED) said.push(`the same is true of ${open.length - NAMED} more files`)
  return notes.length + said.length === 0 ? {} : { notes: [...notes, ...said] }
}
