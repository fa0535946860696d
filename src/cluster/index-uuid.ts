import { quote } from '../failure/quote.js'
import { inquire } from './inquire.js'
import type { Cluster } from './open-cluster.js'

/** What stands behind an index name. */
export type IndexSeen =
  | { readonly kind: 'index'; readonly uuid: string }
  /** An alias or a data stream, which stays when the indices behind it change: a rollover adds one. */
  | { readonly kind: 'name'; readonly behind: readonly string[] }
  | { readonly kind: 'missing' }
  /** The credentials may not ask, or the answer is none that is known. */
  | { readonly kind: 'unreadable'; readonly observed: string }

/** A few names stand behind an alias, hundreds at most. */
const ANSWER_BYTES = 1 << 20

/** Asks for the uuid of an index: a deleted and recreated one has another. Never throws: nothing depends on the answer but care. */
export async function seeIndex(
  cluster: Pick<Cluster, 'client' | 'bounds'>,
  index: string,
  signal?: AbortSignal,
): Promise<IndexSeen> {
  const path = `/${encodeURIComponent(index)}/_settings/index.uuid`
  const aborting = signal === undefined ? {} : { signal }
  try {
    const { statusCode, body } = await inquire(cluster, {
      method: 'GET',
      path,
      maxAnswerBytes: ANSWER_BYTES,
      ...aborting,
    })
    if (statusCode === 404) return { kind: 'missing' }
    if (statusCode !== 200) return { kind: 'unreadable', observed: `status ${statusCode}` }
    return readSettings(JSON.parse(body.toString('utf8')), index)
  } catch {
    return { kind: 'unreadable', observed: 'no answer' }
  }
}

interface Settings {
  readonly settings?: { readonly index?: { readonly uuid?: unknown } }
}

/** What is no answer of `_settings` is not taken for one: each name in it has a uuid. */
function readSettings(answer: unknown, index: string): IndexSeen {
  const found = typeof answer === 'object' && answer !== null ? Object.entries(answer) : []
  const uuids = found.map(([, one]) => (one as Settings | null)?.settings?.index?.uuid)
  const [uuid] = uuids
  if (typeof uuid !== 'string' || uuids.some(one => typeof one !== 'string'))
    return { kind: 'unreadable', observed: 'an answer without a uuid' }
  // An alias or a data stream answers with the names behind it.
  if (!found.some(([name]) => name === index)) return { kind: 'name', behind: found.map(([name]) => name) }
  return { kind: 'index', uuid: quote(uuid) }
}
