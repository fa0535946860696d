import pLimit, { type LimitFunction } from 'p-limit'
import { setMaxListeners } from 'node:events'
import type { Failure } from '../failure/failure.js'
import type { Batch, Clock, LearntLimits, Outcome } from '../flow.js'
import { AccessGate, type AccessOptions, PROBES_OF_LOST_ACCESS } from './access-gate.js'
import { AdaptiveLimit } from './adaptive-limit.js'
import { BodySize } from './body-size.js'
import type { Body } from './body.js'
import { backoffMs } from '../time/retry.js'
import { type BulkRequestOptions, BulkRequests, idsOf } from './bulk-requests.js'
import type { ByteBudget } from './byte-budget.js'
import { compress } from './compress.js'
import { LOSSES_BEFORE_STOP, deliver } from './deliver.js'
import { EarlierSends, type EarlierSendsOptions, type SendHistory } from './earlier-sends.js'
import { StreamWatch } from './stream-watch.js'
import type { Verdict } from './verdict.js'

export interface SenderOptions extends BulkRequestOptions, EarlierSendsOptions {
  /** Indices behind an alias or data stream when its first document was sent. Absent: not known. */
  readonly behind?: readonly string[]
  /** Never more requests under way at once than so many. */
  readonly concurrency: number
  /** What a body may be at first; see `Sender.bodyBytes`. */
  readonly batchBytes: number
  readonly maxElapsedMs: number
  /** What to do when access is lost. */
  readonly access: AccessOptions
  readonly clock: Clock
  readonly random: () => number
  /** What an earlier run learnt of this cluster: where this one begins. */
  readonly learnt?: LearntLimits
  /** What may go over the wire. Default: any number of bytes. */
  readonly budget?: ByteBudget
  onRetry(failure: Failure, documents: number, waitMs: number): void
}

/** Bodies that wait before they are sent again do not keep others from being read: up to so many of them. */
const SPARE_BODIES = 3

/** Sends batches, as many at once as the cluster bears, at most `concurrency`. */
export class Sender {
  readonly #options: SenderOptions
  readonly #limit: AdaptiveLimit
  readonly #places: LimitFunction
  readonly #access: AccessGate
  readonly #halt = new AbortController()
  readonly #bodySize: BodySize
  readonly #earlier: EarlierSends
  readonly #requests: BulkRequests
  /** Batches without an outcome, and those of them that wait before they are sent again. */
  #open = 0
  #waiting = 0
  #reader: (() => void) | undefined
  #accepted = 0
  #lostInARow = 0
  #retries = 0

