/** Reads stored documents by their ids, as bytes: numbers keep their digits. */
import { fail } from '../../base/failure/failure.js'
import { ObjectFields, passComma, passObject, passSpace } from '../../base/json/parse-json.js'
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

const SOURCE = Buffer.from('_source')
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

/** Looks at each byte of the answer once. The documents are views of it. */
function sourcesIn(answer: Buffer): (Buffer | undefined)[] | undefined {
  const fields = new ObjectFields()
  let sources: (Buffer | undefined)[] | undefined
  passObject(answer, passSpace(answer, 0), (name, list) => {
    if (name !== 'docs' || answer[list] !== OPEN_ARRAY) return undefined
    const found: (Buffer | undefined)[] = []
    let at = passSpace(answer, list + 1)
    while (at < answer.length && answer[at] !== CLOSE_ARRAY) {
      const end = fields.read(answer, at)
      const source = fields.find(answer, SOURCE)
      found.push(source === -1 ? undefined : answer.subarray(fields.from[source], fields.to[source]))
      at = passComma(answer, end)
    }
    sources = found
    return at + 1
  })
  return sources
}
