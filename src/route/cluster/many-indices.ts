/** Asks about many indices with few requests. */
import type { Failure } from '../../base/failure/failure.js'
import { jsonIn } from './answers.js'
import type { IndexSeen } from './indices.js'
import { readSettings, refreshed, seeIndex, SHOWN } from './one-index.js'
import { type ReachedCluster, inquire } from './request.js'

/** The uuids of a few dozen names fit many times. */
const ANSWER_BYTES = 1 << 20
/** Bytes of the names in one URL. A cluster takes 4096 for the whole first line of a request. */
const NAMES_BYTES = 2000

/** Puts names into as few URLs as they fit in. */
export function* inUrls(names: readonly string[]): Generator<readonly string[]> {
  let part: string[] = []
  let bytes = 0
  for (const name of names) {
    const more = encodeURIComponent(name).length + 1
    if (part.length > 0 && bytes + more > NAMES_BYTES) {
      yield part
      part = []
      bytes = 0
    }
    part.push(name)
    bytes += more
  }
  if (part.length > 0) yield part
}

/** Asks for the uuids of many indices, with few requests. Never throws. */
export async function seeIndices(
  cluster: ReachedCluster,
  names: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, IndexSeen>> {
  const seen = new Map<string, IndexSeen>()
  for (const part of inUrls(names)) {
    for (const [name, one] of await seenOf(cluster, part, signal)) seen.set(name, one)
  }
  // Without a uuid a name may be missing, an alias, a data stream, or nothing that the credentials may see.
  let refused: IndexSeen | undefined
  for (const name of names) {
    if (seen.has(name)) continue
    const one = refused ?? (await seeIndex(cluster, name, signal))
    if (one.kind === 'unreadable') refused = one
    seen.set(name, one)
  }
  return seen
}

/**
 * Asks for the uuids of indices that were behind a name. `name`: the answer about that name, which credentials may read that may not ask
 * for an index itself. Never throws.
 */
export async function seeBehind(
  cluster: ReachedCluster,
  name: IndexSeen | undefined,
  indices: readonly string[],
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, IndexSeen>> {
  const seen = new Map<string, IndexSeen>()
  if (name?.kind === 'name') {
    const { behind, uuids, kind: _, ...shown } = name
    for (const [at, index] of behind.entries()) seen.set(index, { ...shown, kind: 'index', uuid: uuids[at] ?? '' })
  }
  const left = indices.filter(index => !seen.has(index))
  for (const [index, one] of await seeIndices(cluster, left, signal)) seen.set(index, one)
  return seen
}

/** Returns those names that are indices. Returns none if there is no answer. */
async function seenOf(
  cluster: ReachedCluster,
  names: readonly string[],
  signal: AbortSignal | undefined,
): Promise<readonly (readonly [string, IndexSeen])[]> {
  const path = `/${names.map(encodeURIComponent).join(',')}/_settings/${SHOWN}`
  const query = { ignore_unavailable: 'true' }
  const asking = { method: 'GET', path, query, maxAnswerBytes: ANSWER_BYTES, signal } as const
  const answer = await inquire(cluster, asking).catch(() => undefined)
  if (answer?.statusCode !== 200) return []
  return Object.entries(jsonIn(answer)).flatMap(([name, described]) => {
    const seen = readSettings({ [name]: described }, name, cluster.display)
    return seen.kind === 'index' && names.includes(name) ? [[name, seen] as const] : []
  })
}

/** Makes all stored documents of many indices findable. Those that are missing need nothing. */
export async function refreshAll(cluster: ReachedCluster, names: readonly string[]): Promise<Failure | undefined> {
  for (const part of inUrls(names)) {
    const failed = await refreshed(cluster, part.map(encodeURIComponent).join(','), { ignore_unavailable: 'true' })
    if (failed !== undefined) return failed
  }
  return undefined
}