  constructor(options: SenderOptions) {
    this.#options = options
    // Every body that waits listens.
    setMaxListeners(0, this.#halt.signal)
    const { concurrency, bodyBytes } = options.learnt ?? {}
    this.#limit = new AdaptiveLimit(options.concurrency, concurrency)
    this.#places = pLimit(this.#limit.allowed)
    this.#bodySize = new BodySize(options.batchBytes, bodyBytes)
    const stream = new StreamWatch({ ...options, halted: this.#halt.signal })
    this.#earlier = new EarlierSends(options, stream)
    this.#requests = new BulkRequests(options, async index => await stream.isBehind(index))
    const { access, clock, wallClock, random } = options
    this.#access = new AccessGate({
      ...access,
      clock,
      wallClock,
      random,
      halted: this.#halt.signal,
      probe: async signal => await options.cluster.probe({ atLeast: PROBES_OF_LOST_ACCESS, signal }),
    })
  }

  get requests(): number {
    return this.#requests.count
  }

  get retries(): number {
    return this.#retries
  }

  /** How large a body should be: smaller than `batchBytes` once the cluster found one too large. */
  get bodyBytes(): number {
    return this.#bodySize.next
  }

  /** What the next run may begin with; undefined where the cluster took nothing. */
  get learnt(): LearntLimits | undefined {
    if (this.#accepted === 0) return undefined
    const { learnt } = this.#bodySize
    return { concurrency: this.#limit.learnt, ...(learnt === undefined ? {} : { bodyBytes: learnt }) }
  }

  /** From now on nothing is sent: what is in flight is awaited, the rest is left unsent. */
  halt(): void {
    this.#halt.abort()
    this.#options.budget?.close()
    this.#letRead()
  }

  /** Resolves when one more batch may be read while the others are being sent. For one reader. */
  async room(): Promise<void> {
    if (this.#hasRoom) return
    const { clock } = this.#options
    this.#limit.waits(clock.now())
    await new Promise<void>(resolve => (this.#reader = resolve))
    this.#limit.goesOn(clock.now())
  }

  /** Resolves when every document of the batch has an outcome. The batch's memory is free then. */
  async send(batch: Batch): Promise<Outcome> {
    this.#open += 1
    this.#bodySize.sent(batch.bytes.length)
    try {
      return await deliver(batch, {
        attempt: async (body, resent, doubtful) => await this.#inPlace(body, { resent, doubtful }, batch),
        safeToResend: idsOf(batch, this.#options).safeToResend,
        maxElapsedMs: this.#options.maxElapsedMs,
        halted: this.#halt.signal,
        accepted: () => this.#accepted,
        lostInARow: () => this.#lostInARow,
        lost: failure => this.#access.lost(failure),
        clock: this.#access,
        random: this.#options.random,
        onRetry: (failure, documents, waitMs) => {
          this.#retries += 1
          this.#options.onRetry(failure, documents, waitMs)
        },
        pause: async ms => await this.#pause(ms),
      })
    } finally {
      this.#open -= 1
      this.#letRead()
    }
  }

  get #hasRoom(): boolean {
    return this.#halt.signal.aborted || this.#open <= this.#limit.allowed + Math.min(this.#waiting, SPARE_BODIES)
  }

  #letRead(): void {
    if (!this.#hasRoom) return
    this.#reader?.()
    this.#reader = undefined
  }

  async #inPlace(body: Body, history: SendHistory, batch: Batch): Promise<Verdict | undefined> {
    const { gzip, random } = this.#options
    const { safeToResend } = idsOf(batch, this.#options)
    return await this.#places(async () => {
      if (this.#halt.signal.aborted) return undefined
      const bytes = gzip ? await compress(body.bytes) : body.bytes
      let isAgain = false
      const verdict = await this.#access.pass(async isShut => {
        // Behind the gate: what was stored, and where, may have changed while the body waited.
        const found = await this.#earlier.lookUp(body, history, batch)
        const judged = found ?? (await this.#send(body, bytes, history, batch, isShut))
        if (judged === 'held') return judged
        if (isAgain) this.#retries += 1
        isAgain = true
        return judged
      })
      // The place is kept: whoever came next would run into the same, and be lost to the count too.
      const lost = this.#lostInARow
      if (!safeToResend && isLost(verdict) && lost < LOSSES_BEFORE_STOP) await this.#sleep(backoffMs(lost, random))
      return verdict
    })
  }

  /** Undefined: nothing may be sent any more. `held`: access was lost while it waited for the budget. */
  async #send(
    body: Body,
    bytes: Buffer,
    history: SendHistory,
    batch: Batch,
    isShut: () => boolean,
  ): Promise<Verdict | 'held' | undefined> {
    const { clock, budget, givenUp } = this.#options
    const admission = await budget?.admit(bytes.length, body.items)
    try {
      if (this.#halt.signal.aborted || (budget !== undefined && admission === undefined)) return undefined
      if (isShut()) return 'held'
      const sentAt = clock.now()
      const known = this.#earlier.withBefore(history, batch)
      const verdict = await this.#requests.send({ body, bytes, batch, history: known, admission })
      if (givenUp?.aborted === true) return verdict
      this.#count(verdict)
      this.#learn(verdict, body, sentAt)
      return verdict
    } finally {
      admission?.leave()
    }
  }

  /** Its place is free meanwhile; its memory is not. */
  async #pause(ms: number): Promise<void> {
    this.#waiting += 1
    this.#letRead()
    await this.#sleep(ms)
    this.#waiting -= 1
  }

  /** Ends early when nothing more may be sent. */
  async #sleep(ms: number): Promise<void> {
    await this.#options.clock.sleep(ms, this.#halt.signal).catch(() => undefined)
  }

  #count(verdict: Verdict): void {
    if (verdict.kind === 'there') return
    if (verdict.kind === 'done' || verdict.kind === 'retryItems') {
      const { created, updated, duplicate } = verdict.settled
      if (created + updated + duplicate === 0) return
      this.#accepted += 1
      this.#lostInARow = 0
    } else if (verdict.delivery === 'possible') this.#lostInARow += 1
  }

  /** How many requests, and how large, the cluster bears. */
  #learn(verdict: Verdict, { bytes }: Body, sentAt: number): void {
    const now = this.#options.clock.now()
    if (verdict.kind === 'done' || verdict.kind === 'retryItems') this.#bodySize.taken(bytes.length)
    if (verdict.kind === 'done') this.#limit.answered(sentAt, bytes.length, now)
    else if (verdict.kind === 'wait' || verdict.kind === 'retryItems') this.#limit.refused(sentAt, now)
    else if (verdict.kind === 'split' && verdict.refusal.status === 413) this.#bodySize.tooLarge(bytes.length)
    if (this.#places.concurrency !== this.#limit.allowed) this.#places.concurrency = this.#limit.allowed
    this.#letRead()
  }
}

/** Whether what was sent may be stored or not, with nothing that tells. */
function isLost(verdict: Verdict | undefined): boolean {
  return (verdict?.kind === 'wait' || verdict?.kind === 'retryItems') && verdict.delivery === 'possible'
}
