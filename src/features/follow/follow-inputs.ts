/** Follows files that grow: runs the load again and again over what is new, over one connection, until a signal. */
import { resolve } from 'node:path'
import { openTarget } from '../../route/connect/open-target.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import type { FollowSection, InputSection, Load } from '../../options/load.js'
import { listenerOf } from '../../base/caller.js'
import { listedIn, namedIn } from '../../options/names.js'
import { secretsOf } from '../../base/secrets.js'
import { openSlots } from '../../pipeline/bulk/slots.js'
import { RunRecord } from '../../run/loop/run-record.js'
import { stopSignalsOf } from '../../run/loop/stop-signals.js'
import type { ListCopies } from '../../run/state/runs/runs.js'
import { systemClock } from '../../base/time/clock.js'
import { FollowedFiles } from './followed-files.js'
import { RoundEvents } from './round-events.js'
import { type Round, Rounds } from './rounds.js'

export interface FollowedLoad extends Load {
  readonly follow: FollowSection
}

/** `loadOnce`: loads the inputs of one round. Throws as `ingest` does. Ends as a load does that is complete if the signal aborts. */
export async function followInputs(
  load: FollowedLoad,
  loadOnce: (round: Round) => Promise<Receipt>,
  listCopies: ListCopies,
): Promise<Receipt> {
  const { inputs, state, documents, connecting, retrying, stopping, batching, follow } = load
  const events = new RoundEvents(listenerOf(load.onEvent))
  const record = new RunRecord({
    command: 'ingest',
    inputs,
    stateDir: state.stateDir,
    state,
    secrets: secretsOf(load),
    listCopies,
    target: { index: documents.into },
    warn: events.warn,
  })
  try {
    return await record.around(async () => {
      using stop = stopSignalsOf(stopping, systemClock)
      await using files = new FollowedFiles(whatToFollow(inputs, events))
      await files.scan()
      const patience = { maxElapsedMs: retrying.maxElapsedMs, option: '--max-elapsed' as const, warn: events.warn }
      const { cluster, way } = await openTarget(connecting, stop.signal, { patience }).catch((error: unknown) => {
        throw stop.cause(error)
      })
      try {
        using slots = openSlots(connecting, batching)
        const rounds = new Rounds({
          ...follow,
          stopping,
          loadOnce,
          files,
          events,
          record,
          connection: { cluster, way, slots },
        })
        return await rounds.run(stop)
      } finally {
        await cluster.route.destroy()
      }
    })
  } finally {
    await record.prune()
  }
}

function whatToFollow({ source, format }: InputSection, { say, warn }: RoundEvents) {
  const listed = listedIn(source)
  const names = listed ?? namedIn(source)
  const areLines = format === 'ndjson' ? ('ndjson' as const) : ('auto' as const)
  return {
    names,
    areListed: listed !== undefined,
    folder: resolve('.'),
    clock: systemClock,
    beganMs: Date.now(),
    format: areLines,
    say,
    warn,
  }
}
