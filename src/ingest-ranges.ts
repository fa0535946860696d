/** A load that many processes share, composed: one finds the inputs, and each loads ranges of them. No state is kept. */
import { completed, noted, type OverConnection } from './route/connect/over-connection.js'
import { loadOnce } from './ingest.js'
import type { Receipt } from './pipeline/ledger/receipt.js'
import { loadSpans, sharedOf } from './features/features-of.js'
import type { IngestOptions } from './options/ingest-options.js'
import type { Load } from './options/load.js'
import { readOptions } from './options/read-options.js'
import {
  type FoundInput,
  planInputs,
  type RangeJob,
  type RangeOptions,
  readRangeOptions,
  refuseSecrets,
} from './features/ranges/range-load.js'
import type { Run } from './run/loop/hooks.js'
import { stopSignalsOf } from './run/loop/stop-signals.js'
import { eachSource } from './pipeline/source/open-sources.js'
import { listenerOf } from './base/caller.js'
import { systemClock } from './base/time/clock.js'

/**
 * Loads ranges of inputs. Any process makes the same ids for the same lines, however inputs are cut, so a range may be loaded again at
 * any time. The inputs of the receipt are the ranges in their order. If one fails, Sluice still loads the others.
 *
 * ```ts
 * const receipt = await ingestRanges(
 *   { target, proxy, index: 'logs' },
 *   { run: 'nightly-7', ranges: [{ name: '/shared/app.ndjson', from: 0, to: 67108864, identity }] },
 * )
 * ```
 * @throws SluiceError as `ingest` does. INPUT_CHANGED and INPUT_REPLACED: an input is not the one that was planned.
 */
export async function ingestRanges(
  options: RangeOptions | OverConnection<RangeOptions>,
  job: RangeJob,
): Promise<Receipt> {
  const given = completed(options)
  return await noted(given, async () => {
    const load = readRangeOptions(given, job)
    const shared = sharedOf(load, given.stateDir)
    return await loadOnce('ranges', { load, shared, isFirstDelivery: job.isFirstDelivery })
  })
}

/**
 * Finds the inputs of a load one by one, and asks the cluster for nothing. Objects come as their server lists them. `cutFrom`: an input of at least so many bytes is looked
 * into, to see whether it can be cut.
 * @throws SluiceError as `ingest` does for its inputs, and INPUT_UNREADABLE for those that no other process can read.
 */
export async function* findInputs(options: IngestOptions, cutFrom: number): AsyncGenerator<FoundInput> {
  const load = readOptions(options)
  refuseSecrets(load)
  using stop = stopSignalsOf(load.stopping, systemClock)
  const tell = listenerOf(load.onEvent)
  await using servers = await openServers(load, { stop, tell })
  const { source, stdin } = load.inputs
  const { from, retrying } = load
  if (from !== undefined) {
    const { planShards } = await loadSpans()
    return yield* planShards({ from, retrying }, stop.signal, message => tell({ type: 'warning', message }))
  }
  const warn = (message: string) => tell({ type: 'warning', message })
  const where = { elsewhere: servers?.elsewhere, warn, ...(stdin === undefined ? {} : { stdin }) }
  yield* planInputs(eachSource(source, where), load, cutFrom, stop.signal)
}

/** Loads the code that reads from servers, if there are any. */
async function openServers({ remote, ...load }: Load, run: Run) {
  if (remote === undefined) return undefined
  const { openRemote } = await import('./features/remote/read-remote.js')
  return openRemote({ ...load, remote }, run)
}

export type { InputRange } from './pipeline/source/ranges.js'
export type { FoundInput, RangeJob, RangeOptions }
