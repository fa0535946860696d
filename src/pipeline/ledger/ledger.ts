/** Settles batches: counts, dead letters, what became of each input. A number in the receipt is added here and nowhere else. */
import { type Failure, failure, isSluiceError } from '../../base/failure/failure.js'
import type { Batch, Input, LongLine, Origin, Outcome, Refused, Rejected, RejectionLimit } from '../../base/flow.js'
import type { Operation } from '../../base/operation.js'
import {
  Account,
  type Committed,
  countsIn,
  InputAccounts,
  kindsOf,
  nothing,
  settledOf,
  tooManyRejected,
} from './account.js'
import type { DeadLetters } from './dead-letters.js'
import { LineStart } from './excerpt.js'
import { CommittedPrefix } from './committed-prefix.js'
import type { Counts, InputReceipt, Rejections } from './receipt.js'

/** Batches that may wait while the dead letters of another one are written. Each keeps its memory. */
const MOST_WAITING = 0

/** Documents that must be read before a share counts, if more documents follow. */
const SHARE_FROM = 1000

interface LedgerOptions {
  readonly maxRejected?: RejectionLimit | undefined
  /** Counts of earlier processes of this run. A limit applies to the whole run. */
  readonly before?: Counts
  /** Documents that the limit does not count: see `limitFrom` of `Checkpoint`. Default: none. */
  readonly limitFrom?: Pick<Counts, 'read' | 'rejected'> | undefined
  /** Whether a document whose answer was lost is sent again by a resume. Default true. */
  readonly resendsUnanswered?: boolean
  /** Hears of each line that was too long to hold, with its beginning. */
  rejectedLong?(refused: Refused): void
}

/** The account of this process. */
export class Ledger {
  readonly #deadLetters: DeadLetters
  readonly #options: LedgerOptions
  readonly #account = new Account()
  readonly #inputs = new InputAccounts()
  #ended = 0
  readonly #prefix: CommittedPrefix
  #toResend = 0
  #isWriting = false
  /** Batches that wait until dead letters of earlier ones are written. */
  #waiting = 0
  #reader: (() => void) | undefined

  constructor(deadLetters: DeadLetters, options: LedgerOptions = {}) {
    this.#deadLetters = deadLetters
    this.#options = options
    this.#prefix = new CommittedPrefix(() => deadLetters.length)
  }

  begin(input: Input): void {
    this.#inputs.begin(input)
  }

  /** `found`: what looking at the input showed, as in its event `format`. */
  readAs({ id }: Input, found: string): void {
    this.#inputs.readAs(id, found)
  }

  /** Notes that the input was read to its end, or to the place where it is broken. */
  end(input: Input, broken?: Failure): void {
    if (!this.#inputs.end(input, broken)) return
    this.#ended += 1
    // An input that was cut off has no more bytes: for a resume it is done.
    if (broken === undefined || broken.code === 'INPUT_UNENDED') this.#prefix.end(input)
  }

  /** Books what another process has loaded of an input, and has written to dead letters of its own. */
  book(input: Input, counts: Counts, rejections: readonly Rejections[]): void {
    // Every rejected document is of some kind: they are counted with it.
    this.#account.add({ ...counts, rejected: 0 })
    for (const kind of rejections) this.#account.rejectAlike(kind)
    this.#inputs.read(input.id, counts.read)
  }

  /** Every batch was taken and settled. */
  close(): void {
    this.#prefix.close()
  }

  /** Counts what a batch read, when it leaves the framing: from then on it must be settled. */
  take(batch: Batch): void {
    this.#prefix.take(batch)
    for (const { input, lines } of batch.taken) this.#take(input.id, lines)
    this.#account.add({ skipped: batch.blank })
  }

  /**
   * Books the outcome of a batch. Resolves to the failure that must stop the run, if any: the outcome's own failure,
   * too many rejections, or unwritable dead letters. Documents that could not be written to the dead letters count as
   * unsent.
   */
  async settle(batch: Batch, outcome: Outcome): Promise<Failure | undefined> {
    const { unsent, rejected, unanswered = 0 } = outcome
    this.#account.add(countsIn(outcome))
    const sendsAgain = this.#sendsAgain(batch)
    if (sendsAgain) this.#toResend += unanswered
    const isOpen = unsent > 0 || (unanswered > 0 && sendsAgain)
    if (rejected.length > 0) {
      // Dead letters stand in the order of the documents, so that a length of them covers what a checkpoint does.
      this.#waiting += 1
      await this.#prefix.turn(batch)
      this.#waiting -= 1
      const unwritten = await this.#write(rejected)
      if (unwritten !== undefined) {
        this.#account.add({ unsent: rejected.length })
        this.#prefix.settle(batch, outcome, false)
        return outcome.stop ?? unwritten
      }
    }
    const kinds = kindsOf(rejected)
    for (const kind of kinds) this.#account.rejectAlike(kind)
    this.#prefix.settle(batch, outcome, !isOpen, kinds)
    return outcome.stop ?? this.#tooMany(SHARE_FROM)
  }

  /** Resolves when one more batch may be read: dead letters may be written more slowly than documents are sent. For one reader. */
  async room(): Promise<void> {
    if (!this.#hasRoom) await new Promise<void>(resolve => (this.#reader = resolve))
  }

  get #hasRoom(): boolean {
    return !this.#isWriting || this.#waiting <= MOST_WAITING
  }

  async #write(rejected: Rejected): Promise<Failure | undefined> {
    this.#isWriting = true
    try {
      await this.#deadLetters.append(rejected)
      return undefined
    } catch (error) {
      if (!isSluiceError(error)) throw error
      return error.failure
    } finally {
      this.#isWriting = false
      if (this.#waiting <= MOST_WAITING + 1) this.#letRead()
    }
  }

  #letRead(): void {
    this.#reader?.()
    this.#reader = undefined
  }

