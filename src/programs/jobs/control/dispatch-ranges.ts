/** Loads the inputs of a run by workers: puts their ranges on a queue, waits until each has a receipt, and adds these up. */
import type { Queue } from 'bullmq'
import { type Failure, failure, isSluiceError } from '../../../base/failure/failure.js'
import type {
  BodiesHook,
  Composed,
  EndingHook,
  InputsHook,
  Loaded,
  LoadingElsewhere,
  RouteHook,
  Run,
} from '../../../run/loop/hooks.js'
import type { ByteBudget } from '../../../route/sender/layers/limits.js'
import { addPlanned, type JobData, type Planned, type RangeData } from '../job.js'
import type { FoundInput } from '../../../features/ranges/range-load.js'
import { type BudgetShare, CONNECTION_BYTES } from '../budget/budget-share.js'
import type { JobLimits } from '../budget/budgets.js'
import type { InputsDescribed } from '../range/load-parts.js'
import { endedRanges } from '../plan/ended-ranges.js'
import { JobAccount } from './job-account.js'
import { JobStanding } from './job-standing.js'
import { JoinedDeadLetters } from './join-dead-letters.js'
import { KnownRanges } from '../plan/known-ranges.js'
import { type PlannedRange, planRanges } from '../plan/plan-ranges.js'
import { queueRanges } from '../plan/queue-ranges.js'
import { endOfRange, isForged, type OfJob } from '../range/range-end.js'
import { retryRanges } from '../range/retry-ranges.js'
import { inputElsewhere } from './input-elsewhere.js'
import { isSpent } from '../queue/await-access.js'
import { systemClock } from '../../../base/time/clock.js'

/** Time between two looks at the queue, in milliseconds. */
const LOOK_MS = 500
/** How often a job with a key plans ranges again that are lost, or that somebody forges. */
const MOST_FORGED = 10

export interface Dispatching extends OfJob {
  /** Finds the inputs behind one name. `warn`: hears what may be left out. */
  find(name: string, cutFrom: number, warn: (message: string) => void): AsyncIterable<FoundInput>
  /** Looks at indices of another cluster. Absent: the inputs are others. */
  readonly describe?: (() => Promise<InputsDescribed>) | undefined
  readonly data: JobData
  readonly ranges: Queue<RangeData>
  /** Notes that all ranges are on the queue. */
  planned(planned: Planned): Promise<void>
  /** Notes when the last range ended that commands before this one have loaded. */
  began(loadedUntil: number): Promise<void>
  /** Takes the reports of workers. Returns why the job must stop, if it must. */
  look(): Promise<Failure | undefined>
  /** Returns why this process coordinates the job no more, if it does not. */
  lost(): Failure | undefined
  /** Stops the workers. */
  stop(why: Failure): Promise<void>
  /** Keeps what this process itself sends within the budget of the job, if it has one. */
  readonly share?: BudgetShare | undefined
  /** The monthly plan of the proxy, which the receipt shows. */
  readonly plan?: JobLimits['plan']
  /** Repeats work on the queue until it succeeds. */
  patient<T>(work: () => Promise<T>): Promise<T>
}

export function dispatchRanges(dispatching: Dispatching): Composed {
  const dispatch = new Dispatch(dispatching)
  return {
    opening: route => dispatching.share?.watch(route),
    loadElsewhere: async loading => await dispatch.load(loading),
    feature: run => dispatch.hook(run),
  }
}

class Dispatch {
  readonly #given: Dispatching
  #index = ''
  #planned: Planned
  readonly #account: JobAccount
  #loadedUntil: number | undefined
  #standing: JobStanding
  #known: KnownRanges | undefined
  /** What people hear of another cluster, and of the indices that are made like its own. */
  readonly #notes = new Set<string>()

  constructor(given: Dispatching) {
    this.#given = given
    this.#standing = new JobStanding(given)
    this.#loadedUntil = given.data.loadedUntil
    this.#account = new JobAccount(() => this.#loadedUntil ?? 0)
    this.#planned = given.data.planned ?? { objects: 0, ranges: 0, bytes: 0 }
  }

