/** Finds how far an index is read, so that a load can end and a later one continue there without a gap. */
import { isSluiceError } from '../../base/failure/failure.js'
import { isObject } from '../../base/json/parse-json.js'
import { systemClock } from '../../base/time/clock.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { type Patience, patiently } from './patience.js'

interface Bounded extends Patience {
  readonly cluster: Cluster
  readonly index: string
  readonly shards: number
}

interface Boundary {
  /** The last sequence number that is read of each shard. -1: none. */
  readonly upTo: readonly number[]
  /** Why a document that is written at this time could be left out. Undefined: none can be. */
  readonly doubt?: string
}

/** An index may save writes only each few seconds. Without a refresh, the cluster counts them as complete within 30 seconds. */
const LONGEST_WAIT_MS = 45_000
const WAIT_MS = 500

/**
 * Up to the global checkpoint of a shard, each copy has every write, and no number can be given to another document. A refresh then
 * shows them all. Each document has only one number, so none comes twice up to this boundary. Throws every failure of the route.
 */
export async function findBoundary(bounded: Bounded): Promise<Boundary> {
  const { cluster, index } = bounded
  const complete = await completeNumbers(bounded)
  const unrefreshed = await cluster.indices.refresh(index)
  if (!Array.isArray(complete)) return { upTo: await highestNumbers(bounded), doubt: complete }
  if (unrefreshed === undefined) return { upTo: complete }
  return { upTo: complete, doubt: `Sluice could not refresh the index (${unrefreshed.code})` }
}

/** Sequence numbers of the primary of a shard. */
interface ShardNumbers {
  /** The highest that was given. */
  readonly given: number
  /** The highest up to which every copy has every write: the global checkpoint. */
  readonly complete: number
}

/** Returns the numbers once every copy has what was written before, or why that cannot be seen. */
async function completeNumbers(bounded: Bounded): Promise<number[] | string> {
  const { cluster, index, signal } = bounded
  const then = await numbersOf(bounded)
  const began = systemClock.now()
  for (let now = then; ;) {
    if (now === undefined || then === undefined) return 'the credentials lack the privilege monitor'
    if (!isBehind(now, then)) return now.map(({ complete }) => complete)
    if (systemClock.now() - began > LONGEST_WAIT_MS) return 'a copy of a shard lacks writes'
    // With a refresh, the copies tell the primary which writes they have saved.
    await cluster.indices.refresh(index)
    now = await numbersOf(bounded)
    if (now !== undefined && isBehind(now, then)) await systemClock.sleep(WAIT_MS, signal)
  }
}

function isBehind(now: readonly ShardNumbers[], then: readonly ShardNumbers[]): boolean {
  return now.some(({ complete }, shard) => complete < (then[shard]?.given ?? -1))
}

/** Returns undefined if the cluster does not show the numbers of each shard. */
async function numbersOf(bounded: Bounded): Promise<readonly ShardNumbers[] | undefined> {
  const { cluster, index, shards } = bounded
  try {
    const { json } = await patiently(
      bounded,
      async () =>
        await cluster.call({
          method: 'GET',
          path: `/${encodeURIComponent(index)}/_stats/docs`,
          query: { level: 'shards', filter_path: 'indices.*.shards.*.seq_no,indices.*.shards.*.routing.primary' },
        }),
    )
    const numbers = Array.from({ length: shards }, (_, shard) => numbersIn(json, index, shard))
    return numbers.every(one => one !== undefined) ? numbers : undefined
  } catch (error) {
    if (isSluiceError(error) && REFUSALS.has(error.code)) return undefined
    throw error
  }
}

/** Serverless has no such question, and the credentials may lack the privilege for it. */
const REFUSALS: ReadonlySet<string> = new Set(['CLUSTER_PRIVILEGE_MISSING', 'INDEX_REQUEST_REFUSED', 'GATEWAY_REFUSED'])

function numbersIn(answer: unknown, index: string, shard: number): ShardNumbers | undefined {
  const copies = inside(answer, 'indices', index, 'shards', String(shard))
  const primary = Array.isArray(copies)
    ? (copies as unknown[]).find(copy => inside(copy, 'routing', 'primary') === true)
    : undefined
  const given = inside(primary, 'seq_no', 'max_seq_no')
  const complete = inside(primary, 'seq_no', 'global_checkpoint')
  const isKnown = Number.isSafeInteger(given) && Number.isSafeInteger(complete)
  return isKnown ? { given: Number(given), complete: Number(complete) } : undefined
}

function inside(value: unknown, ...names: readonly string[]): unknown {
  return names.reduce((at, name) => (isObject(at) ? at[name] : undefined), value)
}

async function highestNumbers(bounded: Bounded): Promise<number[]> {
  const { cluster, index, shards, signal } = bounded
  const numbers: number[] = []
  for (let shard = 0; shard < shards; shard += 1)
    numbers.push(await patiently(bounded, async () => await cluster.documents.highestNumber({ index, shard, signal })))
  return numbers
}
