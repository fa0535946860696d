/** Limits the small requests of a run: look-ups, refreshes, steps of a guarded load, probes. */
import { fail, SluiceError } from '../../base/failure/failure.js'

export interface Bounds {
  /** Aborts when Sluice gives up its current requests. */
  readonly givenUp: AbortSignal
  /** Limits the bytes on the wire. Absent: no limit. It admits a request, or resolves to undefined if nothing may be sent. */
  readonly budget?: {
    /** `answerBytes`: expected bytes of the answer, if known. */
    admitQuestion(bodyBytes: number, answerBytes?: number): Promise<Admitted | undefined>
    admitConnections(count: number): Promise<Admitted | undefined>
  }
}

interface Admitted {
  /** Takes the length of its answer, and ends the request. */
  answered(bytes: number): void
  leave(): void
}

/**
 * Makes a request once the budget admits it. `admission` is undefined if there is no budget. Throws SluiceError RUN_INTERRUPTED if
 * the budget refuses.
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

export function notAsked(reason: string): SluiceError {
  return fail('RUN_INTERRUPTED', { reason, settled: 0 })
}
