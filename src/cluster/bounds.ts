/** What binds the requests that a run makes beside those of documents: lookups, refreshes, steps of a guarded load, probes. */
import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'

export interface Bounds {
  /** Aborted when no answer is waited for any longer. */
  readonly givenUp: AbortSignal
  /** What may go over the wire. Absent: any number of bytes. Undefined is resolved to where a request may not be sent. */
  readonly budget?: {
    /** `answerBytes`: what the answer may take, where that can be told. */
    admitQuestion(bodyBytes: number, answerBytes?: number): Promise<Admitted | undefined>
    admitConnections(count: number): Promise<Admitted | undefined>
  }
}

interface Admitted {
  /** What its answer took. It is over with that. */
  answered(bytes: number): void
  /** It is over, well or not. */
  leave(): void
}

/**
 * Makes a request once the budget admits it. `admission` is undefined where there is none. Throws SluiceError RUN_INTERRUPTED
 * where it does not: why, is known to whoever owns the budget.
 */
export async function bounded<T>(
  admission: Promise<Admitted | undefined> | undefined,
  request: (admitted: Admitted | undefined) => Promise<T>,
): Promise<T> {
  if (admission === undefined) return await request(undefined)
  const admitted = await admission
  if (admitted === undefined) throw notAsked('the byte budget is spent')
  try {
    return await request(admitted)
  } finally {
    admitted.leave()
  }
}

/** A request that nobody waits for any longer. */
export function notAsked(reason: string): SluiceError {
  return fail('RUN_INTERRUPTED', { reason, settled: 0 })
}
