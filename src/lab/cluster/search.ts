import { answer, illegalArgument, RequestRefused } from './answers.js'
import { type Exchange, findIndices, parseBody, permit } from './exchange.js'
import { permissions } from './permissions.js'
import { searchPoint } from './point-in-time.js'

/** `_search` by ids, or of a point in time: the queries of the lab. */
export function answerSearch(exchange: Exchange, named: string | undefined): void {
  const asked = parseBody(exchange.body) as Asked
  const { query, size = 10, version, seq_no_primary_term: seqNo, _source: source, pit } = asked
  if (pit !== undefined) {
    if (named !== undefined) throw new RequestRefused(withIndex)
    return searchPoint(exchange, { ...asked, pit })
  }
  const expression = named ?? '_all'
  if (!permit(exchange, permissions.search, expression)) return
  const ids = query?.ids?.values
  if (ids === undefined) throw new RequestRefused(illegalArgument('the lab searches by ids alone'))
  const indices = findIndices(exchange, expression)
  const hits = indices.flatMap(index =>
    ids.flatMap(id => {
      const stored = index.get(id)
      if (stored?.bytes === undefined) return []
      return [
        {
          _index: index.name,
          _id: id,
          ...(version === true && { _version: stored.version }),
          ...(seqNo === true && { _seq_no: stored.seqNo, _primary_term: 1 }),
          _score: null,
          ...(source !== false && { _source: chosenFields(JSON.parse(stored.bytes.toString()) as object, source) }),
          sort: [0],
        },
      ]
    }),
  )
  const _shards = { total: indices.length, successful: indices.length, skipped: 0, failed: 0 }
  const found = { took: 1, timed_out: false, _shards, hits: { max_score: null, hits: hits.slice(0, size) } }
  answer(exchange.response, 200, JSON.stringify(found))
}

/** Returns only the named fields, by their whole names. */
export function chosenFields(document: object, source: true | readonly string[] = true): object {
  if (source === true) return document
  return Object.fromEntries(Object.entries(document).filter(([name]) => source.includes(name)))
}

const withIndex = {
  status: 400,
  type: 'action_request_validation_exception',
  reason:
    'Validation Failed: 1: [indices] cannot be used with point in time. Do not specify any index with point in time.;',
}

interface Asked {
  query?: { ids?: { values: string[] } }
  size?: number
  version?: boolean
  seq_no_primary_term?: boolean
  _source?: boolean | readonly string[]
  pit?: { id?: unknown; keep_alive?: unknown }
  search_after?: unknown
  sort?: unknown
  track_total_hits?: unknown
}
