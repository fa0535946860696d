/** Loads the inputs of a run by workers: puts their ranges on a queue, waits until each has a receipt, and adds these up. */
import type { Queue } from 'bullmq'
import { type Failure, isSluiceError } from '../failure/failure.js'
import type { Source } from '../flow.js'
import { addCounts, nothing } from '../ledger/account.js'
import type { Counts } from '../ledger/receipt.js'
import type { Feature, LoadingElsewhere, RunHook } from '../run/hooks.js'
import type { Loaded } from '../run/load-documents.js'
import type { JobData, Planned, RangeData } from './job.js'
import type { FoundInput } from '../ranges/plan-inputs.js'
import { planRanges, type PlannedRange } from './plan-ranges.js'
import { JobAccount } from './job-account.js'
import { endOfRange } from './range-end.js'
import { systemClock } from '../time/system-clock.js'

/** Ranges that go to the queue in one request, and receipts that come back in one. */
const PAGE = 500
/** Time between two looks at the queue, in milliseconds. */
const LOOK_MS = 500
/** How often a range is tried before it counts as failed. */
const ATTEMPTS = 8

export interface Dispatching {
  /** Finds the inputs behind one name. */
  find(name: string, cutFrom: number): AsyncIterable<FoundInput>
  readonly data: JobData
  readonly ranges: Queue<RangeData>
  /** Notes that all ranges are on the queue. */
  planned(planned: Planned): Promise<void>
  /** Takes what workers have told. Returns why the job must stop, if it must. */
  look(): Promise<Failure | undefined>
  /** Returns why this process coordinates the job no more, if it does not. */
  lost(): Failure | undefined
  /** Tells workers to stop. */
  stop(why: Failure): Promise<void>
  /** Repeats work on the queue until it succeeds. */
  patient<T>(work: () => Promise<T>): Promise<T>
}

export function dispatchRanges(dispatching: Dispatching): Feature {
  return () => new Dispatch(dispatching).hook()
}

class Dispatch {
  readonly #given: Dispatching
  #index = ''
  #planned: Planned
  readonly #account = new JobAccount()

  constructor(given: Dispatching) {
    this.#given = given
    this.#planned = given.data.planned ?? { objects: 0, ranges: 0, bytes: 0 }
  }

  hook(): RunHook {
    return {
      sources: this.#given.data.sources.map((name, id) => inputOf(name, id)),
      prepare: async ({ found }) => {
        this.#index = found.target.index
        await Promise.resolve()
      },
      loadElsewhere: async loading => await this.#load(loading),
      receipt: () => this.#account.receipt(this.#planned),
    }
  }

