/** A condition variable: who waits for something looks again whenever anything may have changed. */
export class Condition {
  readonly #wakers = new Set<() => void>()

  /** Resolves at the next `notify`, or when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    await new Promise<void>(resolve => {
      const wake = () => {
        signal.removeEventListener('abort', wake)
        this.#wakers.delete(wake)
        resolve()
      }
      signal.addEventListener('abort', wake)
      this.#wakers.add(wake)
    })
  }

  notify(): void {
    for (const wake of this.#wakers) wake()
  }
}
