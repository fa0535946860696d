/**
 * Shares the limit of a job among the workers that are there. Otherwise those that came first would take all of a small limit, and the
 * network of the other machines would be idle.
 */
import type { QueueEngine } from '../queue/open-engine.js'
import { readSigns } from '../queue/worker-sign.js'

/** Time between two looks at the signs of workers, in milliseconds. */
const EVERY_MS = 2000

interface Sharing {
  readonly engine: QueueEngine
  /** This worker, whose own sign may not be there yet. */
  readonly own: { readonly worker: string; readonly slots: number }
  /** URL of the job's cluster: workers of others do not count. */
  readonly url: string
  readonly now: () => number
  queueAheadMs(): Promise<number>
}

export class FairShare {
  readonly #given: Sharing
  #slots: readonly number[]
  #lookedAt = -Infinity
  #aheadMs: number | undefined

  constructor(given: Sharing) {
    this.#given = given
    this.#slots = [given.own.slots]
  }

  /** Returns the most ranges that one worker loads at the same time. Undefined: as many as it has slots. */
  async of(limit: number): Promise<number | undefined> {
    const { now } = this.#given
    if (now() - this.#lookedAt >= EVERY_MS) {
      this.#lookedAt = now()
      // A job continues even if the queue cannot list its workers.
      this.#slots = await this.#look().catch(() => this.#slots)
    }
    return fairShare(limit, this.#slots)
  }

  async #look(): Promise<readonly number[]> {
    const { engine, own, url, queueAheadMs } = this.#given
    this.#aheadMs ??= await queueAheadMs()
    const signs = await readSigns(engine, this.#aheadMs)
    const others = signs.filter(sign => sign.url === url && sign.worker !== own.worker)
    return [own.slots, ...others.map(({ slots }) => slots)]
  }
}

/** Returns the smallest share with which the workers use the whole limit. Undefined: they have no more slots than that. */
export function fairShare(limit: number, slots: readonly number[]): number | undefined {
  const most = Math.max(...slots)
  for (let share = 1; share < most; share += 1) {
    const used = slots.reduce((sum, one) => sum + Math.min(one, share), 0)
    if (used >= limit) return share
  }
  return undefined
}
