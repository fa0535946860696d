import type { Clock } from '../../../src/base/flow.js'

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

/** A clock that moves when a test says so. */
export class HeldClock implements Clock {
  #now = 0
  readonly #sleepers = new Set<Sleeper>()

  now(): number {
    return this.#now
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    await new Promise<void>((resolve, reject) => {
      const sleeper: Sleeper = { until: this.#now + ms, wake: resolve }
      this.#sleepers.add(sleeper)
      signal?.addEventListener('abort', () => {
        this.#sleepers.delete(sleeper)
        reject(signal.reason as Error)
      })
    })
  }

  /** Moves on, and wakes those who slept until then. */
  advance(ms: number): void {
    this.#now += ms
    for (const sleeper of this.#sleepers) {
      if (sleeper.until > this.#now) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }

  /** Moves from sleeper to sleeper until a promise settles. */
  async untilSettled<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const settle = () => (isSettled = true)
    promise.then(settle, settle)
    for (;;) {
      await new Promise(resolve => setImmediate(resolve))
      if (isSettled) return await promise
      if (this.#sleepers.size > 0) this.advance(Math.min(...[...this.#sleepers].map(({ until }) => until)) - this.#now)
    }
  }

  get sleeping(): number {
    return this.#sleepers.size
  }
}

/** A clock whose sleepers wake at once, because it moves by as much as they wanted to sleep. */
export class SkippingClock implements Clock {
  #now = 0
  /** How long each one slept, in milliseconds. */
  readonly slept: number[] = []
  /** Called in the middle of each sleep. */
  onSleep: () => void = () => {}

  now(): number {
    return this.#now
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.slept.push(ms)
    this.#now += ms
    this.onSleep()
    await Promise.resolve()
    signal?.throwIfAborted()
  }

  advance(ms: number): void {
    this.#now += ms
  }
}