  async #load(loading: LoadingElsewhere): Promise<Loaded> {
    const { inputs, ledger } = loading
    for (const input of inputs) ledger.begin(input)
    try {
      await this.#plan(loading, this.#given.data.planned !== undefined)
      let why = await this.#wait(loading)
      // A queue that has lost ranges gets them again: those that it still has are not queued twice.
      if (why === undefined && (await this.#hasLost())) {
        await this.#plan(loading, false)
        why = await this.#wait(loading)
      }
      await this.#addUp(loading)
      await this.#account.joinDeadLetters(this.#given.data.deadLetters)
      // Whoever has taken over finishes the job.
      const stopped = this.#given.lost() ?? why ?? ledger.overLimit() ?? this.#account.whatFailed(this.#planned)
      if (stopped === undefined) for (const input of inputs) ledger.end(input)
      return { bytesRead: this.#account.bytesRead, ...(stopped === undefined ? {} : { failure: stopped }) }
    } catch (error) {
      if (!isSluiceError(error)) throw error
      return { bytesRead: this.#account.bytesRead, failure: error.failure }
    }
  }

  /** A job that was planned before its planner was killed is not planned again: its objects are those of then. */
  async #plan({ tell }: LoadingElsewhere, isPlanned: boolean): Promise<void> {
    const { ranges, data, planned, find, patient } = this.#given
    // Before the first range, so that no worker can take too many.
    await patient(async () => await ranges.setGlobalConcurrency(data.concurrency))
    if (isPlanned) return
    const total = { objects: 0, ranges: 0, bytes: 0 }
    let page: PlannedRange[] = []
    const put = async () => {
      const jobs = page.map(range => this.#jobOf(range))
      await patient(async () => await ranges.addBulk(jobs))
      page = []
    }
    for await (const range of planRanges(data.sources, data.rangeBytes, find)) {
      total.objects += range.begins
      total.ranges += 1
      total.bytes += range.bytes
      page.push(range)
      if (page.length === PAGE) await put()
    }
    await put()
    this.#planned = total
    await patient(async () => await planned(total))
    tell({ type: 'planning', inputs: total.objects })
  }

  #jobOf({ id, source, inputs }: PlannedRange) {
    const options = { jobId: id, attempts: ATTEMPTS, backoff: { type: 'exponential', delay: 1000, jitter: 0.5 } }
    return { name: 'range', data: { source, inputs, index: this.#index }, opts: options }
  }

  /** Resolves when no range is left, or to the reason why the job stops before that. */
  async #wait({ stop, tell, ledger }: LoadingElsewhere): Promise<Failure | undefined> {
    const { ranges, look, patient } = this.#given
    let why: Failure | undefined
    const left = ['waiting', 'active', 'delayed', 'prioritized'] as const
    let seen = { at: 0, counts: nothing }
    for (;;) {
      const {
        completed = 0,
        failed = 0,
        ...open
      } = await patient(async () => await ranges.getJobCounts('completed', 'failed', ...left))
      const before = seen
      seen = await patient(async () => await this.#countMore(before, completed))
      const { counts } = seen
      const { ranges: all, bytes } = this.#planned
      const done = completed + failed
      const underWay = open['active'] ?? 0
      tell({
        type: 'standing',
        ofRun: counts,
        bytes: { read: all === 0 ? 0 : Math.round((bytes * done) / all), total: bytes },
        file: { number: done, of: all },
        underWay,
      })
      if (Object.values(open).every(count => count === 0)) return why
      // A job that stops waits for the receipts of what is under way.
      if (why !== undefined && underWay === 0) return why
      if (stop.signal.aborted) return stop.why(0)
      const lost = this.#given.lost()
      if (lost !== undefined) return lost
      if (why === undefined) {
        why = (await patient(look)) ?? ledger.isOverLimit(counts)
        if (why !== undefined) await this.#given.stop(why)
      }
      await systemClock.sleep(LOOK_MS, stop.signal).catch(() => undefined)
    }
  }

  /** Counts for people, while ranges end: a clock that is wrong may hide one of them until all are added up. */
  async #countMore(seen: { readonly at: number; readonly counts: Counts }, completed: number) {
    let { at, counts } = seen
    while (at < completed) {
      const page = await this.#given.ranges.getJobs(['completed'], at, at + PAGE - 1, true)
      if (page.length === 0) break
      for (const one of page) counts = addCounts(counts, endOfRange(one).counts)
      at += page.length
    }
    return { at, counts }
  }

  async #hasLost(): Promise<boolean> {
    const { ranges, patient } = this.#given
    const { completed = 0, failed = 0 } = await patient(async () => await ranges.getJobCounts('completed', 'failed'))
    return completed + failed < this.#planned.ranges
  }

  async #addUp({ ledger, inputs }: LoadingElsewhere): Promise<void> {
    const { ranges, patient } = this.#given
    for (const state of ['completed', 'failed'] as const)
      for (let at = 0; ; at += PAGE) {
        const page = await patient(async () => await ranges.getJobs([state], at, at + PAGE - 1, true))
        for (const one of page) this.#account.add(one, endOfRange(one), ledger, inputs)
        if (page.length < PAGE) break
      }
  }
}

/** Stands for all objects behind one name. Workers open them. */
function inputOf(name: string, id: number): Source {
  return {
    id,
    name,
    open: () => {
      throw new Error(`${name} is loaded by workers`)
    },
  }
}
