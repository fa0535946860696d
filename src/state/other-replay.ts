import { isSluiceError } from '../failure/sluice-error.js'
import type { Checkpoint, Target } from './checkpoint.js'
import { checkpointPaths, readCheckpoint, runsFolder } from './checkpoint-file.js'
import { sameOptions } from './plan-run.js'

export interface KnownReplay extends Pick<Checkpoint, 'sources' | 'options'> {
  /** Of its checkpoint. */
  readonly path: string
  /** Its name, if it has one. */
  readonly runId: string | undefined
  readonly target: Pick<Target, 'clusterUuid' | 'url'>
}

/**
 * A replay that is told where all of its documents go has a checkpoint of its own. Were the same files left half sent to
 * somewhere else, they would go there in part and here as a whole. Throws SluiceError RUN_OPTIONS_CHANGED, STATE_UNREADABLE.
 */
export async function refuseOtherReplay(stateDir: string, replay: KnownReplay): Promise<void> {
  // What comes from stdin is something else each time.
  if (replay.sources.includes('-')) return
  for (const path of await checkpointPaths(runsFolder(stateDir))) {
    if (path === replay.path) continue
    const other = await readCheckpoint(path).catch(ignoreUnreadable)
    if (other !== undefined && isHalfSent(other) && isOfSame(other, replay)) sameOptions(other, replay.options)
  }
}

function isHalfSent({ status, counts, isDoubtful }: Checkpoint): boolean {
  return status !== 'finished' && (counts.read > 0 || isDoubtful)
}

function isOfSame({ run, options, sources, target }: Checkpoint, { runId, ...replay }: KnownReplay): boolean {
  const { clusterUuid, url } = replay.target
  const isSameCluster = clusterUuid === undefined ? target.url === url : target.clusterUuid === clusterUuid
  const areSameSources =
    sources.length === replay.sources.length && sources.every((name, at) => name === replay.sources[at])
  const isSameReplay = options['ids'] === replay.options['ids'] && (runId === undefined || run === runId)
  return isSameReplay && isSameCluster && areSameSources
}

/** What another command cannot read stops that command alone. */
function ignoreUnreadable(error: unknown): undefined {
  if (!isSluiceError(error)) throw error
}
