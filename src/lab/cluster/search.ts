import { aliasFilter } from './alias-filter.js'
import { answer, illegalArgument, RequestRefused } from './answers.js'
import { type Exchange, findIndices, parseBody, permit } from './exchange.js'
import { compileFilterPath } from './filter-path.js'
import { permissions } from './permissions.js'
import { searchPoint } from './point-in-time.js'
import { type FieldTexts, fieldTexts } from './query/indexed-fields.js'
import type { Matches } from './query/matches.js'
import { type Json, compileQuery, isObject, known } from './query/query.js'
import { type Key, type SortBy, compareKeys, keyOf, keyText, keysAfter, sortsIn } from './query/sorting.js'
import { type SourceFields, chooseFields, sourceFieldsIn } from './query/source-fields.js'
import { beyondLab } from './query/values.js'
import type { Index, Stored } from './store.js'

/** `index.max_result_window`, and the default of `track_total_hits`. */
const WINDOW = 10_000

const parts = ['query', 'size', 'from', 'sort', '_source', 'search_after', 'track_total_hits', 'track_scores', 'version',
  'seq_no_primary_term', 'timeout', 'pit'] // prettier-ignore
/** Parameters without effect on one machine with whole answers. */
const ignored = ['filter_path', 'ignore_unavailable', 'allow_no_indices', 'expand_wildcards', 'allow_partial_search_results',
  'preference', 'routing', 'request_cache', 'typed_keys', 'pretty', 'human', 'error_trace', 'timeout', 'ccs_minimize_roundtrips'] // prettier-ignore
const asParts = ['size', 'from', 'sort', '_source', 'track_total_hits', 'version', 'seq_no_primary_term']

interface Hit {
  readonly index: Index
  readonly id: string
  readonly stored: Stored & { readonly bytes: Buffer }
  readonly keys: readonly Key[]
}

/** `_search`, with the queries and parts that the lab knows. */
export function answerSearch(exchange: Exchange, named: string | undefined): void {
  const asked = known('_search', { ...parseBody(exchange.body), ...partsInUrl(exchange) }, parts)
  if (isObject(asked['pit'])) {
    if (named !== undefined) throw new RequestRefused(withIndex)
    return searchPoint(exchange, { ...asked, pit: asked['pit'] })
  }
  const expression = named ?? '_all'
  if (!permit(exchange, permissions.search, expression)) return
  const [size, from] = [countIn(asked, 'size', 10), countIn(asked, 'from', 0)]
  if (from + size > WINDOW) {
    const reason = `Result window is too large, from + size must be less than or equal to: [${WINDOW}] but was [${from + size}]. See the scroll api for a more efficient way to request large data sets. This limit can be set by changing the [index.max_result_window] index level setting.`
    throw new RequestRefused(illegalArgument(reason))
  }
  const indices = findIndices(exchange, expression)
  const sorts = sortsIn(asked['sort'])
  const filterOf = (index: Index) => compileQuery(aliasFilter(expression, index, exchange.cluster), index.mapping)
  const isAsked = shardsIn(queryOf(exchange).get('preference'))
  const found = indices.flatMap(index => hitsOf(index, asked, sorts, filterOf(index))).filter(isAsked)
  const sorted = sorts.length === 0 ? found : found.toSorted((a, b) => compareKeys(sorts, a.keys, b.keys))
  const shown = sorted.filter(isAfter(asked['search_after'], sorts)).slice(from, from + size)
  const show = { sorts, source: sourceFieldsIn(asked['_source']), ...flagsIn(asked) }
  const isScored = sorts.length === 0 || asked['track_scores'] === true
  const shards = { total: indices.length, successful: indices.length, skipped: 0, failed: 0 }
  const hits = shown.map(hit => hitText(hit, show, isScored)).join(',')
  const total = totalText(found.length, asked['track_total_hits'])
  const best = isScored && found.length > 0 ? '1.0' : 'null'
  const text = `{"took":1,"timed_out":false,"_shards":${JSON.stringify(shards)},"hits":{${total}"max_score":${best},"hits":[${hits}]}}`
  const filter = queryOf(exchange).get('filter_path')
  const kept = filter === null ? text : JSON.stringify(compileFilterPath(filter).apply(JSON.parse(text)) ?? {})
  answer(exchange.response, 200, kept)
}

/** Reads `preference=_shards:0,2|…`: only these shards are searched. Which document is in which shard, the lab decides in its own way. */
function shardsIn(preference: string | null): (hit: Hit) => boolean {
  const [, list] = /^_shards:([\d,]+)/.exec(preference ?? '') ?? []
  if (list === undefined) return () => true
  const asked = new Set(list.split(',').map(Number))
  return ({ index, id }) => {
    const shards = Number(index.settings['number_of_shards'] ?? 1)
    return asked.has(Buffer.from(id).reduce((sum, byte) => sum + byte, 0) % shards)
  }
}

function queryOf({ request }: Exchange): URLSearchParams {
  return new URL(request.url ?? '/', 'http://lab').searchParams
}

