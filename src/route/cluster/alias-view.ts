/** Finds the names in which a search sees every document. An alias may show only some of those that were stored through it. */
import { isObject } from '../../base/json/parse-json.js'
import { jsonIn } from './answers.js'
import type { IndexSeen, View } from './indices.js'
import { mayRead } from './privileges.js'
import { type ReachedCluster, inquire } from './request.js'

/** `unknown`: the credentials may not ask. */
type Shown = 'all' | 'part' | 'unknown'

const ANSWER_BYTES = 1 << 20

/**
 * Returns the name, or the indices behind an alias that shows only a part of them. Throws SluiceError CLUSTER_PRIVILEGE_MISSING if the
 * credentials may not search these.
 */
export async function viewOf(cluster: ReachedCluster, name: string, seen: IndexSeen | undefined): Promise<View> {
  if (seen?.kind !== 'name') return { names: [name], mayHide: seen?.kind === 'unreadable' }
  const shown = await shownBy(cluster, name)
  if (shown !== 'part') return { names: [name], mayHide: shown === 'unknown' }
  await mayRead(cluster, seen.behind, `${name} is an alias that hides documents, so Sluice cannot look them up`)
  return { names: seen.behind, mayHide: false }
}

/** Returns whether an alias has a filter, or searches only some shards. A data stream shows all. Never throws. */
async function shownBy(cluster: ReachedCluster, alias: string): Promise<Shown> {
  const name = encodeURIComponent(alias)
  try {
    const path = `/${name}/_alias/${name}`
    const answer = await inquire(cluster, { method: 'GET', path, maxAnswerBytes: ANSWER_BYTES })
    if (answer.statusCode === 404) return 'all'
    if (answer.statusCode !== 200) return 'unknown'
    return Object.values(jsonIn(answer)).some(described => isNarrow(described, alias)) ? 'part' : 'all'
  } catch {
    return 'unknown'
  }
}

/** A routing value for searches leaves out shards. */
function isNarrow(described: unknown, alias: string): boolean {
  const aliases = isObject(described) ? described['aliases'] : undefined
  const properties = isObject(aliases) ? aliases[alias] : undefined
  return isObject(properties) && (properties['filter'] !== undefined || properties['search_routing'] !== undefined)
}
