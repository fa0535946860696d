/** Asks the cluster what it would do with documents. It stores nothing. */
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { fail, isSluiceError, quote } from '../../base/failure/failure.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import type { Shape } from './shapes.js'

interface RehearsalRefusal {
  readonly shape: Shape
  readonly type: string
  readonly reason: string
  /** The field that the cluster names. */
  readonly field?: string
}

/** Documents and bytes in one request. */
const AT_ONCE = 100
const BYTES_AT_ONCE = 1 << 20

interface Simulation {
  readonly index: string
  readonly pipeline: string | undefined
  /** Fields that the index will have by then. */
  readonly addition: JsonObject
}

/** Returns the shapes that would be refused. Throws SluiceError: see `call`. */
export async function simulate(
  cluster: Cluster,
  shapes: readonly Shape[],
  { index, pipeline, addition }: Simulation,
): Promise<readonly RehearsalRefusal[]> {
  const refused: RehearsalRefusal[] = []
  const more =
    Object.keys(addition).length === 0 ? '' : `,"mapping_addition":${JSON.stringify({ properties: addition })}`
  for (const part of partsOf(shapes)) {
    const docs = part.map(
      (shape, at) =>
        `{"_index":${JSON.stringify(shape.index ?? index)},"_id":"${at}","_source":${shape.document.toString()}}`,
    )
    const query = {
      filter_path: 'docs.doc._id,docs.doc.error',
      ...(pipeline === undefined ? {} : { pipeline }),
    }
    const body = `{"docs":[${docs.join(',')}]${more}}`
    const { json } = await cluster.call({ method: 'POST', path: '/_ingest/_simulate', query, body })
    const answers = Array.isArray(json['docs']) ? (json['docs'] as unknown[]) : []
    if (answers.length !== part.length)
      throw fail('CLUSTER_NOT_ELASTICSEARCH', {
        cluster: cluster.display,
        observed: `an answer about ${answers.length} documents to a question about ${part.length}`,
      })
    for (const [at, shape] of part.entries()) {
      const error = errorIn(answers[at])
      if (error !== undefined) refused.push({ shape, ...error })
    }
  }
  return refused
}

function* partsOf(shapes: readonly Shape[]): Generator<readonly Shape[]> {
  let part: Shape[] = []
  let bytes = 0
  for (const shape of shapes) {
    if (part.length === AT_ONCE || (part.length > 0 && bytes + shape.document.length > BYTES_AT_ONCE)) {
      yield part
      part = []
      bytes = 0
    }
    part.push(shape)
    bytes += shape.document.length
  }
  if (part.length > 0) yield part
}

function errorIn(answer: unknown): Omit<RehearsalRefusal, 'shape'> | undefined {
  const doc = isObject(answer) && isObject(answer['doc']) ? answer['doc'] : {}
  const { error } = doc
  if (!isObject(error)) return undefined
  const { type, reason } = error
  const said = typeof reason === 'string' ? reason : 'no reason given'
  const field = /field \[([^\]]*)\]|object mapping for \[([^\]]*)\]/.exec(said)
  const named = field?.[1] ?? field?.[2]
  return {
    type: typeof type === 'string' ? type : 'error',
    reason: quote(said),
    ...(named === undefined ? {} : { field: named }),
  }
}

/** Says why the cluster could not be asked, if the load itself may still work. */
export function whyNotAsked(error: unknown): string | undefined {
  if (!isSluiceError(error)) return undefined
  const { code, message, evidence } = error.failure
  if (code === 'CLUSTER_PRIVILEGE_MISSING')
    return `the credentials may not simulate documents. This needs create_doc (${message})`
  const status = evidence['status']
  const isUnknown =
    code === 'INDEX_REQUEST_REFUSED' && (status === 400 || status === 404 || status === 405 || status === 410)
  return isUnknown
    ? `the cluster does not simulate documents (${message}). Elasticsearch 8.12 or later does`
    : undefined
}
