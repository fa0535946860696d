/** A condition variable: all waiters look again whenever something may have changed. */
export class ChangeSignal {
  readonly #wakers = new Set<() => void>()

  /** Resolves at the next `notify`, or when the signal aborts. */
  async changed(signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return
    await new Promise<void>(resolve => {
      const wake = () => {
        signal?.removeEventListener('abort', wake)
        this.#wakers.delete(wake)
        resolve()
      }
      signal?.addEventListener('abort', wake)
      this.#wakers.add(wake)
    })
  }

  notify(): void {
    for (const wake of this.#wakers) wake()
  }
}
