/** Compares what a run stored with the cluster that it read: ids, and the bytes of each document. */
import { fail } from '../../base/failure/failure.js'
import { listenerOf } from '../../base/caller.js'
import { systemClock } from '../../base/time/clock.js'
import { readAgain, readUpTo, type IndexAgain } from '../../features/another-cluster/read-again.js'
import type { FromOptions } from '../../options/ingest-options.js'
import { invalid } from '../../options/option-checks.js'
import { readFrom } from '../../options/read-options.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { openClusterItself } from '../../route/connect/open-target.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { comparedIndices, type ReadIndex } from './comparable.js'
import { compareDocuments, findStrangers } from './compare-indices.js'
import { comparedInput, firstIds, sumOf } from './compare-tally.js'
import { findCheckpoint } from './find-checkpoint.js'
import { sameCluster } from './open-run.js'
import { Pace } from './pace.js'
import { readRejectedIds } from './rejected-ids.js'
import { TargetIndices } from './target-indices.js'
import { type ComparedCounts, type ComparedInput, readVerifyOptions, type VerifyOptions } from './verify-options.js'

/** Selects a run, and how to reach both of its clusters. */
export interface VerifyDeepOptions extends VerifyOptions {
  /** The cluster that the run read. */
  readonly from: Omit<FromOptions, 'query'>
}

/** How two clusters differ. `documents` = `equal` + `rejected` + `missing` + `different` + `unread`. */
export interface DeepVerification extends ComparedCounts {
  readonly run: string
  readonly status: Checkpoint['status']
  /** No document is missing, different or only in the target. */
  readonly ok: boolean
  /** The URL of the cluster that was read. */
  readonly from: string
  readonly cluster: string
  readonly index: string
  /** Documents of the target that the source does not hold (any more). */
  readonly onlyInTarget: number
  /** The first of them. */
  readonly onlyInTargetIds: readonly string[]
  readonly inputs: readonly ComparedInput[]
  readonly checkpoint: string
  readonly notes: readonly string[]
}

const IN_FLIGHT = 4

/**
 * Reads every document that a run has read from another cluster, and compares it with the one in the target, byte for byte.
 *
 * ```ts
 * const { ok, different, missingIds } = await verifyDeep({ run, stateDir, target: { url, apiKey }, from: { url: old } })
 * ```
 * Does not throw if documents differ.
 * @throws SluiceError OPTION_INVALID, RUN_NOT_FOUND, RUN_NOT_COMPARABLE, RUN_ELSEWHERE, STATE_UNREADABLE, INPUT_NOT_FOUND, INPUT_UNREADABLE,
 * LOOKUP_REFUSED, INDEX_REQUEST_REFUSED, RUN_INTERRUPTED, PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED.
 */
