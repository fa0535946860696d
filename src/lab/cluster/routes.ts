import { aliasFilter } from './alias-filter.js'
import { answerAlias, answerAliases } from './alias-routes.js'
import { RequestRefused, answer, illegalArgument } from './answers.js'
import { answerBulk, answerPlanted } from './bulk-route.js'
import { answerDocument, answerMget, answerUpdate } from './document-routes.js'
import { type Exchange, findIndices, parseBody, permit } from './exchange.js'
import { answerIndex, answerMapping, answerSettings } from './index-routes.js'
import { answerRollover, answerStream } from './stream-routes.js'
import { hasPrivileges, permissions } from './permissions.js'
import { answerPipeline } from './pipelines.js'
import { closePoint, openPoint } from './point-in-time.js'
import { fieldTexts } from './query/indexed-fields.js'
import { compileQuery } from './query/query.js'
import { beyondLab } from './query/values.js'
import { answerSearch } from './search.js'
import { describePrincipal } from './security.js'
import { answerSimulation } from './simulate-route.js'
import { answerStats } from './stats-route.js'
import { answerTemplate } from './template-routes.js'
import { describeVersion } from './version.js'

/** Answers a request by its method and path. Throws RequestRefused. */
export async function handle(exchange: Exchange): Promise<void> {
  const { request, response, path } = exchange
  const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET')
  const names = path.split('/').filter(Boolean).map(decode)
  const [first = '', second, third] = names

  if (names.length === 0) return answerRoot(exchange)
  if (first === '_bulk' || (second === '_bulk' && names.length === 2)) {
    if (method !== 'POST' && method !== 'PUT') return wrongMethod(exchange, 'POST, PUT')
    return answerBulk(exchange, first === '_bulk' ? undefined : first)
  }
  if (path === '/v1/logs' || path === '/v1/metrics' || path === '/v1/traces' || first === '_otlp')
    return answer(response, 200, '{}')
  if (first === '_security') return answerSecurity(exchange, method, names)
  if (first === '_cluster' && second === 'health') return answerHealth(exchange)
  if (first === '_count' || second === '_count') return answerCount(exchange, first === '_count' ? '_all' : first)
  if (first === '_refresh' || second === '_refresh')
    return answerRefresh(exchange, first === '_refresh' ? '_all' : first)
  if (first === '_aliases') return method === 'POST' ? answerAliases(exchange) : wrongMethod(exchange, 'POST')
  if (first === '_alias' && method === 'GET') return answerAlias(exchange, '_all', second)
  const isSearch = first === '_search' || second === '_search'
  if (isSearch || first === '_mget' || second === '_mget') {
    const planted = exchange.faults.strike('lookup')
    if (planted) return answerPlanted(response, planted)
    if (isSearch) return answerSearch(exchange, first === '_search' ? undefined : first)
    return answerMget(exchange, first === '_mget' ? undefined : first)
  }
  if (first === '_ingest' && names.at(-1) === '_simulate')
    return answerSimulation(exchange, third === undefined ? undefined : second)
  if (first === '_ingest' && second === 'pipeline' && third !== undefined)
    return answerPipeline(exchange, method, third)
  if (first === '_index_template') return answerTemplate(exchange, method, second)
  if (first === '_data_stream' && second !== undefined) return answerStream(exchange, method, second)
  if (first === '_pit') return method === 'DELETE' ? closePoint(exchange) : wrongMethod(exchange, 'DELETE')
  if (second === '_pit') return method === 'POST' ? openPoint(exchange, first) : wrongMethod(exchange, 'POST')
  if (isUnknownApi(first, second)) return beyondLab(`the API [${request.method} ${path}]`)
  if (first.startsWith('_')) {
    const reason = `Invalid index name [${first}], must not start with '_'.`
    throw new RequestRefused({
      status: 400,
      type: 'invalid_index_name_exception',
      reason,
      more: { index_uuid: '_na_', index: first },
    })
  }
  if (names.length === 1) return answerIndex(exchange, method, first)
  if (second === '_rollover' && method === 'POST' && names.length === 2) return answerRollover(exchange, first)
  if (second === '_settings') return answerSettings(exchange, method, first)
  if (second === '_stats' && method === 'GET') return answerStats(exchange, first)
  if (second === '_mapping') return answerMapping(exchange, method, first)
  if (second === '_alias' && method === 'GET') return answerAlias(exchange, first, third)
  if (['_doc', '_source', '_create'].includes(second ?? ''))
    return answerDocument(exchange, method, first, second ?? '', third)
  if (second === '_update' && third !== undefined) return answerUpdate(exchange, method, first, third)
  if (second?.startsWith('_') === true) return beyondLab(`the API [${request.method} ${path}]`)
  answer(
    response,
    400,
    JSON.stringify({ error: `no handler found for uri [${request.url}] and method [${request.method}]` }),
  )
}

