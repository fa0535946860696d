import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { hiddenNote } from './look-at-indices.js'
import { type OpenRun, openRun } from './open-run.js'
import { readStillRejected, type StillRejected } from './rejected-numbers.js'
import { lookUpIds } from './run-ids.js'
import { newTally, type Tallied } from './tally.js'
import { type VerifyOptions, readVerifyOptions } from './verify-options.js'

export type { ComparedCounts, ComparedInput, VerifiedInput, VerifyOptions } from './verify-options.js'

/** The account of a run, as the cluster gives it. */
export interface Verification extends Tallied {
  readonly run: string
  readonly status: Checkpoint['status']
  /** No document is missing, foreign or doubled. */
  readonly ok: boolean
  readonly cluster: string
  readonly index: string
  readonly checkpoint: string
  readonly notes: readonly string[]
}

/**
 * Looks up every document of a run in the cluster by its id. Needs only the checkpoint, not the input.
 *
 * ```ts
 * const { ok, missing } = await verify({ run: receipt.run, stateDir, target: { url, apiKey }, proxy })
 * ```
 * Does not throw if documents are missing.
 * @throws SluiceError OPTION_INVALID, RUN_NOT_FOUND, RUN_UNDONE, RUN_IDS_UNKNOWN, RUN_ELSEWHERE, STATE_UNREADABLE, LOOKUP_REFUSED, RUN_INTERRUPTED,
 * PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED.
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const asked = readVerifyOptions(options)
  await using run = await openRun(asked)
  const { cluster, index, checkpoint, path } = run
  const still = await stillRejected(run)
  const tally = newTally({ ...run, still, counts: checkpoint.counts, listed: asked.listed })
  await lookUpIds(run, tally)
  const tallied = tally.result()
  const { missing, foreign, doubled, unsettled } = tallied
  const cut = 'Sluice sent the unsettled documents before the run stopped. The same command finds their outcome'
  return {
    run: checkpoint.run,
    status: checkpoint.status,
    ok: missing + foreign + doubled === 0,
    cluster: cluster.display,
    index,
    ...tallied,
    checkpoint: path,
    notes: [
      ...run.notes,
      ...(still?.notes ?? run.lettersNotes),
      ...(unsettled === 0 ? [] : [cut]),
      ...(missing === 0 ? [] : hiddenNote(run)),
    ],
  }
}

/** Reads which documents are rejected even if their id is there. An id of Sluice belongs to one document, other ids may belong to several. */
async function stillRejected({
  readIds,
  path,
  checkpoint,
  others,
  inputs,
}: OpenRun): Promise<StillRejected | undefined> {
  if (readIds === undefined) return undefined
  const own = { path, checkpoint, stamp: undefined, isEarlier: false, isForgotten: false }
  return await readStillRejected(checkpoint, inputs, [own, ...others])
}
