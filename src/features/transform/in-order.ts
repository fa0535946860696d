/** Runs jobs side by side, and yields their results in the order of the jobs. */

export interface Ordering {
  /** Jobs that may be begun before the first of them is over. */
  readonly ahead: number
  /** Ends the results at once: a job may take long. */
  readonly signal?: AbortSignal | undefined
}

/** If the jobs end in an error, throws it behind their results. */
export async function* inOrder<J>(
  jobs: AsyncIterable<J>,
  start: (job: J) => AsyncIterable<Uint8Array>,
  { ahead, signal }: Ordering,
): AsyncGenerator<Uint8Array> {
  const begun: AsyncIterator<Uint8Array>[] = []
  const reader = { isClosed: false, hasEnded: false }
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
        begun.push(start(job)[Symbol.asyncIterator]())
        changed()
        while (begun.length >= ahead && !reader.isClosed) await change()
        if (reader.isClosed) return
      }
    } catch (error) {
      broken = { error }
    } finally {
      reader.hasEnded = true
      changed()
    }
  }
  let stopped = () => {}
  const stop = new Promise<undefined>(resolve => (stopped = () => resolve(undefined)))
  signal?.addEventListener('abort', stopped, { once: true })
  if (signal?.aborted === true) stopped()
  void reading()
  try {
    for (;;) {
      const [first] = begun
      if (first === undefined) {
        if (reader.hasEnded || signal?.aborted === true) break
        await Promise.race([change(), stop])
        continue
      }
      const next = first.next()
      const result = await Promise.race([next, stop])
      if (result === undefined) {
        // Its caller has left.
        next.catch(() => {})
        return
      }
      if (result.done !== true) yield result.value
      else {
        begun.shift()
        changed()
      }
    }
  } finally {
    // If the caller stops early, cancel the jobs: the input may not deliver for a long time.
    reader.isClosed = true
    signal?.removeEventListener('abort', stopped)
    changed()
  }
  if (broken !== undefined) throw broken.error
}
