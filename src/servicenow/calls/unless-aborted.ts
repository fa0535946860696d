import { interrupted } from './lost-answer.js'

/** Others may wait for the same: one that gives up ends nothing but its own waiting. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return await work
  // Perhaps nobody is left to hear why it failed.
  work.catch(() => {})
  if (signal.aborted) throw interrupted(signal)
  return await new Promise<T>((resolve, reject) => {
    const onAbort = () => reject(interrupted(signal))
    signal.addEventListener('abort', onAbort, { once: true })
    void work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
