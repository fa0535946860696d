/** When progress is shown. A test holds it. */
export interface DrawingPace {
  /** Milliseconds, monotonic. */
  now(): number
  /** The time of day, in milliseconds since the epoch. */
  date(): number
  /** Acts again and again, until it is disposed of. */
  every(ms: number, act: () => void): Disposable
}

export const systemPace: DrawingPace = {
  now: () => performance.now(),
  date: () => Date.now(),
  every: (ms, act) => {
    const timer = setInterval(act, ms)
    timer.unref()
    return { [Symbol.dispose]: () => clearInterval(timer) }
  },
}
