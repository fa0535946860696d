/** Waits for a queue, but no longer than one takes that works: a worker must be able to leave without it. */
import { systemClock } from '../../../base/time/clock.js'

/** How long a queue may be silent while a worker leaves, in milliseconds. A worker that leaves waits for it a few times. */
const SILENT_MS = 1000

/** Resolves to whether the work ended in time. Its errors count as an end. */
export async function inTime(work: Promise<unknown>, ms = SILENT_MS): Promise<boolean> {
  const over = new AbortController()
  const ended = work.then(
    () => true,
    () => true,
  )
  const late = systemClock
    .sleep(ms, over.signal)
    // A process that was stopped reads first what has arrived meanwhile.
    .then(async () => await new Promise<void>(resolve => setImmediate(resolve)))
    .then(
      () => false,
      () => false,
    )
  try {
    return await Promise.race([ended, late])
  } finally {
    over.abort()
  }
}

/** Resolves when the work has ended, or the signal aborts. Throws what the work throws. */
export async function unlessLeaving(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  const over = new AbortController()
  const aborted = new Promise<void>(resolve => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { signal: over.signal })
  })
  try {
    await Promise.race([work, aborted])
  } finally {
    over.abort()
  }
}
