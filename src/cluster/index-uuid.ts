import { type Failure, failure } from '../failure/failure.js'
import { quote } from '../failure/quote.js'
import { inquire } from './inquire.js'
import { whyUnanswered } from './lost-answer.js'
import { nameRefusal } from './name-refusal.js'
import type { Cluster } from './open-cluster.js'
import { type Answer, whoAnswered } from './who-answered.js'

/** What stands behind an index name. */
export type IndexSeen =
  | { readonly kind: 'index'; readonly uuid: string }
  /** An alias or a data stream, which stays when the indices behind it change: a rollover adds one. */
  | { readonly kind: 'name'; readonly behind: readonly string[] }
  | { readonly kind: 'missing' }
  /** The credentials may not ask, or there is no answer, or none that is known. */
  | { readonly kind: 'unreadable'; readonly observed: string; readonly failure: Failure }

/** A few names stand behind an alias, hundreds at most. */
const ANSWER_BYTES = 1 << 20

/** Asks for the uuid of an index: a deleted and recreated one has another. Never throws: nothing depends on the answer but care. */
export async function seeIndex(
  cluster: Pick<Cluster, 'client' | 'display' | 'route' | 'bounds'>,
  index: string,
  signal?: AbortSignal,
): Promise<IndexSeen> {
  const path = `/${encodeURIComponent(index)}/_settings/index.uuid`
  const aborting = signal === undefined ? {} : { signal }
  let answer: Answer
  try {
    answer = await inquire(cluster, { method: 'GET', path, maxAnswerBytes: ANSWER_BYTES, ...aborting })
  } catch (error) {
    return { kind: 'unreadable', observed: 'no answer', failure: whyUnanswered(error, cluster.display) }
  }
  const { statusCode, body } = answer
  if (statusCode === 404) return { kind: 'missing' }
  if (statusCode === 200) return readSettings(parse(body), index, cluster.display)
  const named = nameRefusal(answer, whoAnswered(answer, cluster.route), cluster.display)
  return { kind: 'unreadable', observed: `status ${statusCode}`, failure: named }
}

interface Settings {
  readonly settings?: { readonly index?: { readonly uuid?: unknown } }
}

/** What is no answer of `_settings` is not taken for one: each name in it has a uuid. */
function readSettings(answer: unknown, index: string, cluster: string): IndexSeen {
  const found = typeof answer === 'object' && answer !== null ? Object.entries(answer) : []
  const uuids = found.map(([, one]) => (one as Settings | null)?.settings?.index?.uuid)
  const [uuid] = uuids
  if (typeof uuid !== 'string' || uuids.some(one => typeof one !== 'string')) {
    const observed = 'an answer without a uuid'
    return { kind: 'unreadable', observed, failure: failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed }) }
  }
  // An alias or a data stream answers with the names behind it.
  if (!found.some(([name]) => name === index)) return { kind: 'name', behind: found.map(([name]) => name) }
  return { kind: 'index', uuid: quote(uuid) }
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return undefined
  }
}
