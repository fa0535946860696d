/** Reads documents of one shard, in the order of their sequence numbers. The bytes of each hit stay as the cluster sent them. */
import { fail, type SluiceError } from '../../base/failure/failure.js'
import { type JsonObject, ObjectFields, passComma, passObject, passSpace } from '../../base/json/parse-json.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import type { HitsPage, HitsQuestion } from './documents.js'
import { callForBytes } from './request.js'
import type { ReachedCluster } from './request.js'

/** Throws SluiceError: INDEX_REQUEST_REFUSED, CLUSTER_*, and every failure of the route. Needs the privilege `read`. */
export async function readHits(cluster: ReachedCluster, asked: HitsQuestion): Promise<HitsPage> {
  const answer = await searchShard(cluster, asked, {
    ...asked.query,
    query: between(asked),
    size: asked.size,
    sort: [{ _seq_no: 'asc' }],
    track_total_hits: false,
  })
  return new HitsReader(answer, cluster.display).page(asked)
}

/** With `search_after`, the cluster passes documents of earlier pages again: in the middle of 600,000, it takes five times as long. */
function between({ after = -1, upTo, query }: HitsQuestion): JsonObject {
  const numbers = { range: { _seq_no: { gt: after, ...(Number.isFinite(upTo) ? { lte: upTo } : {}) } } }
  const asked = query?.['query']
  return { bool: { filter: asked === undefined ? [numbers] : [numbers, asked] } }
}

/** Throws as `readHits`. */
export async function highestNumber(cluster: ReachedCluster, asked: OneShard): Promise<number> {
  const body = { size: 1, _source: false, sort: [{ _seq_no: 'desc' }], track_total_hits: false }
  const answer = await searchShard(cluster, asked, body)
  const { numbers } = new HitsReader(answer, cluster.display).page({ size: 1, upTo: Infinity })
  return numbers[0] ?? -1
}

type OneShard = Pick<HitsQuestion, 'index' | 'shard' | 'signal'>

async function searchShard(
  cluster: ReachedCluster,
  { index, shard, signal }: OneShard,
  body: JsonObject,
): Promise<Buffer> {
  return await callForBytes(cluster, {
    method: 'POST',
    path: `/${encodeURIComponent(index)}/_search`,
    // The same word asks the same copy of the shard, which shows no older state than before.
    query: { preference: `_shards:${shard}|sluice-reads`, allow_partial_search_results: 'false' },
    body,
    signal,
  })
}

const SORT = Buffer.from('sort')
const INDEX = Buffer.from('_index')
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const SPACE = 0x20
const ZERO = 0x30
const TRUE = 0x74

type Part = Pick<HitsQuestion, 'size' | 'upTo' | 'namedAs'>

/** Makes lines of the hits of an answer, in its own memory: a page is large, and a copy would take as much again. */
class HitsReader {
  readonly #answer: Buffer
  readonly #cluster: string
  readonly #fields = new ObjectFields()
  /** The next line feed of the answer. -1: there is none. */
  #feed = 0

  constructor(answer: Buffer, cluster: string) {
    this.#answer = answer
    this.#cluster = cluster
  }

  /** Returns the hits up to a number. For one call. Throws SluiceError CLUSTER_NOT_ELASTICSEARCH, CLUSTER_UNAVAILABLE. */
  page(asked: Part): HitsPage {
    const answer = this.#answer
    let page: HitsPage | undefined
    passObject(answer, passSpace(answer, 0), (name, value) => {
      if (name === 'timed_out' && answer[value] === TRUE)
        throw fail('CLUSTER_UNAVAILABLE', { cluster: this.#cluster, observed: 'a search ran out of time' })
      if (name !== 'hits') return undefined
      return passObject(answer, value, (within, list) => {
        if (within !== 'hits' || answer[list] !== OPEN_ARRAY) return undefined
        const read = this.#list(list, asked)
        page = read.page
        return read.end
      })
    })
    if (page === undefined) throw this.#strange('a search without a list of hits')
    return page
  }

  /** Looks at each byte of the list once. Returns also the offset behind it. */
  #list(list: number, { size, upTo, namedAs }: Part): { readonly page: HitsPage; readonly end: number } {
    const answer = this.#answer
    const start = passSpace(answer, list + 1)
    const numbers: number[] = []
    /** Offsets of the index names to replace: start and end of each. */
    const names: number[] = []
    let isPast = false
    let linesEnd = start
    let at = start
    while (answer[at] !== CLOSE_ARRAY) {
      const end = this.#fields.read(answer, at)
      const number = this.#number()
      isPast ||= number > upTo
      if (!isPast) {
        if (numbers.length > 0) this.#endLine(linesEnd, at)
        if (this.#hasFeed(at, end)) this.#withoutFeeds(at, end)
        if (namedAs !== undefined) this.#noteName(names)
        numbers.push(number)
        linesEnd = end
      }
      at = passComma(answer, end)
    }
    if (numbers.length > 0) answer[linesEnd++] = LINE_FEED
    const lines =
      namedAs === undefined
        ? answer.subarray(start, linesEnd)
        : replaced(answer, [start, ...names, linesEnd], Buffer.from(JSON.stringify(namedAs)))
    return { page: { lines, numbers, isLast: isPast || numbers.length < size }, end: at + 1 }
  }

  #number(): number {
    const fields = this.#fields
    const sort = fields.find(this.#answer, SORT)
    const [from, to] = sort === -1 ? [0, 0] : [(fields.from[sort] as number) + 1, (fields.to[sort] as number) - 1]
    const number = digitsIn(this.#answer, from, to)
    if (!Number.isSafeInteger(number)) throw this.#strange('a hit without a sequence number')
    return number
  }

  /** The comma between two hits becomes a line feed. */
  #endLine(end: number, next: number): void {
    this.#answer[end] = LINE_FEED
    if (next > end + 1) this.#answer.fill(SPACE, end + 1, next)
  }

  /** Looks at each byte of the answer once: few answers have a line feed. */
  #hasFeed(from: number, end: number): boolean {
    if (this.#feed !== -1 && this.#feed < from) this.#feed = this.#answer.indexOf(LINE_FEED, from)
    return this.#feed !== -1 && this.#feed < end
  }

  /** A line feed stands only between values: in a text it is escaped. */
  #withoutFeeds(from: number, end: number): void {
    const answer = this.#answer
    for (let at = from; at < end; at += 1) if (answer[at] === LINE_FEED) answer[at] = SPACE
  }

  #noteName(names: number[]): void {
    const field = this.#fields.find(this.#answer, INDEX)
    if (field !== -1) names.push(this.#fields.from[field] as number, this.#fields.to[field] as number)
  }

  #strange(observed: string): SluiceError {
    return fail('CLUSTER_NOT_ELASTICSEARCH', { cluster: this.#cluster, observed })
  }
}

/** Returns the whole number that stands there. NaN: there is none. */
function digitsIn(bytes: Buffer, from: number, to: number): number {
  let number = from < to ? 0 : Number.NaN
  for (let at = from; at < to; at += 1) {
    const digit = (bytes[at] as number) - ZERO
    number = digit >= 0 && digit <= 9 ? number * 10 + digit : Number.NaN
  }
  return number
}

/** Returns the bytes with other ones in each gap. `kept`: where each part that stays begins and ends. */
function replaced(bytes: Buffer, kept: readonly number[], gap: Buffer): Buffer {
  const parts: Buffer[] = []
  for (let at = 0; at < kept.length; at += 2) {
    if (at > 0) parts.push(gap)
    parts.push(bytes.subarray(kept[at], kept[at + 1]))
  }
  return Buffer.concat(parts)
}
