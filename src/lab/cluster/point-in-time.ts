import { randomBytes } from 'node:crypto'
import { aliasFilter } from './alias-filter.js'
import { RequestRefused, answer, illegalArgument } from './answers.js'
import { type Exchange, findIndices, parseBody, permit } from './exchange.js'
import { compileFilterPath } from './filter-path.js'
import { permissions } from './permissions.js'
import { fieldTexts } from './query/indexed-fields.js'
import { compileQuery } from './query/query.js'
import type { Held } from './store.js'

/** A page of a search in one. */
interface Asked {
  readonly pit: { readonly id?: unknown; readonly keep_alive?: unknown }
  readonly size?: number
  readonly search_after?: unknown
  readonly sort?: unknown
  readonly track_total_hits?: unknown
  readonly _source?: unknown
}

const mostHits = 10_000
/** A document's place is the number of its shard, and its own within. */
const placesOfShard = 2 ** 32
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** `POST /{index}/_pit?keep_alive=1m` */
export function openPoint(exchange: Exchange, expression: string): void {
  if (!permit(exchange, permissions.point, expression)) return
  const { cluster, request, response } = exchange
  const keepAlive = new URL(request.url ?? '/', 'http://lab').searchParams.get('keep_alive')
  if (keepAlive === null) {
    const reason = 'Validation Failed: 1: [keep_alive] is not specified;'
    throw new RequestRefused({ status: 400, type: 'action_request_validation_exception', reason })
  }
  const held = findIndices(exchange, expression).map(index => {
    const filter = aliasFilter(expression, index, cluster)
    if (filter === undefined) return { index: index.name, ids: index.ids() }
    const isShown = compileQuery(filter, index.mapping)
    const shown = index.entries().filter(([id, bytes, seqNo]) => isShown({ id, seqNo, texts: () => fieldTexts(bytes) }))
    return { index: index.name, ids: shown.map(([id]) => id) }
  })
  const id = randomBytes(48).toString('base64url')
  cluster.points.set(id, { held, expires: performance.now() + durationOf(keepAlive) })
  answer(response, 200, JSON.stringify({ id, _shards: shardsOf(held) }))
}

/** `DELETE /_pit` */
export function closePoint({ cluster, response, body }: Exchange): void {
  const { id } = parseBody(body)
  const succeeded = cluster.points.delete(String(id))
  answer(response, succeeded ? 200 : 404, JSON.stringify({ succeeded: true, num_freed: succeeded ? 1 : 0 }))
}

/** `POST /_search` with a point in time: ids in the order of their places, page by page. */
export function searchPoint({ cluster, request, response }: Exchange, asked: Asked): void {
  const { pit, size = 10, search_after: after, sort, track_total_hits: tracksTotal = false, _source: source } = asked
  if (JSON.stringify(sort) !== '[{"_shard_doc":"asc"}]' || source !== false || typeof pit.id !== 'string')
    throw new RequestRefused(illegalArgument('the lab searches a point in time by place alone, and without sources'))
  if (size > mostHits)
    throw new RequestRefused(illegalArgument(`Result window is too large, from + size must be less than or equal to: [${mostHits}] but was [${size}].`)) // prettier-ignore
  const point = cluster.points.get(pit.id)
  if (point === undefined || point.expires < performance.now()) throw new RequestRefused(missingPoint)
  if (typeof pit.keep_alive === 'string') point.expires = performance.now() + durationOf(pit.keep_alive)
  const hits: unknown[] = []
  const from = Array.isArray(after) ? Number(after[0]) + 1 : 0
  const total = point.held.reduce((sum, { ids }) => sum + ids.length, 0)
  for (const [shard, { index, ids }] of point.held.entries()) {
    const first = Math.max(0, from - shard * placesOfShard)
    for (let at = first; at < ids.length && hits.length < size; at += 1)
      hits.push({ _index: index, _id: ids[at], _score: null, sort: [shard * placesOfShard + at] })
  }
  const found = {
    pit_id: pit.id,
    took: 1,
    timed_out: false,
    _shards: shardsOf(point.held),
    hits: { ...(tracksTotal === true && { total: { value: total, relation: 'eq' } }), max_score: null, hits },
  }
  const filter = new URL(request.url ?? '/', 'http://lab').searchParams.get('filter_path')
  const shown = filter === null ? found : (compileFilterPath(filter).apply(found) ?? {})
  answer(response, 200, JSON.stringify(shown))
}

const missingPoint = {
  status: 404,
  type: 'search_phase_execution_exception',
  reason: 'all shards failed',
  causedBy: { type: 'search_context_missing_exception', reason: 'No search context found for id [1]' },
  more: { phase: 'query', grouped: true },
}

function shardsOf(held: readonly Held[]) {
  return { total: held.length, successful: held.length, skipped: 0, failed: 0 }
}

function durationOf(text: string): number {
  const [, digits, unit = ''] = /^(\d+)(ms|s|m|h|d)$/.exec(text) ?? []
  if (digits === undefined)
    throw new RequestRefused(illegalArgument(`failed to parse setting [keep_alive] with value [${text}] as a time value: unit is missing or unrecognized`)) // prettier-ignore
  return Number(digits) * (units[unit] ?? 1)
}
