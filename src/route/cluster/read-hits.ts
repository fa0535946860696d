/** Reads documents of one shard, in the order of their sequence numbers. The bytes of each hit stay as the cluster sent them. */
import { fail } from '../../base/failure/failure.js'
import { ObjectFields, passSpace, passValue } from '../../base/json/parse-json.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import type { HitsPage, HitsQuestion } from './documents.js'
import { callForBytes } from './request.js'
import type { ReachedCluster } from './request.js'

/** Throws SluiceError: INDEX_REQUEST_REFUSED, CLUSTER_*, and every failure of the route. Needs the privilege `read`. */
export async function readHits(cluster: ReachedCluster, asked: HitsQuestion): Promise<HitsPage> {
  const { index, shard, after, query, size, signal } = asked
  const answer = await callForBytes(cluster, {
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_search`,
    // The same word asks the same copy of the shard, which shows no older state than before.
    query: { preference: `_shards:${shard}|sluice-reads`, allow_partial_search_results: 'false' },
    body: {
      ...query,
      size,
      sort: [{ _seq_no: 'asc' }],
      track_total_hits: false,
      ...(after === undefined ? {} : { search_after: [after] }),
    },
    signal,
  })
  return hitsIn(answer, cluster.display)
}

const HITS = Buffer.from('hits')
const SORT = Buffer.from('sort')
const TIMED_OUT = Buffer.from('timed_out')
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const COMMA = 0x2c
const TRUE = 0x74

/** Copies the hits out of an answer. Only line feeds between the parts of a hit become spaces. */
function hitsIn(answer: Buffer, cluster: string): HitsPage {
  const strange = (observed: string) => fail('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed })
  const outer = new ObjectFields()
  outer.read(answer, passSpace(answer, 0))
  const late = outer.find(answer, TIMED_OUT)
  if (late !== -1 && answer[outer.from[late] as number] === TRUE)
    throw fail('CLUSTER_UNAVAILABLE', { cluster, observed: 'a search ran out of time' })
  const top = outer.find(answer, HITS)
  if (top === -1) throw strange('a search without hits')
  const inner = new ObjectFields()
  inner.read(answer, outer.from[top] as number)
  const list = inner.find(answer, HITS)
  if (list === -1) throw strange('a search without hits')
  const start = inner.from[list] as number
  if (answer[start] !== OPEN_ARRAY) throw strange('a search without a list of hits')
  const lines = Buffer.allocUnsafe((inner.to[list] as number) - start)
  const numbers: number[] = []
  const fields = new ObjectFields()
  let length = 0
  for (let at = passSpace(answer, start + 1); answer[at] !== CLOSE_ARRAY;) {
    const end = passValue(answer, at)
    fields.read(answer, at)
    const sort = fields.find(answer, SORT)
    const number =
      sort === -1
        ? Number.NaN
        : Number(answer.toString('latin1', (fields.from[sort] as number) + 1, (fields.to[sort] as number) - 1))
    if (!Number.isSafeInteger(number)) throw strange('a hit without a sequence number')
    numbers.push(number)
    length += copyLine(answer, at, end, lines, length)
    at = passSpace(answer, end)
    if (answer[at] === COMMA) at = passSpace(answer, at + 1)
  }
  return { lines: lines.subarray(0, length), numbers }
}

const SPACE = 0x20

/** A line feed stands only between values: in a text it is escaped. */
function copyLine(from: Buffer, start: number, end: number, to: Buffer, at: number): number {
  from.copy(to, at, start, end)
  const length = end - start
  for (let feed = to.indexOf(LINE_FEED, at); feed !== -1 && feed < at + length; feed = to.indexOf(LINE_FEED, feed))
    to[feed] = SPACE
  to[at + length] = LINE_FEED
  return length + 1
}
