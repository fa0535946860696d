/** How long to wait before a resend. The one place where Sluice waits for a cluster. */
const FIRST_MS = 250
const LONGEST_MS = 30_000

/**
 * Exponential with jitter, so that many senders do not come back at once. What the server asked for (Retry-After) is a lower
 * bound. `refusals` counts from 1; `random` gives [0, 1).
 */
export function backoffMs(refusals: number, random: () => number, retryAfter = 0): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(refusals - 1, 20))
  return Math.max(retryAfter, ceiling / 2 + (ceiling / 2) * random())
}
