/** The share of one process in the bytes that all workers of a job may send and receive together. Takes them before they are used. */
import type { Job } from 'bullmq'
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { BudgetRows } from './budget-rows.js'
import { inTime } from '../queue/in-time.js'
import type { JobData } from '../job.js'
import { type JobLog, type JobRow, rowsFrom, tellJob } from '../queue/job-state.js'
import { type QueuePatience, untilQueueDone } from '../queue/until-done.js'

interface Sharing extends JobLog {
  /** Bytes of the whole job. */
  readonly limit: number
  /** Most requests of the job at the same time. */
  readonly most: number
  /** Repeats work on the queue until it succeeds. */
  patient<T>(work: () => Promise<T>): Promise<T>
}

/** Returns the share of this process. Undefined: the job has no limit. */
export function budgetOf(
  { id = '', data: { byteBudget, concurrency, made } }: Job<JobData>,
  { control, ...patience }: QueuePatience & Pick<Sharing, 'control'>,
): JobBudget | undefined {
  if (byteBudget === undefined) return undefined
  const patient = async <T>(work: () => Promise<T>) => await untilQueueDone(work, patience)
  const { seal } = patience.engine
  return new JobBudget({ control, job: id, made, seal, limit: byteBudget, most: concurrency, patient })
}

/** One process takes a part of what is left, so that it need not ask for each request, and others have some, too. */
const SHARE = 4

export class JobBudget {
  readonly #given: Sharing
  #rows: BudgetRows
  #at = 0
  /** The row before `#at`. Another one stands there if the job was opened again: then all of its bytes are there again. */
  #last: JobRow | undefined
  #free = 0
  /** Settles when the request before has its bytes. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(given: Sharing) {
    this.#given = given
    this.#rows = new BudgetRows(given.limit)
  }

  get limit(): number {
    return this.#given.limit
  }

  /** Bytes that no worker has taken, as far as this process knows. */
  get left(): number {
    return Math.max(0, this.#rows.left) + Math.max(0, this.#free)
  }

  /** Resolves to `bytes`, or to fewer but at least `least`, or to 0 if the job has no more. Each is asked for once the one before is answered. */
  async take(bytes: number, least: number): Promise<number> {
    const taken = this.#turn.then(async () => await this.#take(bytes, least))
    this.#turn = taken.catch(() => undefined)
    return await taken
  }

  /** Takes back what was not used. Less than 0: more was used. */
  give(bytes: number): void {
    this.#free += bytes
  }

  /** Leaves what is not used to others. */
  async leave(): Promise<void> {
    const bytes = this.#free
    if (bytes <= 0) return
    this.#free = 0
    // A queue that does not hear of it counts these bytes as used.
    await inTime(tellJob(this.#given, { type: 'unused', id: randomUUID(), bytes }))
  }

  async #take(bytes: number, least: number): Promise<number> {
    if (this.#free < bytes) await this.#fill(Math.max(0, bytes - this.#free), Math.max(0, least - this.#free))
    if (this.#free < least) return 0
    const taken = Math.min(bytes, this.#free)
    this.#free -= taken
    return taken
  }

  async #fill(bytes: number, least: number): Promise<void> {
    const { most, patient } = this.#given
    const share = Math.floor(Math.max(0, this.#rows.left) / (SHARE * most))
    let taken: number | undefined
    while (taken === undefined) {
      const id = randomUUID()
      const row: JobRow = { type: 'take', id, bytes: Math.max(bytes, share), least }
      // A row whose answer was lost may stand there twice.
      await patient(async () => await tellJob(this.#given, row))
      taken = await patient(async () => await this.#read(id))
    }
    this.#free += taken
  }

  /** Reads up to the row, and returns what it takes. Undefined: the log was cleared meanwhile. */
  async #read(id: string): Promise<number | undefined> {
    const { limit } = this.#given
    let taken: number | undefined
    let isFirst = this.#at > 0
    for await (const page of rowsFrom(this.#given, Math.max(0, this.#at - 1))) {
      const known = isFirst ? 1 : 0
      if (isFirst && !isDeepStrictEqual(page[0], this.#last)) break
      isFirst = false
      for (const row of page.slice(known)) {
        const bytes = this.#rows.read(row)
        if (row.type === 'take' && row.id === id) taken = (taken ?? 0) + bytes
        this.#last = row
        this.#at += 1
      }
    }
    if (taken !== undefined || this.#at === 0) return taken
    // The log was cleared: what this process has left was of another time.
    this.#rows = new BudgetRows(limit)
    this.#at = 0
    this.#last = undefined
    this.#free = 0
    return await this.#read(id)
  }
}
