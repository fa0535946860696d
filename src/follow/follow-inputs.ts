/** Follows files that grow: runs the load again and again over what is new, over one connection, until a signal. */
import { resolve } from 'node:path'
import { openTarget } from '../connect/open-target.js'
import { isSluiceError, SluiceError } from '../failure/failure.js'
import type { Receipt } from '../ledger/receipt.js'
import { listenerOf } from '../options/listener.js'
import type { FollowSection, Load } from '../options/load.js'
import { listedIn, namedIn } from '../options/names.js'
import { secretsOf } from '../options/mask-secrets.js'
import type { Feature } from '../run/hooks.js'
import type { OpenConnection } from '../run/locked-run.js'
import { openSlots } from '../run/open-batcher.js'
import { RunRecord } from '../run/run-record.js'
import { stopSignalsOf, type StopSignals } from '../run/stop-signals.js'
import { newRunId } from '../state/run-identity.js'
import { systemClock } from '../time/system-clock.js'
import { AddedRounds } from './add-round.js'
import { earlierFiles, type EarlierFile } from './left-behind.js'
import type { FollowedFile } from './followed-file.js'
import { FollowedFiles } from './followed-files.js'
import { planRound } from './plan-round.js'
import { RoundEvents } from './round-events.js'
import { RoundInput } from './round-input.js'

/** What one round has of its own. */
export interface Round {
  /** The options, without what ends the whole load. */
  readonly load: Load
  readonly feature: Feature
  readonly connection: OpenConnection
}

export interface Followed extends Load {
  readonly follow: FollowSection
}

/** A look at all files may take at most so much of the time: one part of so many. */
const LOOK_SHARE = 30

/** `loadOnce`: loads the inputs of one round. Throws as `ingest` does. Ends as a load does that is complete if the signal aborts. */
export async function followInputs(load: Followed, loadOnce: (round: Round) => Promise<Receipt>): Promise<Receipt> {
  const { inputs, state, documents, connecting, stopping, batching } = load
  const events = new RoundEvents(listenerOf(load.onEvent))
  const record = new RunRecord({
    command: 'ingest',
    inputs,
    stateDir: state.stateDir,
    state,
    secrets: secretsOf(load),
    listCopies: async () => await Promise.resolve([]),
    target: { index: documents.into },
    warn: events.warn,
  })
  try {
    return await record.around(async () => {
      using stop = stopSignalsOf(stopping, systemClock)
      await using files = new FollowedFiles(whatToFollow(load, events))
      await files.scan()
      const { cluster, way } = await openTarget(connecting, stop.signal).catch((error: unknown) => {
        throw stop.cause(error)
      })
      try {
        using slots = openSlots(connecting, batching)
        const rounds = new Rounds({ load, loadOnce, files, events, record, connection: { cluster, way, slots } })
        return await rounds.run(stop)
      } finally {
        await cluster.route.destroy()
      }
    })
  } finally {
    await record.prune()
  }
}

function whatToFollow({ inputs: { source, format } }: Followed, { say, warn }: RoundEvents) {
  const listed = listedIn(source)
  const names = listed ?? namedIn(source)
  const areLines = format === 'ndjson' ? ('ndjson' as const) : ('auto' as const)
  return { names, areListed: listed !== undefined, folder: resolve('.'), clock: systemClock, format: areLines, say, warn }
}

interface Following {
  readonly load: Followed
  readonly loadOnce: (round: Round) => Promise<Receipt>
  readonly files: FollowedFiles
  readonly events: RoundEvents
  readonly record: RunRecord
  readonly connection: OpenConnection
}

class Rounds {
  readonly #following: Following
  readonly #rounds = new AddedRounds()
  #run = newRunId()
  /** Files that had the followed names before Sluice started. */
  #earlier: EarlierFile[] = []
  /** How long the last look took. */
  #lookMs = 0

  constructor(following: Following) {
    this.#following = following
  }

  /** Resolves to the receipt of all rounds, after the signal. */
  async run(stop: StopSignals): Promise<Receipt> {
    for (;;) {
      // What is there at the signal is the last that is read.
      const isLast = stop.signal.aborted
      if (this.#rounds.receipt !== undefined) await this.#look()
      const receipt = await this.#round()
      await this.#following.files.addEarlier(this.#earlier.splice(0))
      if (isLast) return { ...receipt, ...notesOn(receipt, this.#following.files.all) }
      await systemClock.sleep(this.#pauseMs, stop.signal).catch(() => undefined)
    }
  }

  get #pauseMs(): number {
    return Math.max(this.#following.load.follow.pollMs, LOOK_SHARE * this.#lookMs)
  }

  async #look(): Promise<void> {
    const began = systemClock.now()
    await this.#following.files.scan()
    this.#lookMs = systemClock.now() - began
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
      const receipt = error.receipt === undefined ? undefined : this.#keep(error.receipt as Receipt, inputs)
      throw receipt === undefined ? error : new SluiceError(error.failure, { receipt, cause: error.cause })
    }

  }

  async #load(inputs: readonly RoundInput[]): Promise<Receipt> {
    const { load, loadOnce, events, connection, files } = this.#following
    const run = this.#run
    return await loadOnce({
      load: { ...load, stopping: { ...load.stopping, signal: undefined }, onEvent: events.hear },
      connection,
      feature: () => ({
        sources: inputs,
        identify: plain => ({
          ...plain,
          plan: async planning => {
            if (this.#rounds.receipt === undefined) this.#earlier = [...earlierFiles(planning.runs, files.all, resolve('.'))]
            return planRound(await plain.plan({ ...planning, ...ofRun(run) }), events.warn)
          },
        }),
      }),
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
        if (!over.signal.aborted) await this.#look()
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
