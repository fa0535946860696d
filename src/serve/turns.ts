/** Shares the event loop: of all long tasks, one continues in each round. Between two rounds, short requests are answered. */
export class Turns {
  #last: Promise<void> = Promise.resolve()

  /** Resolves when the caller may continue for some milliseconds. */
  async next(): Promise<void> {
    await (this.#last = this.#last.then(nextRound))
  }
}

async function nextRound(): Promise<void> {
  await new Promise<void>(resolve => setImmediate(resolve))
}
