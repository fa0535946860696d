/** Loads what is new in followed files, round by round: each round is a load of its own that continues the same run. */
import { resolve } from 'node:path'
import { cpuUsage } from 'node:process'
import { explain, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Source } from '../../base/flow.js'
import { exitOf, type Receipt, statusOf } from '../../pipeline/ledger/receipt.js'
import { findSources } from '../../pipeline/source/open-sources.js'
import type { Feature, OpenConnection } from '../../run/loop/hooks.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { StopSection } from '../../options/load.js'
import type { RunRecord } from '../../run/loop/run-record.js'
import type { StopSignals } from '../../run/loop/stop-signals.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { newRunId } from '../../base/checksum/tokens.js'
import { isoTime, systemClock } from '../../base/time/clock.js'
import { AddedRounds } from './add-round.js'
import type { Remembered } from './chains.js'
import type { FollowedFile } from './followed-file.js'
import type { FollowedFiles } from './followed-files.js'
import { type EarlierFile, earlierFiles, remembered } from './left-behind.js'
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
  #remembered: Remembered | undefined
  readonly #began = systemClock.now()
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
      let receipt = await this.#round()
      await this.#addEarlier()
      receipt = (await this.#loadLinks()) ?? receipt
      if (isLast) return { ...receipt, ...this.#ending(receipt) }
      await this.#pause(stop.signal)
    }
  }

  /** Waits for the next look. A file that is renamed is looked at sooner: it may be gone a second later. */
  async #pause(signal: AbortSignal): Promise<void> {
    const over = new AbortController()
    const end = () => over.abort()
    if (signal.aborted) end()
    signal.addEventListener('abort', end)
    const sleep = async (ms: number) => await systemClock.sleep(ms, over.signal).catch(() => undefined)
    try {
      await sleep(this.#restMs)
      await Promise.race([sleep(this.#following.pollMs - this.#restMs), this.#following.files.renamed(over.signal)])
    } finally {
      signal.removeEventListener('abort', end)
      end()
    }
  }

  /** Returns what the receipt says of files at the end. */
  #ending(receipt: Receipt): Partial<Receipt> {
    const { all, chains } = this.#following.files
    const { gaps } = chains
    const { notes = [] } = { ...receipt, ...notesOn(receipt, all) }
    const said = [...notes, ...gaps.map(({ message }) => message)]
    return {
      ...this.#timeOf(receipt),
      ...(said.length === 0 ? {} : { notes: said }),
      ...(gaps.length === 0 ? {} : { gaps, exit: Math.max(1, receipt.exit) }),
    }
  }

  /** Rounds took the time while they loaded. The whole took longer. */
  #timeOf({ elapsedMs: loadingMs }: Receipt): Pick<Receipt, 'ended' | 'elapsedMs' | 'follow'> {
    const elapsedMs = Math.round(systemClock.now() - this.#began)
    return { ended: isoTime(new Date()), elapsedMs: Math.max(loadingMs, elapsedMs), follow: { loadingMs } }
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

  #remember(runs: readonly Checkpoint[]): void {
    const { files } = this.#following
    this.#earlier = [...earlierFiles(runs, files.all, resolve('.'))]
    this.#remembered = remembered(runs, files.all, resolve('.'))
    files.chains.remember(this.#remembered)
  }

  /** Follows files that were renamed while Sluice did not run. Those that are not found then are looked for by their names. */
  async #addEarlier(): Promise<void> {
    const { files } = this.#following
    await files.addEarlier(this.#earlier.splice(0))
    if (this.#remembered !== undefined) files.chains.lookBackTo(this.#remembered)
    this.#remembered = undefined
  }

  /**
   * Loads compressed files that had a followed name. They are loaded apart from the followed files: one of these may be the same one.
   * Resolves to undefined if there are none.
   */
  async #loadLinks(): Promise<Receipt | undefined> {
    const { files, events } = this.#following
    const { chains } = files
    let receipt: Receipt | undefined
    for (const link of chains.takeLinks()) {
      const { path } = link
      events.say(path, `${path} was compressed before Sluice had read all of it. Sluice reads the rest`)
      try {
        receipt = this.#keep(await this.#load(await findSources({ files: [path] }, {})), [])
      } catch (error) {
        if (!isSluiceError(error) || !stageIsInput(error)) throw error
        if (error.code === 'INPUT_NOT_FOUND') chains.giveBack(link)
        else {
          chains.broken(link, error.message)
          if (error.receipt !== undefined) receipt = this.#keep(withoutFailure(error.receipt as Receipt), [])
        }
      }
    }
    return receipt
  }

  async #load(inputs: readonly Source[]): Promise<Receipt> {
    const { stopping, loadOnce, events, connection } = this.#following
    const run = this.#run
    return await loadOnce({
      stopping: { ...stopping, signal: undefined },
      onEvent: events.hear,
      connection,
      feature: () => ({
        sources: () => inputs,
        identify: plain => ({
          ...plain,
          plan: async planning => {
            if (this.#rounds.receipt === undefined) this.#remember(planning.runs)
            return planRound(await plain.plan({ ...planning, ...ofRun(run) }), events.warn)
          },
        }),
      }),
    })
  }

  /** Adds the receipt of all rounds to an error. */
  #failed({ failure, cause, receipt: last }: SluiceError, inputs: readonly RoundInput[]): SluiceError {
    const before = this.#rounds.receipt
    if (last !== undefined) {
      const receipt = this.#keep(last as Receipt, inputs)
      return new SluiceError(failure, { receipt: { ...receipt, ...this.#timeOf(receipt) }, cause })
    }
    if (before === undefined) return new SluiceError(failure, { cause })
    return new SluiceError(failure, {
      receipt: { ...before, ...this.#timeOf(before), status: statusOf(failure), failure, exit: failure.exit },
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
        await this.#pause(over.signal)
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

/** Returns the receipt of a link that is broken: the gap stands for its failure. */
function withoutFailure({ failure: _, ...rest }: Receipt): Receipt {
  return { ...rest, status: 'finished', exit: exitOf(rest) }
}

function stageIsInput({ code }: SluiceError): boolean {
  return explain(code).stage === 'input'
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
