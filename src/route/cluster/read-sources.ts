/** Reads stored documents by their ids, as bytes: numbers keep their digits. */
import { fail } from '../../base/failure/failure.js'
import { ObjectFields, passSpace, passValue } from '../../base/json/parse-json.js'
import type { SourcesQuestion } from './documents.js'
import { callForBytes, type ReachedCluster } from './request.js'

/**
 * Returns the document of each id, in their order. Undefined: there is none, or it cannot be read. Throws SluiceError:
 * INDEX_REQUEST_REFUSED, CLUSTER_*, and every failure of the route. Needs the privilege `read`.
 */
export async function readSources(
  cluster: ReachedCluster,
  { index, wanted, signal }: SourcesQuestion,
): Promise<readonly (Buffer | undefined)[]> {
  const docs = wanted.map(({ id, routing }) => ({ _id: id, ...(routing === undefined ? {} : { routing }) }))
  const answer = await callForBytes(cluster, {
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_mget`,
    body: { docs },
    signal,
  })
  const sources = sourcesIn(answer)
  if (sources?.length === wanted.length) return sources
  const observed = `an answer about ${sources?.length ?? 'no'} documents to a question about ${wanted.length}`
  throw fail('CLUSTER_NOT_ELASTICSEARCH', { cluster: cluster.display, observed })
}

const DOCS = Buffer.from('docs')
const SOURCE = Buffer.from('_source')
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const COMMA = 0x2c

function sourcesIn(answer: Buffer): (Buffer | undefined)[] | undefined {
  const fields = new ObjectFields()
  fields.read(answer, passSpace(answer, 0))
  const list = fields.find(answer, DOCS)
  const start = list === -1 ? -1 : (fields.from[list] as number)
  if (answer[start] !== OPEN_ARRAY) return undefined
  const sources: (Buffer | undefined)[] = []
  for (let at = passSpace(answer, start + 1); answer[at] !== CLOSE_ARRAY;) {
    const end = passValue(answer, at)
    fields.read(answer, at)
    const source = fields.find(answer, SOURCE)
    sources.push(source === -1 ? undefined : answer.subarray(fields.from[source], fields.to[source]))
    at = passSpace(answer, end)
    if (answer[at] === COMMA) at = passSpace(answer, at + 1)
  }
  return sources
}
