/**
 * Admits at most `limit` exchanges at once, first come first served. It stands in front of undici's pool so that a waiting
 * request certainly has not left, can give up its place at once, and takes a connection that is about to be free rather
 * than a new one: N requests at concurrency C use C connections.
 */
export class Gate {
  #inside = 0
  #leaving = 0
  readonly #waiting: (() => void)[] = []

  constructor(private readonly limit: number) {}

  /** Calls `admit` as soon as there is room, perhaps before it returns. */
  enter(admit: () => void): void {
    this.#waiting.push(admit)
    this.#pump()
  }

  /** Gives up a place in the queue, if it still is one. */
  giveUp(admit: () => void): void {
    const place = this.#waiting.indexOf(admit)
    if (place >= 0) this.#waiting.splice(place, 1)
  }

  /**
   * To be called from within undici's callback that ends an exchange. undici frees the connection in an immediate that it
   * schedules right after that callback; until then, one of those who wait waits for this connection.
   */
  leave(): void {
    this.#leaving += 1
    queueMicrotask(() =>
      setImmediate(() => {
        this.#leaving -= 1
        this.#inside -= 1
        this.#pump()
      }),
    )
  }

  #pump(): void {
    while (this.#waiting.length > this.#leaving && this.#inside < this.limit) {
      this.#inside += 1
      this.#waiting.shift()?.()
    }
  }
}
