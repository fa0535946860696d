import { setTimeout as after } from 'node:timers/promises'
import type { Clock } from '../flow.js'

/** The machine's own clock. */
export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: async (ms, signal) => await after(ms, undefined, signal === undefined ? undefined : { signal }),
}