/** The parts of a search that its URL has. */
function partsInUrl(exchange: Exchange): Json {
  const url = queryOf(exchange)
  const found: Record<string, unknown> = {}
  for (const [name, value] of url) {
    if (asParts.includes(name)) found[name] = inUrl(name, value)
    else if (!['q', 'df', 'default_operator', '_source_includes', '_source_excludes', ...ignored].includes(name))
      beyondLab(`the parameter [${name}] of _search`)
  }
  const words = { query: url.get('q'), default_field: url.get('df'), default_operator: url.get('default_operator') }
  if (words.query !== null)
    found['query'] = { query_string: Object.fromEntries(Object.entries(words).filter(([, value]) => value !== null)) }
  const [includes, excludes] = [url.get('_source_includes'), url.get('_source_excludes')]
  if (includes !== null || excludes !== null)
    found['_source'] = { includes: includes?.split(',') ?? [], excludes: excludes?.split(',') ?? [] }
  return found
}

function inUrl(name: string, value: string): unknown {
  if (name === 'sort')
    return value.split(',').map(one => {
      const [field = '', order] = one.split(':')
      return order === undefined ? field : { [field]: order }
    })
  if (name === '_source') return value === 'true' || value === 'false' ? value === 'true' : value.split(',')
  if (name === 'size' || name === 'from') return Number(value)
  return value === '' || value === 'true' ? true : value === 'false' ? false : Number(value)
}

function countIn(asked: Json, name: string, usual: number): number {
  const value = asked[name] ?? usual
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value)
  throw new RequestRefused(illegalArgument(`[${name}] parameter cannot be negative, found [${JSON.stringify(value)}]`))
}

/** The documents of an index that match, in the order in which they were first stored. */
function hitsOf(index: Index, asked: Json, sorts: readonly SortBy[], isShown: Matches): Hit[] {
  const matches = compileQuery(asked['query'], index.mapping)
  const keysIn = sorts.map(sort => keyOf(index, sort))
  // A query by ids comes with many documents: reads only those with its ids.
  const { ids } = (asked['query'] ?? {}) as { ids?: { values?: unknown } }
  const candidates = ids === undefined ? index.ids() : new Set([ids.values ?? []].flat().map(String))
  const hits: Hit[] = []
  let place = 0
  for (const id of candidates) {
    const stored = index.get(id)
    if (stored?.bytes === undefined) continue
    const { bytes } = stored
    let read: FieldTexts | undefined
    const texts = (): FieldTexts => (read ??= fieldTexts(bytes))
    const { seqNo } = stored
    if (matches({ id, seqNo, texts }) && isShown({ id, seqNo, texts }))
      hits.push({
        index,
        id,
        stored: { ...stored, bytes },
        keys: keysIn.map(keyIn => keyIn(texts, place, stored.seqNo)),
      })
    place += 1
  }
  return hits
}

function isAfter(given: unknown, sorts: readonly SortBy[]): (hit: Hit) => boolean {
  if (given === undefined) return () => true
  if (!Array.isArray(given) || given.length !== sorts.length || sorts.length === 0)
    throw new RequestRefused(illegalArgument(`search_after has ${[given].flat().length} value(s) but sort has ${sorts.length}.`)) // prettier-ignore
  return ({ index, keys }) => compareKeys(sorts, keys, keysAfter(index, sorts, given)) > 0
}

interface Shown {
  readonly sorts: readonly SortBy[]
  readonly source: SourceFields
  readonly version: boolean
  readonly seqNo: boolean
}

function flagsIn({ version, seq_no_primary_term: seqNo }: Json): { version: boolean; seqNo: boolean } {
  return { version: version === true, seqNo: seqNo === true }
}

/** A whole document stays as it was sent, byte for byte. */
function hitText(
  { index, id, stored, keys }: Hit,
  { sorts, source, version, seqNo }: Shown,
  isScored: boolean,
): string {
  const document = stored.bytes.toString()
  const chosen =
    typeof source === 'object' ? JSON.stringify(chooseFields(JSON.parse(document) as object, source)) : document
  return `{${[
    `"_index":${JSON.stringify(index.name)},"_id":${JSON.stringify(id)}`,
    ...(version ? [`"_version":${stored.version}`] : []),
    ...(seqNo ? [`"_seq_no":${stored.seqNo},"_primary_term":1`] : []),
    `"_score":${isScored ? '1.0' : 'null'}`,
    ...(source === false ? [] : [`"_source":${chosen}`]),
    ...(sorts.length === 0 ? [] : [`"sort":[${sorts.map((sort, at) => keyText(index, sort, keys[at])).join(',')}]`]),
  ].join(',')}}`
}

/** Elasticsearch counts up to 10,000 hits unless it is told otherwise. */
function totalText(count: number, tracked: unknown = WINDOW): string {
  if (tracked === false) return ''
  const most = tracked === true ? Infinity : Number(tracked)
  return `"total":{"value":${Math.min(count, most)},"relation":"${count > most ? 'gte' : 'eq'}"},`
}

const withIndex = {
  status: 400,
  type: 'action_request_validation_exception',
  reason:
    'Validation Failed: 1: [indices] cannot be used with point in time. Do not specify any index with point in time.;',
}
