/** Repeats work on the queue until it succeeds: the queue may restart, or its memory may be full for a while. */
import { isSluiceError } from '../../../base/failure/failure.js'
import { inTime } from './in-time.js'
import { systemClock } from '../../../base/time/clock.js'
import type { QueueEngine } from './open-engine.js'
import type { WorkerEvent } from './worker-event.js'

export interface QueuePatience {
  readonly engine: QueueEngine
  readonly signal: AbortSignal
  tell(event: WorkerEvent): void
}

/** Between two attempts, in milliseconds. */
const FIRST_MS = 200
const LONGEST_MS = 5000

/** Throws what the work throws as SluiceError, and any error once the signal aborts. Then a silent queue is such an error, too. */
export async function untilQueueDone<T>(work: () => Promise<T>, { engine, signal, tell }: QueuePatience): Promise<T> {
  for (let ms = FIRST_MS; ; ms = Math.min(LONGEST_MS, ms * 2)) {
    try {
      return await unlessSilent(work(), signal)
    } catch (error) {
      if (isSluiceError(error)) throw error
      if (signal.aborted) throw engine.failure(error)
      tell({ type: 'problem', message: engine.failure(error).message })
      await systemClock.sleep(ms, signal).catch(() => undefined)
    }
  }
}

async function unlessSilent<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const over = new AbortController()
  const silent = new Promise<never>((_, reject) => {
    const leave = () => {
      void inTime(work).then(hasEnded => hasEnded || reject(new Error('the queue does not answer')))
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { signal: over.signal })
  })
  try {
    return await Promise.race([work, silent])
  } finally {
    over.abort()
  }
}
