import { type Checkpoint, isSameCluster } from '../state/checkpoint.js'
import { knownRuns } from '../state/runs.js'
import { sameOptions } from '../state/plan-run.js'
import type { RunClaim } from '../state/run-identity.js'

export interface ReplayClaim extends RunClaim, Pick<Checkpoint, 'sources' | 'options'> {
  /** Its name, if it has one. */
  readonly runId: string | undefined
}

/**
 * Refuses a replay to one place for all documents while another replay of the same files is half sent: documents would go there in
 * part, and here as a whole. Each of the two has a checkpoint of its own. Throws SluiceError RUN_OPTIONS_CHANGED, STATE_UNREADABLE.
 */
export async function refuseOtherReplay(replay: ReplayClaim): Promise<void> {
  // Stdin is something else each time.
  if (replay.sources.includes('-')) return
  const { known } = await knownRuns(replay.stateDir)
  for (const { path, checkpoint: other } of known) {
    if (path !== replay.path && isHalfSent(other) && isOfSame(other, replay)) sameOptions(other, replay.options)
  }
}

function isHalfSent({ status, counts, isDoubtful }: Checkpoint): boolean {
  return status !== 'finished' && (counts.read > 0 || isDoubtful)
}

function isOfSame({ run, options, sources, target }: Checkpoint, { runId, ...replay }: ReplayClaim): boolean {
  const areSameSources =
    sources.length === replay.sources.length && sources.every((name, at) => name === replay.sources[at])
  const isSameReplay = options['ids'] === replay.options['ids'] && (runId === undefined || run === runId)
  return isSameReplay && isSameCluster(target, replay.target) && areSameSources
}
