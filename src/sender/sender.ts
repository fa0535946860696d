import pLimit, { type LimitFunction } from 'p-limit'
import { promisify } from 'node:util'
import type { ZlibOptions } from 'node:zlib'
import { post } from '../cluster/post.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Failure } from '../failure/failure.js'
import type { Batch, Clock, Outcome } from '../flow.js'
import type { Body } from './body.js'
import { deliver } from './deliver.js'
import { judgeAnswer } from './judge-answer.js'
import { judgeError } from './judge-error.js'
import { filterPath } from './judge-items.js'
import type { Verdict } from './verdict.js'

export interface SenderOptions {
  readonly cluster: Cluster
  readonly index: string
  readonly pipeline?: string
  /** Whether `_id`s are Sluice's own; see `JudgedBody`. */
  readonly ownIds: boolean
  /** Whether a resend cannot double a document: ids from anywhere but the cluster. */
  readonly safeToResend: boolean
  /** Whether an earlier process may have sent the same documents under the same ids: a resume, a named run. */
  readonly sentBefore: boolean
  readonly onConflict: 'reject' | 'skip'
  readonly concurrency: number
  readonly gzip: boolean
  readonly maxElapsedMs: number
  readonly clock: Clock
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
  readonly random: () => number
  onRetry(failure: Failure, documents: number, waitMs: number): void
}

/** What an answer may take, in all and for each item: a refusal with its reason is a few hundred bytes. */
const ANSWER_BYTES = 1 << 20
const ITEM_BYTES = 4096

/** Sends batches, at most `concurrency` at a time. */
export class Sender {
  readonly #options: SenderOptions
  readonly #limit: LimitFunction
  readonly #halt = new AbortController()
  #accepted = 0
  #lostInARow = 0
  #requests = 0
  #retries = 0

  constructor(options: SenderOptions) {
    this.#options = options
    this.#limit = pLimit(options.concurrency)
  }

  get requests(): number {
    return this.#requests
  }

  get retries(): number {
    return this.#retries
  }

  /** From now on nothing is sent: what is in flight is awaited, the rest is left unsent. */
  halt(): void {
    this.#halt.abort()
  }

  /** Resolves when every document of the batch has an outcome. The batch's memory is free then. */
  async send(batch: Batch): Promise<Outcome> {
    return await this.#limit(
      async () =>
        await deliver(batch, {
          attempt: async (body, resent, doubtful) => await this.#attempt(body, this.#history(resent, doubtful), batch),
          safeToResend: this.#options.safeToResend,
          maxElapsedMs: this.#options.maxElapsedMs,
          halted: this.#halt.signal,
          accepted: () => this.#accepted,
          lostInARow: () => this.#lostInARow,
          clock: this.#options.clock,
          random: this.#options.random,
          onRetry: (failure, documents, waitMs) => {
            this.#retries += 1
            this.#options.onRetry(failure, documents, waitMs)
          },
        }),
    )
  }

  async #attempt(body: Body, history: { resent: boolean; doubtful: boolean }, batch: Batch): Promise<Verdict> {
    const { cluster, index, pipeline, ownIds, safeToResend, onConflict, gzip, wallClock } = this.#options
    this.#requests += 1
    let verdict: Verdict
    try {
      const answer = await post(cluster, {
        path: `/${encodeURIComponent(index)}/_bulk`,
        query: { filter_path: filterPath, ...(pipeline === undefined ? {} : { pipeline }) },
        headers: gzip ? { 'content-encoding': 'gzip' } : {},
        maxAnswerBytes: ANSWER_BYTES + ITEM_BYTES * body.items,
        body: gzip ? await compress(body.bytes) : body.bytes,
      })
      verdict = judgeAnswer(answer, {
        body: { items: body.items, index, operation: batch.operation, ownIds, safeToResend, ...history, onConflict },
        cluster: cluster.display,
        route: cluster.route,
        now: wallClock(),
      })
    } catch (error) {
      verdict = judgeError(error, cluster.display)
    }
    this.#note(verdict)
    return verdict
  }

  #history(resent: boolean, doubtful: boolean): { resent: boolean; doubtful: boolean } {
    const { sentBefore } = this.#options
    return { resent: resent || sentBefore, doubtful: doubtful || sentBefore }
  }

  #note(verdict: Verdict): void {
    if (verdict.kind === 'done' || verdict.kind === 'retryItems') {
      const { created, updated, duplicate } = verdict.settled
      if (created + updated + duplicate === 0) return
      this.#accepted += 1
      this.#lostInARow = 0
    } else if (verdict.delivery === 'possible') this.#lostInARow += 1
  }
}

let gzipBytes: ((bytes: Buffer, options: ZlibOptions) => Promise<Buffer>) | undefined

/** Level 1: the higher ones cost more than twice the CPU for a sixth less on the wire. */
async function compress(bytes: Buffer): Promise<Buffer> {
  gzipBytes ??= promisify((await import('node:zlib')).gzip)
  return await gzipBytes(bytes, { level: 1, chunkSize: 1 << 20 })
}