  /** A line that is longer than any request may be: read, and rejected while it passes. */
  async longLine(input: Input, origin: Origin, operation: Operation, limit: number, id?: string): Promise<LongLine> {
    const refused = { status: 0, type: 'DOCUMENT_TOO_LARGE', origin }
    const open = async () => await this.#deadLetters.appendLong(origin, operation, limit, id)
    const line = await this.#passing(input, refused, open)
    const start = new LineStart()
    return {
      ...line,
      write: async bytes => {
        start.add(bytes)
        await line.write(bytes)
      },
      end: async () => {
        await line.end()
        const { message: reason } = failure('DOCUMENT_TOO_LARGE', { bytes: start.bytes, limit })
        const told = { ...refused, operation, ...(id === undefined ? {} : { id }), reason, attempts: 0 }
        this.#options.rejectedLong?.({ ...told, document: start.document, isExcerpt: true })
      },
    }
  }

  /** A dead letter that is longer than any request may be: read, and rejected again while it passes. */
  async longRecord(input: Input, refused: Omit<Refused, 'document' | 'reason'>): Promise<LongLine> {
    return await this.#passing(input, refused, async () => await this.#deadLetters.appendCopy(refused))
  }

  async #passing(
    input: Input,
    { status, type, origin }: Pick<Refused, 'status' | 'type' | 'origin'>,
    open: () => Promise<LongLine>,
  ): Promise<LongLine> {
    await this.#prefix.turn()
    const written = await open()
    this.#take(input.id, 1)
    this.#account.add({ unsent: 1 })
    return {
      ...written,
      end: async () => {
        await written.end()
        const refused = { status, type, origin, reason: '' }
        this.#account.add({ unsent: -1 })
        this.#account.reject(refused)
        this.#prefix.reject(input, refused)
      },
    }
  }

  /** Whether more was rejected than allowed, now that nothing more will be. */
  overLimit(): Failure | undefined {
    return this.#tooMany(0)
  }

  /** Whether that is so while others load, by their counts so far. */
  isOverLimit(counts: Counts): Failure | undefined {
    return this.#tooMany(SHARE_FROM, counts)
  }

  get counts(): Counts {
    return this.#account.counts
  }

  /** Documents of the whole run that are settled. */
  get settled(): number {
    return settledOf(this.#options.before ?? nothing) + settledOf(this.#account.counts)
  }

  /** How many documents each index took, if each document names its index. */
  get indices(): ReadonlyMap<string, number> {
    return this.#prefix.indices
  }

  /** Documents of unknown outcome that a resume sends again. */
  get toResend(): number {
    return this.#toResend
  }

  /** Inputs that were begun, in the order of their ids. */
  get inputs(): readonly InputReceipt[] {
    return this.#inputs.all()
  }

  /** Returns undefined for an input that was not begun. */
  input(id: number): InputReceipt | undefined {
    return this.#inputs.of(id)
  }

  /** How many inputs were read to their end, or to the place where they are broken. */
  get ended(): number {
    return this.#ended
  }

  /** Why inputs could not be read to their end. */
  get broken(): readonly Failure[] {
    return [...this.#inputs.failures.values()]
  }

  /** Returns rejections by number of documents, largest first. */
  get rejections(): readonly Rejections[] {
    return this.#account.rejections
  }

  /** Returns the documents that a resume need not send again, with the inputs that have changed since the last call. */
  commit(): Committed {
    return this.#prefix.commit()
  }

  /** Ids of the inputs that could not be read to their end. */
  get failedInputs(): ReadonlySet<number> {
    return new Set(this.#inputs.failures.keys())
  }

  #sendsAgain({ addressed, script }: Batch): boolean {
    const { resendsUnanswered } = this.#options
    if (addressed === undefined) return resendsUnanswered !== false
    return (addressed.ids !== 'none' && script === undefined) || resendsUnanswered === true
  }

  #take(input: number, lines: number): void {
    this.#account.add({ read: lines })
    this.#inputs.read(input, lines)
  }

  #tooMany(shareFrom: number, counts: Counts = this.#account.counts): Failure | undefined {
    const { maxRejected, before = nothing, limitFrom = nothing } = this.#options
    const read = counts.read + before.read - limitFrom.read
    const rejected = counts.rejected + before.rejected - limitFrom.rejected
    return tooManyRejected(maxRejected, { read, rejected }, shareFrom)
  }
}
