import { setMaxListeners } from 'node:events'

/**
 * Returns a signal that follows another and may have any number of listeners. Node warns about more than ten on one signal, and the
 * limit of the caller's own signal is the caller's to set.
 */
export function manyListeners(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal])
  setMaxListeners(0, own)
  return own
}
