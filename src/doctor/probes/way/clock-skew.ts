import type { Context, Probe } from '../../context.js'

/** A Date header counts whole seconds, and an answer takes its time. */
const EXACT_MS = 2_000

/** This machine's clock against those of whoever answered with a date. */
export const clockSkew: Probe = {
  name: 'clock',
  isPure: true,
  leaveOut: ({ dates }) => (skewOf(dates) === undefined ? 'no answer had a date' : undefined),
  look: ({ dates }) => {
    const skew = skewOf(dates)
    if (skew === undefined) throw new Error('compared a clock with nothing')
    const { skewMs, comparedWith } = skew
    const ahead = skewMs > 0 ? 'ahead of' : 'behind'
    return {
      detail:
        Math.abs(skewMs) <= EXACT_MS
          ? `the same as ${comparedWith}`
          : `${Math.round(Math.abs(skewMs) / 1000)} s ${ahead} that of ${comparedWith}`,
      facts: { clock: skew },
    }
  },
}

/** How far this machine is ahead. The cluster's word counts before the proxy's. */
function skewOf(dates: Context['dates']): { skewMs: number; comparedWith: string } | undefined {
  const usable = dates.filter(({ header }) => !Number.isNaN(Date.parse(header)))
  const chosen = usable.find(({ from }) => from === 'the cluster') ?? usable[0]
  if (chosen === undefined) return undefined
  return { skewMs: chosen.at - Date.parse(chosen.header), comparedWith: chosen.from }
}
