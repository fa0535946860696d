import { rejectedNumbers } from './rejected-numbers.js'
import { type OpenRun, openRun } from './open-run.js'
import { sweep } from './sweep.js'
import { newTally } from './tally.js'
import type { Verification } from './verification.js'
import { type VerifyOptions, type VerifySection, readVerifyOptions } from './verify-options.js'
import { listenerOf } from '../options/listener.js'

/**
 * Looks up every document of a run in the cluster by its id. Needs only the checkpoint, not the input.
 *
 * ```ts
 * const { ok, missing } = await verify({ run: receipt.run, stateDir, target: { url, apiKey }, proxy })
 * ```
 * Does not throw if documents are missing.
 * @throws SluiceError OPTION_INVALID, RUN_NOT_FOUND, RUN_IDS_UNKNOWN, RUN_ELSEWHERE, STATE_UNREADABLE,
 * LOOKUP_REFUSED, RUN_INTERRUPTED,
 * PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED.
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const asked = readVerifyOptions(options)
  const { listed, signal } = asked
  const run = await openRun(asked)
  try {
    const { cluster, inputs, by, pace, checkpoint, path } = run
    const { rejected, notes } = await readRejected(run)
    const tally = newTally({ inputs, counts: checkpoint.counts, rejected, listed })
    const progress = progressOf(asked, run)
    await sweep({
      cluster,
      index: checkpoint.target.index,
      by,
      inputs,
      pace,
      ...(signal === undefined ? {} : { signal }),
      settled: sightings => {
        tally.settled(sightings)
        progress(sightings.length)
      },
      beyond: sightings => tally.beyond(sightings),
    })
    const tallied = tally.result()
    const { missing, foreign, doubled, unsettled } = tallied
    return {
      run: checkpoint.run,
      status: checkpoint.status,
      ok: missing + foreign + doubled === 0,
      cluster: cluster.display,
      index: checkpoint.target.index,
      ...tallied,
      checkpoint: path,
      notes: [
        ...run.notes,
        ...notes,
        ...(unsettled === 0
          ? []
          : ['Sluice sent the unsettled documents before the run stopped: the same command settles them']),
      ],
    }
  } finally {
    await run.cluster.route.destroy()
  }
}

/** Returns the numbers of rejected documents by token, as far as the run's dead letters show them. */
export async function readRejected({ checkpoint, inputs }: Pick<OpenRun, 'checkpoint' | 'inputs'>) {
  const none = new Map<string, ReadonlySet<number>>()
  const { counts, deadLetters } = checkpoint
  if (counts.rejected === 0) return { rejected: none, notes: [] }
  const said = 'Sluice cannot tell which documents were rejected:'
  if (deadLetters === undefined) return { rejected: none, notes: [`${said} no dead letters were written`] }
  const rejected = await rejectedNumbers(deadLetters.path, deadLetters.length, inputs)
  if (typeof rejected === 'string') return { rejected: none, notes: [`${said} ${deadLetters.path} ${rejected}`] }
  return { rejected, notes: [] }
}

/** Counts the documents that were looked up, and reports them. */
export function progressOf(
  { onProgress }: Pick<VerifySection, 'onProgress'>,
  { inputs }: OpenRun,
): (more: number) => void {
  const documents = inputs.reduce((sum, { first, last }) => sum + Math.max(0, last - first + 1), 0)
  const tell = listenerOf(onProgress)
  let lookedUp = 0
  return more => {
    lookedUp += more
    tell(lookedUp, documents)
  }
}
