/** Limits the bytes or documents per second of loads. */
import type { TrafficSection } from '../options/load.js'
import type { Feature } from '../run/hooks.js'
import { TokenBucket } from '../sender/layers/rate.js'
import { systemClock } from '../time/system-clock.js'

/** Returns the bucket for all loads over one connection, or undefined if nothing limits them. */
export function openRate({ maxRate }: TrafficSection): TokenBucket | undefined {
  if (maxRate === undefined) return undefined
  const [counts, limit] =
    'bytes' in maxRate ? (['bytes', maxRate.bytes] as const) : (['documents', maxRate.documents] as const)
  return new TokenBucket({ counts, perSecond: () => limit, clock: systemClock })
}

/** Sends requests as fast as the bucket lets them pass. */
export function limitRate(bucket: TokenBucket | undefined): Feature {
  return () =>
    bucket === undefined
      ? undefined
      : {
          connected: ({ route }) => {
            bucket.meter(() => route.traffic.bytesSent + route.traffic.bytesReceived)
            return undefined
          },
          sending: { rates: [bucket] },
        }
}
