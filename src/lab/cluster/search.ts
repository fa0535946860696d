import { answer, illegalArgument, RequestRefused } from './answers.js'
import { type Exchange, findIndices, parseBody, permit } from './exchange.js'
import { permissions } from './permissions.js'

/** `_search` by ids, the one query of the lab. */
export function answerSearch(exchange: Exchange, expression: string): void {
  if (!permit(exchange, permissions.search, expression)) return
  const { query, size = 10, version, seq_no_primary_term: seqNo, _source: source } = parseBody(exchange.body) as Asked
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
          ...(source !== false && { _source: JSON.parse(stored.bytes.toString()) as unknown }),
          sort: [0],
        },
      ]
    }),
  )
  const _shards = { total: indices.length, successful: indices.length, skipped: 0, failed: 0 }
  const found = { took: 1, timed_out: false, _shards, hits: { max_score: null, hits: hits.slice(0, size) } }
  answer(exchange.response, 200, JSON.stringify(found))
}

interface Asked {
  query?: { ids?: { values: string[] } }
  size?: number
  version?: boolean
  seq_no_primary_term?: boolean
  _source?: boolean
}