export async function verifyDeep({ from, ...options }: VerifyDeepOptions): Promise<DeepVerification> {
  const asked = readVerifyOptions(options)
  if (from === undefined) throw invalid('from', 'is not set')
  const { checkpoint, path, others } = await findCheckpoint(asked.stateDir, asked.run)
  const indices = comparedIndices(checkpoint)
  const { timeoutMs, concurrency } = options
  const { signal = new AbortController().signal, connecting, maxElapsedMs, listed, onProgress } = asked
  const reading = readFrom({ from, source: indices.map(({ name }) => name), timeoutMs, concurrency, signal })
  const { cluster: source } = await openClusterItself(reading.connecting, signal, { isReadOnly: true })
  await using _source = source.route
  const { cluster: target } = await openClusterItself(connecting, signal)
  await using _target = target.route

  const runs = [checkpoint, ...others.filter(one => one.checkpoint.key === checkpoint.key).map(one => one.checkpoint)]
  const { rejected, notes: unread } = await readRejectedIds(
    runs,
    indices.map(({ name }) => name),
  )
  const notes = new Set([...source.warnings, ...sameCluster(checkpoint, target), ...statusNote(checkpoint), ...unread])
  const warn = (message: string) => void notes.add(message)
  const pace = newPace({ maxElapsedMs, signal, inFlight: Math.min(IN_FLIGHT, connecting.concurrency) })
  const into = new TargetIndices(target, checkpoint.target.index)

  const again = await openAll(source, indices, checkpoint.run, { maxElapsedMs, signal })
  const tell = listenerOf(onProgress)
  const documents = await countAll(source, indices)
  let looked = 0
  let there = 0
  const inputs: ComparedInput[] = []
  for (const [at, read] of indices.entries()) {
    const input = comparedInput(read.name, listed)
    await compareDocuments({
      source: again[at] as IndexAgain,
      target,
      holders: async ({ index }) => await into.holders(index, read.index),
      wasRead: readUpTo(read.place, read.name),
      wasRejected: id => rejected.get(read.name)?.has(id) === true,
      pace,
      signal,
      warn,
      compared: (id, outcome, isThere) => {
        input.add(id, outcome)
        if (isThere) there += 1
        looked += 1
      },
      listDone: () => tell(looked, Math.max(looked, documents)),
    })
    inputs.push(input.result())
  }

  const only = firstIds(listed)
  const isOnlyOne = indices.length === 1 && into.origins.size === 1
  for (const [index, origins] of into.origins) {
    // One request shows that there are none.
    await target.indices.refresh(index)
    if (isOnlyOne && (await target.indices.count(index)).documents === there) continue
    const query = { _source: false }
    const walked = await readAgain({ cluster: target, index, query, maxElapsedMs, signal })
    await findStrangers({ target: walked, source, origins: [...origins], pace, signal, warn, stranger: only.add })
  }
  for (const name of into.missing) warn(`the index ${name} no longer exists`)
  for (const name of into.piped) warn(`${name} has an ingest pipeline of its own, which may have changed documents`)
  const counts = sumOf(inputs)
  return {
    run: checkpoint.run,
    status: checkpoint.status,
    ok: counts.missing + counts.different + only.count === 0,
    from: source.display,
    cluster: target.display,
    index: checkpoint.target.index,
    ...counts,
    onlyInTarget: only.count,
    onlyInTargetIds: only.list,
    inputs,
    checkpoint: path,
    notes: [...notes],
  }
}

interface Patient {
  readonly maxElapsedMs: number
  readonly signal: AbortSignal
}

/** Throws SluiceError RUN_NOT_COMPARABLE if these are not the indices that the run has read. */
async function openAll(
  cluster: Cluster,
  indices: readonly ReadIndex[],
  run: string,
  patience: Patient,
): Promise<readonly IndexAgain[]> {
  const here = cluster.preflight.info?.uuid ?? cluster.display
  const opened: IndexAgain[] = []
  for (const { index, uuid, query, cluster: there } of indices) {
    const refuse = (why: string) => fail('RUN_NOT_COMPARABLE', { run, why })
    if (there !== here) throw refuse(`${cluster.display} is another cluster than the one that it read`)
    const again = await readAgain({ ...patience, cluster, index, query })
    if (again.uuid !== uuid) throw refuse(`${index} was deleted and made anew since`)
    opened.push(again)
  }
  return opened
}

/** Counts what is to be compared, as far as searches show it now. */
async function countAll(cluster: Cluster, indices: readonly ReadIndex[]): Promise<number> {
  let sum = 0
  for (const { index, query } of indices)
    sum += (await cluster.indices.count(index, query['query'] as object)).documents
  return sum
}

/** A request asks for a whole list, and its documents have some megabytes. */
function newPace({ inFlight, ...patience }: Patient & { readonly inFlight: number }): Pace {
  const { now: wallClock } = Date
  return new Pace({ ...patience, most: 1, inFlight, clock: systemClock, wallClock, random: Math.random })
}

function statusNote({ status }: Checkpoint): string[] {
  if (status === 'finished') return []
  return [status === 'running' ? 'the run is still running, or was killed' : 'the run is not finished']
}
