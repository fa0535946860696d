import { ReplayBatcher } from '../bulk/replay-batcher.js'
import type { Feature } from '../run/hooks.js'
import { lostDestinations } from './lost-destinations.js'
import { refuseOtherReplay } from './other-replay.js'

/** Where all dead letters go, whatever they say themselves. */
export interface Redirection {
  readonly index?: string
  readonly pipeline?: string
}

/** Takes the inputs for dead letters: each goes where it was meant to go, unless the redirection names another place. */
export function sendDeadLetters(redirection: Redirection): Feature {
  return ({ load, ending }) => ({
    identify: plain => {
      const options = { ids: 'replay', ...redirection }
      return {
        ...plain,
        // The dead letters say where they go, unless one place is named for all of them.
        scope: redirection.index ?? '',
        kind: 'replay',
        options,
        repeatsIds: true,
        doubt: 'documents without an id that Sluice was sending when the replay stopped may be stored twice',
        refuse: async claim => {
          await refuseOtherReplay({ ...claim, runId: load.state.runId, sources: plain.sources, options })
        },
        lost: async (last, _seen, cluster) => await lostDestinations(last, cluster, ending.signal),
      }
    },
    frame: (framing, ledger) =>
      new ReplayBatcher({
        ...framing,
        ...redirection,
        longRecord: async (input, head) => await ledger.longRecord(input, head),
      }),
  })
}
