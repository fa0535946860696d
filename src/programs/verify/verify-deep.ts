/** Compares what a run stored with the cluster that it read: ids, and the bytes of each document. */
import { fail } from '../../base/failure/failure.js'
import { listenerOf } from '../../base/caller.js'
import { systemClock } from '../../base/time/clock.js'
import { readIndexAgain, readUpTo, type IndexAgain } from '../../features/another-cluster/read-again.js'
import type { FromOptions } from '../../options/ingest-options.js'
import { invalid } from '../../options/option-checks.js'
import { readFrom } from '../../options/read-options.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { openOrigin } from '../../features/another-cluster/open-origin.js'
import { openClusterItself } from '../../route/connect/open-target.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { comparedIndices, type ReadIndex } from './comparable.js'
import { compareDocuments, findStrangers } from './compare-indices.js'
import { comparedInput, firstIds, sumOfCounts } from './compare-tally.js'
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
 * @throws SluiceError OPTION_INVALID, RUN_NOT_FOUND, RUN_UNDONE, RUN_NOT_COMPARABLE, RUN_ELSEWHERE, STATE_UNREADABLE, INPUT_NOT_FOUND, INPUT_UNREADABLE,
 * LOOKUP_REFUSED, INDEX_REQUEST_REFUSED, RUN_INTERRUPTED, PROXY_*, EGRESS_*, CLUSTER_*, GATEWAY_REFUSED.
 */
export async function verifyDeep({ from, ...options }: VerifyDeepOptions): Promise<DeepVerification> {
  const asked = readVerifyOptions(options)
  if (from === undefined) throw invalid('from', 'is not set')
  const { checkpoint, path, others } = await findCheckpoint(asked.stateDir, asked.run)
  const indices = comparedIndices(checkpoint)
  const { timeoutMs, concurrency } = options
  const { signal = new AbortController().signal, connecting, maxElapsedMs, listed, onProgress } = asked
  const names = indices.map(({ name }) => name)
  const reading = readFrom({ from, source: names, timeoutMs, concurrency, signal })
  const { cluster: source } = await openOrigin(reading, signal)
  await using _source = source.route
  const { cluster: target } = await openClusterItself(connecting, signal)
  await using _target = target.route

  const ofCommand = others.flatMap(({ checkpoint: other }) => (other.key === checkpoint.key ? [other] : []))
  const { rejected, notes: unread } = await readRejectedIds([checkpoint, ...ofCommand], names)
  const notes = new Set([...source.warnings, ...sameCluster(checkpoint, target), ...statusNote(checkpoint), ...unread])
  const comparing: Comparing = {
    source,
    target,
    into: new TargetIndices(target, checkpoint.target.index),
    pace: newPace({ maxElapsedMs, signal, inFlight: Math.min(IN_FLIGHT, connecting.concurrency) }),
    maxElapsedMs,
    signal,
    listed,
    warn: message => void notes.add(message),
  }
  const found = await compareAll(comparing, { run: checkpoint.run, indices, rejected, onProgress })
  const only = await onlyInTarget(comparing, indices.length, found.there)
  for (const note of comparing.into.notes()) notes.add(note)
  const counts = sumOfCounts(found.inputs)
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
    inputs: found.inputs,
    checkpoint: path,
    notes: [...notes],
  }
}

interface Comparing extends Patient {
  readonly source: Cluster
  readonly target: Cluster
  readonly into: TargetIndices
  readonly pace: Pace
  readonly listed: number
  warn(message: string): void
}

interface Compared {
  readonly run: string
  readonly indices: readonly ReadIndex[]
  /** Ids by the name of the input. */
  readonly rejected: ReadonlyMap<string, ReadonlySet<string>>
  readonly onProgress: VerifyOptions['onProgress']
}

/** Compares each index. `there`: how many of its documents the target has, in whatever state. */
async function compareAll(
  { source, target, into, listed, ...comparing }: Comparing,
  { run, indices, rejected, onProgress }: Compared,
): Promise<{ readonly inputs: readonly ComparedInput[]; readonly there: number }> {
  const opened = await openAll(source, indices, run, comparing)
  const documents = await countAll(source, indices)
  const tell = listenerOf(onProgress)
  const inputs: ComparedInput[] = []
  let [looked, there] = [0, 0]
  for (const { read, again } of opened) {
    const input = comparedInput(read.name, listed)
    await compareDocuments({
      ...comparing,
      source: again,
      target,
      holders: async ({ index }) => await into.holders(index, read.index),
      wasRead: readUpTo(read.place, read.name),
      wasRejected: id => rejected.get(read.name)?.has(id) === true,
      compared: (id, outcome, isThere) => {
        input.add(id, outcome)
        if (isThere) there += 1
        looked += 1
      },
      listDone: () => tell(looked, Math.max(looked, documents)),
    })
    inputs.push(input.result())
  }
  return { inputs, there }
}

/** Finds documents that only the target has. `there`: how many documents of all `indices` it has. */
async function onlyInTarget({ source, target, into, listed, ...comparing }: Comparing, indices: number, there: number) {
  const only = firstIds(listed)
  const isOnlyOne = indices === 1 && into.origins.size === 1
  for (const [index, origins] of into.origins) {
    await target.indices.refresh(index)
    // Two numbers show at once that there are none.
    if (isOnlyOne && (await target.indices.count(index)).documents === there) continue
    const walked = await readIndexAgain({ ...comparing, cluster: target, index, query: { _source: false } })
    await findStrangers({ ...comparing, target: walked, source, origins: [...origins], stranger: only.add })
  }
  return only
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
  { maxElapsedMs, signal }: Patient,
): Promise<readonly { readonly read: ReadIndex; readonly again: IndexAgain }[]> {
  const here = cluster.preflight.info?.uuid ?? cluster.display
  const opened: { readonly read: ReadIndex; readonly again: IndexAgain }[] = []
  for (const read of indices) {
    const { index, uuid, query, cluster: there } = read
    const refuse = (why: string) => fail('RUN_NOT_COMPARABLE', { run, why })
    if (there !== here) throw refuse(`${cluster.display} is another cluster than the one that it read`)
    const again = await readIndexAgain({ maxElapsedMs, signal, cluster, index, query })
    if (again.uuid !== uuid) throw refuse(`${index} was deleted and made anew since`)
    opened.push({ read, again })
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
  return new Pace({ ...patience, most: 1, inFlight, clock: systemClock, wallClock: Date.now, random: Math.random })
}

function statusNote({ status }: Checkpoint): string[] {
  if (status === 'finished') return []
  return [status === 'running' ? 'the run is still running, or was killed' : 'the run is not finished']
}
