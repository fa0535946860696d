/** Posts bodies as bulk requests, one at a time for each caller, and judges their answers. */
import { post } from '../cluster/post.js'
import { canHideSource } from '../cluster/version.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { Batch } from '../flow.js'
import type { Body } from './body.js'
import type { Admission } from './byte-budget.js'
import { judgeAnswer } from './judge-answer.js'
import { judgeError } from './judge-error.js'
import { type JudgedBody, filterPath } from './judge-items.js'
import type { Verdict } from './verdict.js'
import { filterPathOfWitness, hear } from './witness.js'

export interface BulkRequestOptions {
  readonly cluster: Cluster
  readonly index: string
  readonly pipeline?: string
  /** Whether `_id`s are Sluice's own; see `JudgedBody`. */
  readonly ownIds: boolean
  /** Whether a resend cannot double a document: ids from anywhere but the cluster. */
  readonly safeToResend: boolean
  readonly onConflict: 'reject' | 'skip'
  readonly gzip: boolean
  /** Milliseconds since the epoch. */
  readonly wallClock: () => number
  /** Aborted when requests under way are given up: their connections are closed. */
  readonly givenUp?: AbortSignal
  /** What cannot be promised for this target. Each is told once. */
  onDoubt?(message: string): void
}

export interface BulkRequest {
  readonly body: Body
  /** The body as it is sent. */
  readonly bytes: Buffer
  readonly batch: Batch
  readonly history: Pick<JudgedBody, 'resent' | 'doubtful'>
  readonly admission: Admission | undefined
}

/** What an answer may take, in all and for each item: a refusal with its reason is a few hundred bytes. */
const ANSWER_BYTES = 1 << 20
const ITEM_BYTES = 4096

export class BulkRequests {
  readonly #options: BulkRequestOptions
  /** Whether an index stands behind the target. */
  readonly #isBehind: (index: string) => Promise<boolean>
  /** The first answer tells which ids and indices the cluster makes of those that it was sent. */
  #witness: 'none' | 'asked' | 'heard' = 'none'
  #count = 0

  constructor(options: BulkRequestOptions, isBehind: (index: string) => Promise<boolean>) {
    this.#options = options
    this.#isBehind = isBehind
  }

  get count(): number {
    return this.#count
  }

  async send({ body, bytes, batch, history, admission }: BulkRequest): Promise<Verdict> {
    const { cluster, ownIds, onConflict, gzip, wallClock, givenUp } = this.#options
    const { index, pipeline } = batch.replayed?.destination ?? this.#options
    this.#count += 1
    const isWitness = ownIds && this.#witness === 'none'
    if (isWitness) this.#witness = 'asked'
    try {
      const answer = await post(cluster, {
        path: `/${encodeURIComponent(index)}/_bulk`,
        query: {
          filter_path: isWitness ? filterPathOfWitness : filterPath,
          ...(canHideSource(cluster.preflight.info) ? { include_source_on_error: 'false' } : {}),
          ...(pipeline === undefined ? {} : { pipeline }),
        },
        headers: gzip ? { 'content-encoding': 'gzip' } : {},
        maxAnswerBytes: ANSWER_BYTES + ITEM_BYTES * body.items,
        body: bytes,
        ...(givenUp === undefined ? {} : { signal: givenUp }),
      })
      admission?.answered(answer.body.length)
      if (isWitness && answer.statusCode === 200) await this.#hear(answer.body, body)
      const ids = idsOf(batch, this.#options)
      return judgeAnswer(answer, {
        body: { items: body.items, index, operation: batch.operation, ...ids, ...history, onConflict },
        cluster: cluster.display,
        route: cluster.route,
        now: wallClock(),
      })
    } catch (error) {
      return judgeError(error, cluster.display)
    } finally {
      if (this.#witness === 'asked' && isWitness) this.#witness = 'none'
    }
  }

  async #hear(answer: Buffer, body: Body): Promise<void> {
    this.#witness = 'heard'
    const { index, onDoubt } = this.#options
    const { otherId, elsewhere } = hear(answer, body, index)
    const lost =
      'a document that is sent again after a lost answer may be stored twice, and verify and undo may not find it'
    if (otherId) onDoubt?.(`documents do not keep the ids that they are sent with (a pipeline sets _id?): ${lost}`)
    if (elsewhere === undefined || (await this.#isBehind(elsewhere))) return
    onDoubt?.(`documents go to ${elsewhere} instead of ${index} (a pipeline reroutes them?): ${lost}`)
  }
}

type Ids = Pick<JudgedBody, 'ownIds' | 'safeToResend'>

/** Whose ids a batch has: those of dead letters were made by another run. */
export function idsOf({ replayed }: Batch, { ownIds, safeToResend }: Ids): Ids {
  if (replayed === undefined) return { ownIds, safeToResend }
  return { ownIds: replayed.ids === 'own', safeToResend: replayed.ids !== 'none' }
}
