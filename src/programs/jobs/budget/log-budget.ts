/** The part of this process in bytes that many processes share. A log on the queue holds what each has taken, before it uses them. */
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { BudgetRows } from './budget-rows.js'
import { inTime } from '../queue/in-time.js'
import { type JobLog, type JobRow, rowsFrom, tellJob } from '../queue/job-state.js'

export interface Sharing {
  readonly log: JobLog
  /** Bytes of all processes together. */
  readonly limit: number
  /** Returns how many bytes a process takes at once, so that it need not ask for each request, and others have some, too. */
  ahead(left: number): number
  /** Returns what each row of this log holds beside its bytes. */
  stamp?(): { readonly limit: number; readonly at: number }
  /** Makes the place of the log, if the queue has none. Absent: it is there. */
  open?(): Promise<void>
  /**
   * Whether the rows count for good. Then a log that misses some has lost them, and this process writes its own again. Otherwise
   * the log was opened anew, and all of its bytes are there again.
   */
  readonly isLasting?: boolean
  /** Repeats work on the queue until it succeeds. */
  patient<T>(work: () => Promise<T>): Promise<T>
}

export class LogBudget {
  readonly #given: Sharing
  #rows: BudgetRows
  #at = 0
  /** The row before `#at`. If another one stands there, this is another log, or has lost rows. */
  #last: JobRow | undefined
  #free = 0
  /** What the rows of this process have taken. */
  readonly #own = new Map<string, number>()
  /** Settles when the request before has its bytes. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(given: Sharing) {
    this.#given = given
    this.#rows = new BudgetRows(given.limit)
  }

  get limit(): number {
    return this.#given.limit
  }

  get rows(): Pick<BudgetRows, 'takenIn' | 'since'> {
    return this.#rows
  }

  /** Bytes that this process has taken, and has no use for so far. */
  get free(): number {
    return Math.max(0, this.#free)
  }

  get left(): number {
    return Math.max(0, this.#rows.left + this.#free)
  }

  async take(bytes: number, least: number): Promise<number> {
    return await this.#inTurn(async () => await this.#take(bytes, least))
  }

  give(bytes: number): void {
    this.#free += bytes
  }

  async leave(): Promise<void> {
    const bytes = this.#free
    if (bytes <= 0) return
    this.#free = 0
    // A queue that does not hear of it counts these bytes as used.
    await inTime(this.#tell({ type: 'unused', id: randomUUID(), bytes }))
  }

  /** Reads what others have taken meanwhile. */
  async look(): Promise<void> {
    await this.#inTurn(async () => await this.#given.patient(async () => await this.#read()))
  }

  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#turn.then(work)
    this.#turn = done.catch(() => undefined)
    return await done
  }

  async #take(bytes: number, least: number): Promise<number> {
    if (this.#free < bytes) await this.#fill(Math.max(0, bytes - this.#free), Math.max(0, least - this.#free))
    if (this.#free < least) return 0
    const taken = Math.min(bytes, this.#free)
    this.#free -= taken
    return taken
  }

  async #fill(bytes: number, least: number): Promise<void> {
    const { ahead, patient, isLasting } = this.#given
    // What the queue has lost is counted again before more is taken.
    if (isLasting === true) await patient(async () => await this.#read())
    const share = Math.floor(ahead(Math.max(0, this.#rows.left)))
    let taken: number | undefined
    while (taken === undefined) {
      const id = randomUUID()
      const row: JobRow = { type: 'take', id, bytes: Math.max(bytes, share), least }
      // A row whose answer was lost may stand there twice.
      await patient(async () => await this.#tell(row))
      this.#own.set(id, 0)
      taken = await patient(async () => await this.#read(id))
    }
    this.#free += taken
  }

  async #tell(row: JobRow): Promise<void> {
    const { log, stamp, open } = this.#given
    const stamped = { ...stamp?.(), ...row }
    try {
      await tellJob(log, stamped)
    } catch (error) {
      if (open === undefined) throw error
      await open()
      await tellJob(log, stamped)
    }
  }

  /** Reads all rows, and returns what the row with this id takes. Undefined: it is not there. */
  async #read(id?: string): Promise<number | undefined> {
    const { log, limit, isLasting = false } = this.#given
    let taken: number | undefined
    let isKnown = this.#at === 0
    for await (const page of rowsFrom(log, Math.max(0, this.#at - 1))) {
      if (!isKnown && !isDeepStrictEqual(page[0], this.#last)) break
      for (const row of isKnown ? page : page.slice(1)) {
        const bytes = this.#rows.read(row)
        if (row.type === 'take' && this.#own.has(row.id)) this.#own.set(row.id, (this.#own.get(row.id) ?? 0) + bytes)
        if (row.type === 'take' && row.id === id) taken = (taken ?? 0) + bytes
        this.#last = row
        this.#at += 1
      }
      isKnown = true
    }
    if (isKnown) return taken
    const before = [...this.#own.values()].reduce((sum, bytes) => sum + bytes, 0)
    for (const own of this.#own.keys()) this.#own.set(own, 0)
    this.#rows = new BudgetRows(limit)
    this.#at = 0
    this.#last = undefined
    // What this process has left was of another time.
    if (!isLasting) this.#free = 0
    const again = await this.#read(id)
    if (isLasting) await this.#repeat(before + (again ?? 0))
    return again
  }

  /** Takes again what the log has lost of this process, whatever the limit says: the bytes may be used. */
  async #repeat(bytes: number): Promise<void> {
    const lost = bytes - [...this.#own.values()].reduce((sum, one) => sum + one, 0)
    if (lost <= 0) return
    const id = randomUUID()
    this.#own.set(id, 0)
    await this.#tell({ type: 'take', id, bytes: lost, least: 0, limit: Number.MAX_SAFE_INTEGER })
    await this.#read(id)
  }
}
