/** Shares indices of another cluster among workers: finds their shards, and opens spans of the sequence numbers of one. */
import { keyOf } from '../../base/checksum/tokens.js'
import { fail, isSluiceError } from '../../base/failure/failure.js'
import type { IndexDescription, Source } from '../../base/flow.js'
import { isObject } from '../../base/json/parse-json.js'
import type { FromSection, RetrySection } from '../../options/load.js'
import type { InputRange, RangeList } from '../../pipeline/source/ranges.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { findBoundary } from './find-boundary.js'
import { findIndices, type FoundIndex } from './find-indices.js'
import { indexSource } from './index-source.js'
import { doubtOf, rebuilt } from './messages.js'
import { openOrigin } from './open-origin.js'

interface Sections {
  readonly from: FromSection
  readonly retrying: Pick<RetrySection, 'maxElapsedMs'>
}

interface FoundShard {
  /** As the user named the index. Limits of workers look at it. */
  readonly name: string
  /** Stored bytes. An estimate if the cluster does not show them. */
  readonly size: number
  readonly identity: string
  readonly canBeCut: true
  /** Sequence numbers, from 0 on. */
  readonly numbers: number
}

/** Yields the shards that hold documents. `warn`: hears why some may be left out. Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE, CLUSTER_*, and every failure of the route. */
export async function* planShards(
  { from, retrying }: Sections,
  signal: AbortSignal,
  warn: (message: string) => void,
): AsyncGenerator<FoundShard> {
  const { cluster } = await openOrigin(from, signal)
  try {
    for (const name of from.names)
      for (const found of await findIndices(cluster, { ...from, names: [name] })) {
        const { upTo, doubt } = await findBoundary({ ...found, ...retrying, cluster, signal })
        if (doubt !== undefined) warn(doubtOf(doubt))
        const stored = await storedBytes(cluster, found.index)
        for (const [shard, last] of upTo.entries()) {
          const numbers = last + 1
          if (numbers === 0) continue
          const size = stored?.[shard] ?? numbers * USUAL_BYTES
          const identity = `shard ${shard} ${tokenOf(found)}`
          yield { name: `${PREFIX}${name}`, size, identity, canBeCut: true, numbers }
        }
      }
  } finally {
    await cluster.route.destroy()
  }
}

const PREFIX = 'elasticsearch:'
/** Of a document, if the cluster does not show how many a shard stores. */
const USUAL_BYTES = 1000

/** Another index, another query and another filter of an alias have another one. */
function tokenOf({ uuid, query }: FoundIndex): string {
  return keyOf([uuid, query ?? {}])
}

/** Returns undefined if the credentials do not suffice: ranges are then cut by a guess. */
async function storedBytes(cluster: Cluster, index: string): Promise<readonly (number | undefined)[] | undefined> {
  try {
    const { json } = await cluster.call({
      method: 'GET',
      path: `/${encodeURIComponent(index)}/_stats/store`,
      query: { level: 'shards', filter_path: 'indices.*.shards.*.store.size_in_bytes' },
    })
    const shards = at(at(at(json, 'indices'), index), 'shards')
    return isObject(shards) ? Object.keys(shards).map((_, shard) => bytesOf(shards[String(shard)])) : undefined
  } catch (error) {
    if (isSluiceError(error)) return undefined
    throw error
  }
}

/** Each copy of a shard stores about the same. */
function bytesOf(copies: unknown): number | undefined {
  const bytes = Array.isArray(copies) ? at(at(copies[0], 'store'), 'size_in_bytes') : undefined
  return Number.isSafeInteger(bytes) && Number(bytes) > 0 ? Number(bytes) : undefined
}

function at(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

export interface DescribedIndices {
  /** The indices behind each input, by its name. */
  readonly describes: ReadonlyMap<string, readonly IndexDescription[]>
  readonly warnings: readonly string[]
}

/** Looks at the indices before a load begins. Throws as `planShards`. */
export async function describeIndices(from: FromSection, signal: AbortSignal): Promise<DescribedIndices> {
  const { cluster } = await openOrigin(from, signal)
  try {
    const warnings = new Set(cluster.warnings)
    const describes = new Map<string, readonly IndexDescription[]>()
    for (const name of from.names) {
      const found = await findIndices(cluster, { ...from, names: [name] })
      for (const message of rebuilt(found)) warnings.add(message)
      describes.set(
        `${PREFIX}${name}`,
        found.map(one => one.describes),
      )
    }
    return { describes, warnings: [...warnings] }
  } finally {
    await cluster.route.destroy()
  }
}

interface Opening extends Sections {
  readonly cluster: Cluster
  /** Finds the indices behind a name. `isAnew`: as they are now. */
  find(name: string, isAnew: boolean): Promise<readonly FoundIndex[]>
}

/**
 * Opens spans of shards that another process has planned. Only the indices behind the name of an input are looked at, so a plan that
 * somebody has changed leads to no other one. Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE, OPTION_INVALID.
 */
export async function openSpans({ run, ranges }: RangeList, opening: Opening): Promise<Source[]> {
  const sources: Source[] = []
  for (const [id, range] of ranges.entries()) sources.push(await openSpan(id, { run, range }, opening))
  return sources
}

async function openSpan(
  id: number,
  { run, range }: { readonly run: string; readonly range: InputRange },
  { cluster, retrying, find }: Opening,
): Promise<Source> {
  const { name, identity, from = 0, to = 0 } = range
  const [, shard = '', token] = FORM.exec(identity) ?? []
  if (token === undefined)
    throw fail('OPTION_INVALID', { option: 'ranges', problem: `give ${name} an identity of another kind of input` })
  const among = (indices: readonly FoundIndex[]) => indices.find(one => tokenOf(one) === token)
  const index = name.slice(PREFIX.length)
  const found = among(await find(index, false)) ?? among(await find(index, true))
  if (found === undefined) throw fail('INPUT_CHANGED', { input: name, run, did: 'planned to load it', observed: GONE })
  const upTo = Array.from({ length: found.shards }, (_, number) => (number === Number(shard) ? to - 1 : -1))
  const span = { after: new Map(from === 0 ? [] : [[Number(shard), from - 1]]), upTo }
  const source = indexSource({ ...found, ...retrying, id, cluster, span, doubted: () => undefined })
  return { ...source, seen: identity }
}

const GONE = 'the index that the job has found is not behind this name any more, or an alias shows another part of it'
const FORM = /^shard (\d{1,5}) ([\da-f]{32})$/
