import { AdaptiveLimit } from '../../../src/route/sender/adaptive-limit.js'
import type { Seeded } from '../random/seeded.js'

export interface Simulated {
  /** Most requests at once. `fixed`: always so many, whatever comes. */
  readonly most: number
  readonly fixed?: boolean
  readonly latencyMs: number
  /** Bytes per ms that the cluster takes, and that the reader reads. */
  readonly rate: number
  readonly readRate: number
  /** Requests beyond so many at once are refused. Default: none are. */
  readonly takes?: (now: number) => number
  /** Share by which times differ from each other. Default 0. */
  readonly jitter?: number
  readonly random: Seeded
  readonly forMs: number
}

export interface Seen {
  /** How many were allowed, from when on. */
  readonly limits: readonly { readonly at: number; readonly allowed: number }[]
  readonly answers: readonly { readonly at: number; readonly bytes: number }[]
  readonly refusals: readonly number[]
}

const BODY_BYTES = 5_000_000
const BACKOFF_MS = 250
const SPARE_BODIES = 3

/** A reader, a sender and a cluster that works off one body after the other, on a clock that jumps from event to event. */
export function simulate({
  most,
  fixed = false,
  latencyMs,
  rate,
  readRate,
  takes = () => Infinity,
  jitter = 0,
  random,
  forMs,
}: Simulated): Seen {
  const limit = new AdaptiveLimit(most)
  const allowed = () => (fixed ? most : limit.allowed)
  const events: { at: number; happen: () => void }[] = []
  const limits = [{ at: 0, allowed: allowed() }]
  const answers: { at: number; bytes: number }[] = []
  const refusals: number[] = []
  let now = 0
  let open = 0
  let ready = 0
  let underWay = 0
  let resting = 0
  let clusterFreeAt = 0
  let isReading = false

  const after = (ms: number, happen: () => void) => {
    events.push({ at: now + ms * (1 + jitter * (random.real() * 2 - 1)), happen })
  }
  const goOn = () => {
    if (limits.at(-1)?.allowed !== allowed()) limits.push({ at: now, allowed: allowed() })
    for (let free = Math.min(ready, allowed() - underWay); free > 0; free -= 1) send()
    if (isReading) return
    if (open > allowed() + Math.min(resting, SPARE_BODIES)) return limit.waits(now)
    limit.continues(now)
    isReading = true
    after(BODY_BYTES / readRate, () => {
      isReading = false
      open += 1
      ready += 1
    })
  }
  const send = () => {
    const sentAt = now
    ready -= 1
    underWay += 1
    if (underWay > takes(now)) {
      after(latencyMs + 1, () => {
        underWay -= 1
        resting += 1
        refusals.push(now)
        limit.refused(sentAt, now)
        after(BACKOFF_MS, () => {
          resting -= 1
          ready += 1
        })
      })
      return
    }
    clusterFreeAt = Math.max(now, clusterFreeAt) + (BODY_BYTES / rate) * (1 + jitter * (random.real() * 2 - 1))
    after(clusterFreeAt - now + latencyMs, () => {
      underWay -= 1
      open -= 1
      answers.push({ at: now, bytes: BODY_BYTES })
      limit.answered(sentAt, BODY_BYTES, now)
    })
  }

  goOn()
  while (now < forMs) {
    const next = events.reduce((first, event) => (event.at < first.at ? event : first))
    events.splice(events.indexOf(next), 1)
    now = next.at
    next.happen()
    goOn()
  }
  return { limits, answers, refusals }
}

/** Bytes per ms that were taken between two times. */
export function rateOf({ answers }: Seen, from: number, to: number): number {
  const taken = answers.filter(({ at }) => at > from && at <= to)
  return taken.reduce((bytes, one) => bytes + one.bytes, 0) / (to - from)
}
