/** Runs jobs side by side, and yields their results in the order of the jobs. */

/** `ahead`: jobs that may be begun before the first of them is over. If the jobs end in an error, throws it behind their results. */
export async function* inOrder<J>(
  jobs: AsyncIterable<J>,
  start: (job: J) => AsyncIterable<Uint8Array>,
  ahead: number,
): AsyncGenerator<Uint8Array> {
  const begun: AsyncIterable<Uint8Array>[] = []
  let isClosed = false
  let hasEnded = false
  let broken: { readonly error: unknown } | undefined
  const waiting = new Set<() => void>()
  const changed = () => {
    for (const wake of waiting) wake()
    waiting.clear()
  }
  const change = async () => await new Promise<void>(resolve => waiting.add(resolve))
  const reading = async () => {
    try {
      for await (const job of jobs) {
        begun.push(start(job))
        changed()
        while (begun.length >= ahead && !isClosed) await change()
        if (isClosed) return
      }
    } catch (error) {
      broken = { error }
    } finally {
      hasEnded = true
      changed()
    }
  }
  void reading()
  try {
    for (;;) {
      const [first] = begun
      if (first === undefined) {
        if (hasEnded) break
        await change()
        continue
      }
      yield* first
      begun.shift()
      changed()
    }
  } finally {
    // Whoever stops early also ends the jobs: an input may wait for its next bytes for long.
    isClosed = true
    changed()
  }
  if (broken !== undefined) throw broken.error
}
