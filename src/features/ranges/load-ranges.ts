/** Loads ranges of inputs as a part of a run that many processes share. It keeps no state: a range is loaded again from its start. */
import type { Feature } from '../../run/loop/hooks.js'

/** `isFirstDelivery`: see `RangeJob`. */
export function loadRanges(isFirstDelivery: boolean): Feature {
  return () => ({
    identify: plain => ({
      ...plain,
      plan: async planning => ({ ...(await plain.plan(planning)), isDoubtful: !isFirstDelivery }),
    }),
    // Every worker gives a line of this run the same id.
    sending: { sentBefore: !isFirstDelivery, repeatsIds: true },
  })
}
