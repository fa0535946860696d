import { RequestRefused, answer, noSuchIndex } from './answers.js'
import { applyBulk } from './bulk.js'
import { type Exchange, parseBody, permit } from './exchange.js'
import { permissions } from './permissions.js'
import { type SourceFields, chooseFields } from './query/source-fields.js'
import { known } from './query/query.js'

/** `/{index}/_doc/{id}`, `/{index}/_source/{id}` and `/{index}/_create/{id}`. */
export function answerDocument(
  exchange: Exchange,
  method: string,
  index: string,
  kind: string,
  id: string | undefined,
): void {
  if (method === 'GET' && id !== undefined)
    return kind === '_source' ? answerSource(exchange, index, id) : answerGet(exchange, index, id)
  if (method === 'DELETE' && id !== undefined) return answerWrite(exchange, 'delete', index, id)
  if (method === 'PUT' || method === 'POST')
    return answerWrite(exchange, kind === '_create' ? 'create' : 'index', index, id)
  answer(
    exchange.response,
    405,
    JSON.stringify({ error: `Incorrect HTTP method for uri [${exchange.path}]`, status: 405 }),
  )
}

function answerGet(exchange: Exchange, index: string, id: string): void {
  if (!permit(exchange, permissions.get, index)) return
  const found = describe(exchange, index, id, sourceIn(exchange))
  if (!found) throw new RequestRefused(noSuchIndex(index))
  answer(exchange.response, found.exists ? 200 : 404, found.body)
}

function answerSource(exchange: Exchange, index: string, id: string): void {
  if (!permit(exchange, permissions.get, index)) return
  const stored = exchange.cluster.named(index)?.get(id)
  if (stored?.bytes) return answer(exchange.response, 200, stored.bytes)
  const reason = `Document not found [${index}]/[${id}]`
  throw new RequestRefused({ status: 404, type: 'resource_not_found_exception', reason })
}

/** `_mget` by ids or docs. */
export function answerMget(exchange: Exchange, index: string | undefined): void {
  const asked = parseBody(exchange.body) as {
    ids?: string[]
    docs?: { _index?: string; _id: string; _source?: unknown }[]
  }
  const docs = asked.docs ?? (asked.ids ?? []).map(id => ({ _id: id, _index: undefined, _source: undefined }))
  for (const name of new Set(docs.map(doc => doc._index ?? index))) {
    if (!permit(exchange, permissions.get, name)) return
  }
  const bodies = docs.map(doc => {
    const name = doc._index ?? index ?? ''
    const withSource = doc._source !== false && sourceIn(exchange)
    return describe(exchange, name, doc._id, withSource)?.body ?? Buffer.from(missingIndex(name, doc._id))
  })
  const parts = bodies.flatMap((body, i) => (i === 0 ? [body] : [Buffer.from(','), body]))
  answer(exchange.response, 200, Buffer.concat([Buffer.from('{"docs":['), ...parts, Buffer.from(']}')]))
}

/** The fields that a request asks for: all, some, or none. */
function sourceIn(exchange: Exchange): SourceFields {
  const query = queryOf(exchange)
  const names = query.get('_source_includes')
  return query.get('_source') !== 'false' && (names === null || { includes: names.split(','), excludes: [] })
}

function queryOf({ request }: Exchange): URLSearchParams {
  return new URL(request.url ?? '/', 'http://lab').searchParams
}

/**
 * Describes one document as GET and _mget do: its source byte for byte, unless the request selects fields. Undefined
 * if the index is missing.
 */
function describe(
  { cluster }: Exchange,
  name: string,
  id: string,
  withSource: SourceFields,
): { exists: boolean; body: Buffer } | undefined {
  const index = cluster.named(name)
  if (!index) return undefined
  const stored = index.get(id)
  const start = `{"_index":${JSON.stringify(index.name)},"_id":${JSON.stringify(id)}`
  if (!stored?.bytes) return { exists: false, body: Buffer.from(`${start},"found":false}`) }
  const about = `${start},"_version":${stored.version},"_seq_no":${stored.seqNo},"_primary_term":1,"found":true`
  const shown =
    typeof withSource === 'boolean'
      ? stored.bytes
      : Buffer.from(JSON.stringify(chooseFields(JSON.parse(stored.bytes.toString()) as object, withSource)))
  const source = withSource === false ? [] : [Buffer.from(',"_source":'), shown]
  return { exists: true, body: Buffer.concat([Buffer.from(about), ...source, Buffer.from('}')]) }
}

function missingIndex(index: string, id: string): string {
  const { type, reason, more } = noSuchIndex(index)
  const error = { type, reason, ...more }
  return JSON.stringify({ _index: index, _id: id, error: { root_cause: [error], ...error } })
}

/** `POST /{index}/_update/{id}` */
export function answerUpdate(exchange: Exchange, method: string, index: string, id: string): void {
  if (method === 'POST') return answerWrite(exchange, 'update', index, id)
  const error = `Incorrect HTTP method for uri [${exchange.path}] and method [${method}], allowed: [POST]`
  answer(exchange.response, 405, JSON.stringify({ error, status: 405 }), { headers: { Allow: 'POST' } })
}

/** Parameters that the action line of a bulk request has too. */
const ofAction = [
  'if_seq_no',
  'if_primary_term',
  'version',
  'version_type',
  'routing',
  'pipeline',
  'require_alias',
  'retry_on_conflict',
]
/** Parameters without effect on one machine that refreshes at once. */
const without = ['refresh', 'timeout', 'wait_for_active_shards', 'op_type', 'pretty', 'human', 'error_trace', 'include_source_on_error'] // prettier-ignore

/** A single write is a bulk request of one item. */
function answerWrite(
  exchange: Exchange,
  asked: 'index' | 'create' | 'delete' | 'update',
  index: string,
  id: string | undefined,
): void {
  const query = queryOf(exchange)
  known('a single write', Object.fromEntries(query), [...ofAction, ...without])
  const operation = asked === 'index' && query.get('op_type') === 'create' ? 'create' : asked
  const settings = ofAction.flatMap(name => {
    const value = query.get(name)
    return value === null
      ? []
      : [[name, /^\d+$/.test(value) ? Number(value) : value === 'true' ? true : value] as const]
  })
  const about = { _index: index, ...(id !== undefined && { _id: id }), ...Object.fromEntries(settings) }
  const action = `${JSON.stringify({ [operation]: about })}\n`
  const document =
    operation === 'delete'
      ? []
      : [Buffer.from(exchange.body.toString('latin1').replaceAll(/[\r\n]+/g, ' '), 'latin1'), Buffer.from('\n')]
  const { cluster, faults, principal } = exchange
  const body = Buffer.concat([Buffer.from(action), ...document])
  const plain = {
    requireAlias: false,
    requireDataStream: false,
    pipeline: undefined,
    refreshed: ['', 'true', 'wait_for'].includes(query.get('refresh') ?? 'false'),
    quoteSource: query.get('include_source_on_error') !== 'false',
  }
  const written = JSON.parse(applyBulk(cluster, faults, { body, index, principal, filter: undefined, ...plain })) as {
    items: Record<string, { status: number; error?: Record<string, unknown> }>[]
  }
  const item = written.items[0]?.[operation] ?? { status: 500 }
  const { status, error, ...rest } = item
  const answered = error ? { error: { root_cause: [error], ...error }, status } : rest
  answer(exchange.response, status, JSON.stringify(answered))
}
