/** Works through a list in batches, as large and as many at once as the cluster bears. */
import { fail, isSluiceError, SluiceError } from '../../base/failure/failure.js'
import type { Clock } from '../../base/flow.js'
import { atLast, backoffMs, Retries, retryAfterMs } from '../../base/time/retry.js'
import type { TakeStep } from '../../route/cluster/documents.js'

export interface PaceOptions {
  readonly most: number
  readonly inFlight: number
  /** How long one part may be refused, in milliseconds. */
  readonly maxElapsedMs: number
  readonly clock: Clock
  readonly wallClock: () => number
  readonly random: () => number
  readonly signal?: AbortSignal | undefined
}

export class Pace {
  readonly #options: PaceOptions
  #size: number
  #done = 0

  constructor(options: PaceOptions) {
    this.#options = options
    this.#size = options.most
  }

  /** Resolves when every item is done. Throws the first SluiceError, once all current requests have ended. */
  async through<T>(items: Iterable<T> | AsyncIterable<T>, attempt: TakeStep<T>): Promise<void> {
    const { signal } = this.#options
    const next = Symbol.asyncIterator in items ? takingInTurn(items) : takingFrom(items)
    let stopped: { readonly error: unknown } | undefined
    const work = async () => {
      while (stopped === undefined) {
        try {
          const taken = next(this.#size)
          const batch = Array.isArray(taken) ? taken : await taken
          if (batch.length === 0) return
          await this.settle(batch, attempt)
          this.#done += batch.length
        } catch (error) {
          // A source that is left early may throw anything.
          const isLeft = signal?.aborted === true && !isSluiceError(error)
          stopped ??= { error: isLeft ? this.#interrupted(signal) : error }
        }
      }
    }
    await Promise.all(Array.from({ length: this.#options.inFlight }, work))
    if (stopped !== undefined) throw stopped.error
  }

  /** Takes one batch. Halves it if it is too large, and retries if the cluster is busy. */
  async settle<T>(batch: readonly T[], attempt: TakeStep<T>): Promise<void> {
    const { clock, wallClock, random, maxElapsedMs, signal } = this.#options
    const parts = [batch]
    const retries = new Retries({ clock, maxElapsedMs, waitMs: refusals => backoffMs(refusals, random) })
    for (let part = parts.shift(); part !== undefined; part = parts.shift()) {
      if (signal?.aborted === true) throw this.#interrupted(signal)
      const step = await attempt(part).catch((error: unknown) => {
        throw signal?.aborted === true ? this.#interrupted(signal) : error
      })
      if (step.kind === 'done') {
        this.#size = Math.min(this.#options.most, this.#size + Math.ceil(this.#options.most / 20))
        retries.startAgain()
        continue
      }
      if (step.kind === 'refused') throw new SluiceError(step.failure)
      if (step.kind === 'tooMany') {
        if (part.length === 1) throw new SluiceError(step.failure)
        parts.unshift(...this.#halves(part))
        continue
      }
      const waitMs = retries.next(retryAfterMs(step.headers ?? {}, wallClock()))
      const { elapsedMs } = retries
      if (waitMs === undefined) throw new SluiceError(atLast(step.failure, elapsedMs))
      const { left = part } = step
      parts.unshift(...(left.length > 1 && step.failure.code === 'CLUSTER_OVERLOADED' ? this.#halves(left) : [left]))
      // An abort is seen before the next attempt.
      await clock.sleep(waitMs, signal).catch(() => undefined)
    }
  }

  #interrupted({ reason }: AbortSignal): SluiceError {
    const why = typeof reason === 'string' ? reason : 'aborted by the calling program'
    return fail('RUN_INTERRUPTED', { reason: why, settled: this.#done })
  }

  #halves<T>(part: readonly T[]): [readonly T[], readonly T[]] {
    const middle = part.length >> 1
    this.#size = Math.max(1, Math.min(this.#size, middle))
    return [part.slice(0, middle), part.slice(middle)]
  }
}

function takingFrom<T>(items: Iterable<T>): (most: number) => T[] {
  const iterator = items[Symbol.iterator]()
  return most => {
    const taken: T[] = []
    while (taken.length < most) {
      const next = iterator.next()
      if (next.done === true) break
      taken.push(next.value)
    }
    return taken
  }
}

/** One batch is read after the other, so that each holds neighbours. */
function takingInTurn<T>(items: AsyncIterable<T>): (most: number) => Promise<T[]> {
  const iterator = items[Symbol.asyncIterator]()
  let turn: Promise<unknown> = Promise.resolve()
  return async most => {
    const batch = turn.then(async () => {
      const taken: T[] = []
      while (taken.length < most) {
        const next = await iterator.next()
        if (next.done === true) break
        taken.push(next.value)
      }
      return taken
    })
    turn = batch.catch(() => undefined)
    return await batch
  }
}
