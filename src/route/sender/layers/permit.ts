/** The layer that asks for leave before each request: another worker may have taken over the work, or found that access is denied. */
import { type Send, STOPPING } from '../send.js'

/** Resolves to true when a request may be sent, and to false if this run may send nothing more. */
export type Permit = (halted: AbortSignal) => Promise<boolean>

export function permit(given: Permit | undefined, halted: AbortSignal, inner: Send): Send {
  if (given === undefined) return inner
  return async request => {
    if (!(await given(halted)) || halted.aborted) return STOPPING
    if (request.isHeld?.() === true) return { kind: 'notSent', because: 'noAccess' }
    return await inner(request)
  }
}
