/** Finds the index that takes the documents sent to a name, and makes one if the name is new. */
import { indicesBehind } from './alias.js'
import type { IndexFacts, WriteIndex } from './indices.js'
import { type ReachedCluster, call } from './request.js'
import type { JsonObject } from '../../base/json/parse-json.js'

/** Throws SluiceError: see `call`. */
export async function findWriteIndex(cluster: ReachedCluster, name: string): Promise<WriteIndex> {
  const found = await indicesBehind(cluster, name)
  const [only] = found
  if (only === undefined) return {}
  const own = found.find(one => one.name === name)
  if (own !== undefined) return { facts: own }
  const streams = [...new Set(found.map(({ stream }) => stream))]
  const [stream] = streams
  if (streams.length > 1) return { problem: `${name} is an alias of several data streams` }
  if (stream !== undefined) return lastOf(stream, found)
  const writers = found.filter(({ aliases }) => aliases[name]?.['is_write_index'] === true)
  const [writer] =
    writers.length > 0 ? writers : found.filter(({ aliases }) => aliases[name]?.['is_write_index'] !== false)
  if (writer !== undefined && (writers.length > 0 || found.length === 1)) return { facts: writer }
  return { problem: `${name} is an alias of ${found.length} indices, and none of them is its write index` }
}

/** Returns the index of a data stream with the highest generation. Its name ends with it. */
function lastOf(stream: string, found: readonly IndexFacts[]): WriteIndex {
  const generation = ({ name }: IndexFacts) => Number(/-(\d+)$/.exec(name)?.[1] ?? 0)
  const own = found.filter(({ name }) => name.startsWith(`.ds-${stream}-`))
  const [facts] = own.toSorted((one, other) => generation(other) - generation(one))
  return facts === undefined ? { problem: `the data stream ${stream} shows no write index` } : { facts }
}

/**
 * Makes a data stream, whose mapping comes from an index template. Returns why no template makes one. Undefined: there is one now, or
 * the first document makes it. Throws SluiceError: see `call`.
 */
export async function makeStream(cluster: ReachedCluster, name: string): Promise<string | undefined> {
  // A cluster may make data streams only for documents, and credentials may allow only that.
  const expects = [400, 405, 'resource_already_exists_exception', 'illegal_argument_exception', 'security_exception']
  const path = `/_data_stream/${encodeURIComponent(name)}`
  const { type, reason } = await call(cluster, { method: 'PUT', path, expects })
  return type === 'illegal_argument_exception' && /template/.test(reason) ? reason : undefined
}

/**
 * Makes the index as the first document would: templates apply, and may make it a data stream. An index that exists stays as it is. A
 * cluster that makes data streams only for documents makes none.
 * Throws SluiceError: see `call`.
 */
export async function makeNamed(cluster: ReachedCluster, name: string, body: JsonObject = {}): Promise<void> {
  const path = `/${encodeURIComponent(name)}`
  const expects = [
    'resource_already_exists_exception',
    ...(Object.keys(body).length === 0 ? ['illegal_argument_exception'] : []),
  ]
  const { type, reason } = await call(cluster, { method: 'PUT', path, body, expects })
  if (type !== 'illegal_argument_exception') return
  const isStream = /data stream/.test(reason)
  const stream = { method: 'PUT', path: `/_data_stream${path}`, expects: [400, 405] } as const
  await call(cluster, isStream ? stream : { method: 'PUT', path, body })
}
