import type { IndexSeen } from '../../route/cluster/indices.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { type Checkpoint, isSameCluster } from '../../run/state/checkpoint/checkpoint.js'
import { type LostIndices, isIndexLost, lostHolders } from '../../run/state/resume/lost-index.js'
import { ReplayBatcher } from '../../pipeline/bulk/replay-batcher.js'
import type { DocumentSection, StateSection } from '../../options/load.js'
import { mayRunTwice } from '../destinations/run-script.js'
import type { Feature } from '../../run/loop/hooks.js'
import { readDocumentAgain } from './read-again.js'
import { UndoneLetters } from './undone-letters.js'
import { knownRuns } from '../../run/state/runs/runs.js'
import { sameOptions, type RunClaim } from '../../run/state/resume/plan.js'

/** One place for all dead letters, instead of their own. */
export interface Redirection {
  readonly index?: string
  readonly pipeline?: string
}

interface Sections {
  readonly state: StateSection
  readonly documents: DocumentSection
}

/** Reads the inputs as dead letters. Each goes to its original index, unless the redirection names another. */
export function sendDeadLetters(
  redirection: Redirection,
  { state: { runId, stateDir, again }, documents: { resendUnknown } }: Sections,
): Feature {
  return ({ stop, tell }) => {
    let mayHaveSent = ''
    const undone = new UndoneLetters()
    const replays = new Set<string>()
    const seen = new Map<string, Promise<IndexSeen>>()
    const seeOnce = async (cluster: Cluster, index: string) => {
      const asked = seen.get(index) ?? cluster.indices.see(index, stop.signal)
      seen.set(index, asked)
      return await asked
    }
    return {
      identify: plain => {
        const options = { ids: 'replay', ...redirection }
        return {
          ...plain,
          // Dead letters name their own index, unless the redirection names one for all.
          scope: redirection.index ?? '',
          kind: 'replay',
          options,
          replays,
          plan: async planning => {
            if (stateDir !== undefined && !again) await undone.look(stateDir)
            const plan = await plain.plan(planning)
            if (plan.isDoubtful && !resendUnknown) mayHaveSent = `replay ${plan.run}`
            return plan
          },
          repeatsIds: true,
          doubt: 'documents without an id that Sluice was sending when the replay stopped may be stored twice',
          refuse: async claim => {
            await refuseOtherReplay({ ...claim, runId, sources: plain.sources, options })
          },
          lost: async (last, _seen, cluster) =>
            await lostDestinations(last, cluster, async index => await seeOnce(cluster, index)),
        }
      },
      frame: (framing, ledger) =>
        new ReplayBatcher({
          ...framing,
          ...redirection,
          heard: run => replays.add(run),
          isUndone: run => undone.take(run),
          allowScript: () => {
            if (mayHaveSent !== '') throw mayRunTwice(mayHaveSent)
          },
          readAgain: async stored => await readDocumentAgain(stored, stop.signal),
          longRecord: async (input, head) => await ledger.longRecord(input, head),
        }),
      complete: async () => {
        for (const message of undone.says()) tell({ type: 'warning', message })
        return await Promise.resolve(undefined)
      },
    }
  }
}

/** Returns the indices with stored dead letters that were deleted or recreated since then. */
async function lostDestinations(
  run: Checkpoint,
  cluster: Cluster,
  see: (index: string) => Promise<IndexSeen>,
): Promise<LostIndices | undefined> {
  const { target, status } = run
  const { destinations = [] } = target
  const lost = await Promise.all(
    destinations.map(async ({ index, indexUuid }) => {
      const seen = await see(index)
      const mayBeCopied = seen.kind === 'name' && status === 'finished'
      return isIndexLost(indexUuid, seen, true) && !mayBeCopied ? [index] : []
    }),
  )
  const behind = await lostHolders(run, undefined, cluster)
  const indices = [...new Set([...lost.flat(), ...(behind?.indices ?? [])])]
  if (indices.length === 0) return undefined
  const isPart = lost.flat().length < destinations.length && behind?.isPart !== false
  // A finished replay is not sent again because an old index of many was removed.
  return { indices, isPart, startsAfresh: !isPart || status !== 'finished' }
}

interface ReplayClaim extends RunClaim, Pick<Checkpoint, 'sources' | 'options'> {
  /** Its name, if it has one. */
  readonly runId: string | undefined
}

/**
 * Refuses a replay to one place for all documents while another replay of the same files is half sent: documents would go there in
 * part, and here as a whole. Each of the two has a checkpoint of its own. Throws SluiceError RUN_OPTIONS_CHANGED, STATE_UNREADABLE.
 */
async function refuseOtherReplay(replay: ReplayClaim): Promise<void> {
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