  hook({ stop, tell }: Run): InputsHook & RouteHook & BodiesHook & EndingHook {
    const { share, plan } = this.#given
    let budget: ByteBudget | undefined
    return {
      sources: async () => {
        const { data, describe } = this.#given
        if (describe === undefined) return data.sources.map((name, id) => inputElsewhere(name, id))
        const { describes, warnings } = await describe()
        for (const message of warnings) tell({ type: 'warning', message })
        return data.sources.map((name, id) => inputElsewhere(name, id, describes.get(name)))
      },
      told: event => {
        if (event.type === 'warning' || event.type === 'mapping') this.#note(event.message)
      },
      connected: ({ route }) => {
        share?.opened(route)
        budget = share?.limit(why => stop.end(why))
        return undefined
      },
      get sending() {
        return budget === undefined ? {} : { budget }
      },
      prepare: async ({ found }) => {
        this.#index = found.target.index
        await Promise.resolve()
      },
      receipt: () => ({
        ...this.#account.receipt(this.#planned),
        ...(plan === undefined ? {} : { plan: plan.use.receipt() }),
        ...(this.#notes.size === 0 ? {} : { notes: [...this.#notes] }),
      }),
    }
  }

  /** Nobody hears the events of a job, so that its receipt holds what people must know. */
  #note(message: string): void {
    if (this.#given.describe !== undefined) this.#notes.add(message)
  }

  async load(loading: LoadingElsewhere): Promise<Loaded> {
    const { inputs, ledger } = loading
    for (const input of inputs) ledger.begin(input)
    try {
      let why = await this.#wait(loading, await this.#begin(loading))
      // A queue that has lost ranges gets them again: those that it still has are not queued twice.
      for (let tries = 0; why === undefined && tries < this.#tries && (await this.#lacks()); tries += 1)
        why = await this.#wait(loading, await this.#plan(loading, false))
      await this.#addUp(loading)
      // Others have used the plan since this process last took a part.
      await this.#given.plan?.look()
      // The coordinator that has taken over finishes the job.
      const stopped =
        this.#given.lost() ??
        this.#settled(why) ??
        ledger.overLimit() ??
        this.#account.whatFailed(this.#planned) ??
        this.#removed()
      if (stopped === undefined) for (const input of inputs) ledger.end(input)
      return { bytesRead: this.#account.bytesRead, ...(stopped === undefined ? {} : { failure: stopped }) }
    } catch (error) {
      if (!isSluiceError(error)) throw error
      return { bytesRead: this.#account.bytesRead, failure: error.failure }
    }
  }

  /** Without a key, a queue has lost ranges once at most, and nobody can know who says that a range is loaded. */
  get #tries(): number {
    return this.#given.seal.hasKey ? MOST_FORGED : 1
  }

  /** Resolves to why the job stops before all is planned. If its planner was killed after the plan, its objects are those of then. */
  async #begin(loading: LoadingElsewhere): Promise<Failure | undefined> {
    const { ranges, data, planned, patient } = this.#given
    if (this.#loadedUntil === undefined) {
      this.#loadedUntil = await lastEnd(this.#given)
      await this.#given.began(this.#loadedUntil)
    }
    // Before the first range, so that no worker can take too many.
    await patient(async () => await ranges.setGlobalConcurrency(data.concurrency))
    if (data.planned === undefined) return await this.#plan(loading, true)
    if (data.retries === true)
      await patient(async () => await retryRanges(ranges, this.#given).then(async () => await planned(this.#planned)))
    return undefined
  }

  /** `isAnew`: what has failed is planned again. */
  async #plan(loading: LoadingElsewhere, isAnew: boolean): Promise<Failure | undefined> {
    const { ranges, data, planned, find, patient, job, seal } = this.#given
    const known = await KnownRanges.read(
      { ranges, index: this.#index, isForged: range => isForged(range, this.#given), patient },
      isAnew,
    )
    this.#known = known
    let why: Failure | undefined
    // Workers load while the rest is planned.
    const queued = async (soFar: Planned) => {
      this.#planned = addPlanned(soFar, known.kept)
      await this.#stand(loading)
      why = await this.#heed(loading)
      return why === undefined
    }
    const warn = (message: string) => this.#note(message)
    const all = planRanges(data, (name, cutFrom) => find(name, cutFrom, warn), known)
    const plan = seal.hasKey ? eachOnce(all, known) : all
    const sealed = (id: string, range: RangeData) => seal.sign('range', [job, id], range)
    const added = await queueRanges(plan, { ranges, index: this.#index, sealed, patient, queued, known })
    this.#planned = addPlanned(added, known.kept)
    if (why !== undefined) return why
    // Their places in the order are gone, too.
    if (await known.removeStale()) this.#standing = new JobStanding(this.#given)
    await patient(async () => await planned(this.#planned))
    loading.tell({ type: 'planning', inputs: this.#planned.objects })
    return undefined
  }

  /** Resolves when no range is left, or to the reason why the job stops before that. `stopped`: it stops already. */
  async #wait(loading: LoadingElsewhere, stopped?: Failure): Promise<Failure | undefined> {
    const { stop } = loading
    for (let why = stopped; ;) {
      const { left, underWay } = await this.#stand(loading)
      // A job that stops waits for the receipts of what is under way.
      if (left === 0 || (why !== undefined && underWay === 0)) return why ?? (await this.#heed(loading))
      if (stop.signal.aborted) return stop.why(0)
      const lost = this.#given.lost()
      if (lost !== undefined) return lost
      why ??= await this.#heed(loading)
      await systemClock.sleep(LOOK_MS, stop.signal).catch(() => undefined)
    }
  }

  /** Returns a failure if somebody removes ranges faster than the job plans them again. */
  #removed(): Failure | undefined {
    if (!this.#given.seal.hasKey || this.#account.ranges >= this.#planned.ranges) return undefined
    return failure('JOB_RANGE_LOST', { problem: 'somebody who can write to the queue removes ranges of the job' })
  }

  /** Returns whether ranges are lost, or forged. Forged ones are removed, so that the plan contains them again. */
  async #lacks(): Promise<boolean> {
    const { ranges, patient, seal } = this.#given
    const forged: string[] = []
    if (seal.hasKey)
      for (const state of ['completed', 'failed'] as const)
        for await (const page of endedRanges({ ranges, state, patient }))
          forged.push(...page.filter(range => isForged(range, this.#given)).map(({ id = '' }) => id))
    for (const id of forged) await patient(async () => await ranges.remove(id))
    // Their places in the order are gone, too.
    if (forged.length > 0) this.#standing = new JobStanding(this.#given)
    return forged.length > 0 || (await this.#standing.look()).done < this.#planned.ranges
  }

  /** Shows people how far the job is. */
  async #stand({ tell }: LoadingElsewhere): Promise<{ readonly left: number; readonly underWay: number }> {
    const { done, left, underWay } = await this.#standing.look()
    const { ranges: all, bytes } = this.#planned
    tell({
      type: 'standing',
      ofRun: this.#standing.counts,
      bytes: { read: all === 0 ? 0 : Math.round((bytes * Math.min(done, all)) / all), total: bytes },
      file: { number: done, of: all },
      underWay,
    })
    return { left, underWay }
  }

  /** Returns why the job must stop, and stops its workers. */
  async #heed({ ledger, stop }: LoadingElsewhere): Promise<Failure | undefined> {
    if (stop.signal.aborted) return stop.why(0)
    const lost = this.#given.lost()
    if (lost !== undefined) return lost
    const why = (await this.#given.patient(this.#given.look)) ?? ledger.isOverLimit(this.#standing.counts)
    if (why !== undefined) await this.#given.stop(why)
    return why
  }

  /** Only the sum of all ranges says how many documents the bytes were for. */
  #settled(why: Failure | undefined): Failure | undefined {
    if (why === undefined || !isSpent(why)) return why
    const { settled } = this.#account
    const { budget = '', limit = '', plan = '', used = '', needed = CONNECTION_BYTES } = why.evidence
    if (why.code === 'BYTE_BUDGET_SPENT') return failure(why.code, { budget, used, needed, settled })
    // A plan that was spent during the job is not one with which it could not begin.
    return settled === 0 ? why : failure('PLAN_LIMIT_REACHED', { limit, plan, used, needed, settled })
  }

  async #addUp({ ledger, inputs }: LoadingElsewhere): Promise<void> {
    const { ranges, patient, data } = this.#given
    await using letters = new JoinedDeadLetters(data.deadLetters)
    for (const state of ['completed', 'failed'] as const)
      for await (const page of endedRanges({ ranges, state, patient }))
        for (const one of page) {
          // A plan that was stopped leaves what it did not come to.
          if (this.#known?.isStale(one.id) === true) continue
          const end = endOfRange(one, this.#given)
          this.#account.add(one, end, ledger, inputs)
          if (end.deadLetters !== undefined) await letters.add(end.deadLetters, end.host ?? '')
        }
    this.#account.addLetters(await letters.end())
  }
}

/** Leaves out a range that is planned already, because two names lead to the same objects. So the number of ranges is exact. */
async function* eachOnce(plan: AsyncIterable<PlannedRange>, known: KnownRanges): AsyncGenerator<PlannedRange> {
  const seen = new Set<string>()
  for await (const range of plan) {
    if (seen.has(range.id) || known.isKept(range.id)) continue
    seen.add(range.id)
    yield range
  }
}

/** Returns when the last range ended that is loaded, in milliseconds since the epoch, or 0. */
async function lastEnd({ ranges, patient }: Dispatching): Promise<number> {
  const [last] = await patient(async () => await ranges.getJobs(['completed'], 0, 0, false))
  return last?.finishedOn ?? 0
}