/** APIs of Elasticsearch that the lab lacks. Other names with an underscore are refused as names of indices. */
const apis =
  /^_(?:analyze|async_search|autoscaling|cat|ccr|cluster|component_template|data_stream|delete_by_query|enrich|eql|features|field_caps|flush|forcemerge|ilm|inference|ingest|internal|license|lifecycle|mapping|ml|monitoring|msearch|mtermvectors|nodes|query|rank_eval|reindex|remote|render|resolve|rollup|script_language|scripts|search_shards|segments|settings|shard_stores|slm|snapshot|sql|ssl|stats|synonyms|tasks|template|transform|update_by_query|validate|watcher|xpack)$/

function isUnknownApi(first: string, second: string | undefined): boolean {
  return apis.test(first) || (first.startsWith('_') && second !== undefined)
}

function answerRoot(exchange: Exchange): void {
  if (!permit(exchange, permissions.main)) return
  const { cluster, response } = exchange
  const isServerless = cluster.version === 'serverless'
  const about = {
    name: isServerless ? 'serverless' : 'instance-0000000001',
    cluster_name: 'sluice-lab',
    cluster_uuid: cluster.uuid,
    version: describeVersion(cluster.version),
    tagline: 'You Know, for Search',
  }
  answer(response, 200, `${JSON.stringify(about, null, 2)}\n`)
}

function answerSecurity(exchange: Exchange, method: string, names: readonly string[]): void {
  const { principal, response, body } = exchange
  const what = names.slice(1).join('/')
  if (what === '_authenticate' && method === 'GET')
    return answer(response, 200, JSON.stringify(describePrincipal(principal)))
  if (what === 'user/_has_privileges')
    return answer(response, 200, JSON.stringify(hasPrivileges(principal, parseBody(body))))
  beyondLab(`the API [${exchange.request.method} ${exchange.path}]`)
}

function answerHealth(exchange: Exchange): void {
  if (!permit(exchange, permissions.health)) return
  const health = {
    cluster_name: 'sluice-lab',
    status: 'green',
    timed_out: false,
    number_of_nodes: 1,
    number_of_data_nodes: 1,
  }
  answer(exchange.response, 200, JSON.stringify(health))
}

function answerCount(exchange: Exchange, expression: string): void {
  if (!permit(exchange, permissions.count, expression)) return
  const found = findIndices(exchange, expression)
  const { query } = parseBody(exchange.body)
  const count = found.reduce((sum, index) => {
    const filter = aliasFilter(expression, index, exchange.cluster)
    if (query === undefined && filter === undefined) return sum + index.count
    const both = [query, filter].map(one => compileQuery(one, index.mapping))
    const isCounted = ([id, bytes, seqNo]: [string, Buffer, number]) =>
      both.every(matches => matches({ id, seqNo, texts: () => fieldTexts(bytes) }))
    return sum + index.entries().filter(isCounted).length
  }, 0)
  const _shards = { total: found.length, successful: found.length, skipped: 0, failed: 0 }
  answer(exchange.response, 200, JSON.stringify({ count, _shards }))
}

function answerRefresh(exchange: Exchange, expression: string): void {
  if (!permit(exchange, permissions.refresh, expression)) return
  const { length } = findIndices(exchange, expression)
  answer(exchange.response, 200, JSON.stringify({ _shards: { total: length * 2, successful: length, failed: 0 } }))
}

function wrongMethod({ request, response, path }: Exchange, allowed: string): void {
  const error = `Incorrect HTTP method for uri [${path}] and method [${request.method}], allowed: [${allowed}]`
  answer(response, 405, JSON.stringify({ error, status: 405 }), { headers: { Allow: allowed.replaceAll(' ', '') } })
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new RequestRefused(illegalArgument(`unterminated escape sequence at end of string: ${segment}`))
  }
}
