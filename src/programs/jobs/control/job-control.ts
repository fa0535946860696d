/** Keeps the state of a job from the reports of its workers: whether it is parked, slowed or stopping. Only the coordinator has one. */
import type { Queue } from 'bullmq'
import { type Failure, failure } from '../../../base/failure/failure.js'
import type { FairShare } from './fair-share.js'
import { type JobLog, type JobRow, type JobState, rowsFrom } from '../queue/job-state.js'

interface Controlled extends JobLog {
  readonly ranges: Queue
  /** The state in which the coordinator before left it. */
  readonly before: JobState
  /** Most ranges at the same time. */
  readonly most: number
  readonly fair: Pick<FairShare, 'of'>
  readonly leaseMs: number
  readonly now: () => number
}

/** How long the cluster must not be busy before more ranges are loaded at the same time again. */
const CALM_MS = 5000

export class JobControl {
  readonly #given: Controlled
  #row = 0
  #state: JobState
  #written = ''
  /** Workers without access, and when they were heard of. */
  readonly #blocked = new Map<
    string,
    { at: number; readonly host: string; readonly failure: Failure; readonly since: string }
  >()
  #busyAt: number
  #isPaused: boolean | undefined

  constructor(given: Controlled) {
    this.#given = given
    this.#state = given.before
    this.#busyAt = given.now()
  }

  get state(): JobState {
    return this.#state
  }

  /** Reads what is new, and writes the state if it has changed. Returns why the job must stop, if it must. */
  async look(): Promise<Failure | undefined> {
    const { now, leaseMs } = this.#given
    let why = this.#state.stopping
    let isBusy = false
    // These rows slowed the job already.
    const isKnown = this.#row === 0 && this.#state.slowedTo !== undefined
    for await (const rows of rowsFrom(this.#given, this.#row)) {
      this.#row += rows.length
      for (const row of rows) {
        const stops = this.#take(row)
        why ??= stops
        isBusy ||= row.type === 'busy' && !isKnown
      }
    }
    // A worker that was killed while it waited for access must not keep the others waiting.
    for (const [worker, { at }] of this.#blocked) if (now() - at > leaseMs) this.#blocked.delete(worker)
    const [parked] = this.#blocked.values()
    const { parked: before, slowedTo: _, ...rest } = this.#state
    const slowedTo = this.#slowedTo(isBusy)
    this.#state = {
      ...rest,
      ...(parked === undefined
        ? {}
        : { parked: { host: parked.host, failure: parked.failure, since: before?.since ?? parked.since } }),
      ...(slowedTo === undefined ? {} : { slowedTo }),
    }
    await this.share()
    return why
  }

  /** Shares the limit among the workers that are there, and writes the state if it has changed. */
  async share(): Promise<void> {
    const { fair, most } = this.#given
    const { share: _, ...rest } = this.#state
    const share = await fair.of(rest.slowedTo ?? most)
    this.#state = { ...rest, ...(share === undefined ? {} : { share }) }
    await this.#write()
  }

  /** Stops the workers. They leave receipts for what they have begun. */
  async stop(why: Failure): Promise<void> {
    this.#state = { stopping: why }
    await this.#write()
  }

  #take(row: JobRow): Failure | undefined {
    const { job, now } = this.#given
    switch (row.type) {
      case 'busy':
      case 'take':
      case 'unused':
      case 'report':
        return undefined
      case 'blocked': {
        const { worker, host, failure: why, isNew } = row
        const known = this.#blocked.get(worker)
        if (known !== undefined) known.at = now()
        else if (isNew === true)
          this.#blocked.set(worker, { at: now(), host, failure: why, since: new Date().toISOString() })
        return undefined
      }
      case 'unblocked':
        // One was let through, so the others may try.
        this.#blocked.clear()
        return undefined
      case 'stop':
        return row.failure
      case 'cancel':
        return failure('JOB_CANCELLED', { job })
    }
  }

  /** Halves on each sign that the cluster is busy, and adds one after some calm. */
  #slowedTo(isBusy: boolean): number | undefined {
    const { most, now } = this.#given
    const before = this.#state.slowedTo ?? most
    if (isBusy) {
      this.#busyAt = now()
      return Math.max(1, Math.floor(before / 2))
    }
    if (before === most) return undefined
    if (now() - this.#busyAt < CALM_MS) return before
    this.#busyAt = now()
    return before + 1 >= most ? undefined : before + 1
  }

  async #write(): Promise<void> {
    const { control, job, made, seal, ranges, most } = this.#given
    const isPaused = this.#state.parked !== undefined || this.#state.stopping !== undefined
    if (isPaused !== this.#isPaused) {
      await (isPaused ? ranges.pause() : ranges.resume())
      this.#isPaused = isPaused
    }
    const text = JSON.stringify(this.#state)
    if (text === this.#written) return
    await ranges.setGlobalConcurrency(this.#state.slowedTo ?? most)
    await control.updateJobProgress(job, seal.sign('state', [job, made], this.#state))
    this.#written = text
  }
}
