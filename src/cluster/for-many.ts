import { setMaxListeners } from 'node:events'

/**
 * A signal that follows another, for as many requests as there are. Node warns of more than ten listeners on one, and how many the
 * caller's own may have is the caller's to say.
 */
export function forMany(signal: AbortSignal): AbortSignal {
  const own = AbortSignal.any([signal])
  setMaxListeners(0, own)
  return own
}
