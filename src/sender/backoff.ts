/** How long to wait before a resend, or before asking whether access is back. The one place where Sluice waits for a cluster. */
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

/** Between two rounds of probes while access is lost. */
const FIRST_PROBE_MS = 5000
const SLOWEST_PROBE_MS = 60_000

/** Exponential with a little jitter, so that runs that lost access together do not ask together. `rounds` counts from 1. */
export function probePauseMs(rounds: number, random: () => number): number {
  const longest = Math.min(SLOWEST_PROBE_MS, FIRST_PROBE_MS * 2 ** Math.min(rounds - 1, 10))
  return Math.round(longest * (0.8 + 0.2 * random()))
}
