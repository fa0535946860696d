/** Reads documents of one shard, in the order of their sequence numbers. The bytes of each hit stay as the cluster sent them. */
import { fail, type SluiceError } from '../../base/failure/failure.js'
import { type JsonObject, ObjectFields, passSpace, passValue } from '../../base/json/parse-json.js'
import { LINE_FEED } from '../../base/text/bytes.js'
import type { HitsPage, HitsQuestion } from './documents.js'
import { callForBytes } from './request.js'
import type { ReachedCluster } from './request.js'

/** Throws SluiceError: INDEX_REQUEST_REFUSED, CLUSTER_*, and every failure of the route. Needs the privilege `read`. */
export async function readHits(cluster: ReachedCluster, asked: HitsQuestion): Promise<HitsPage> {
  const { after, query, size } = asked
  const answer = await searchShard(cluster, asked, {
    ...query,
    size,
    sort: [{ _seq_no: 'asc' }],
    track_total_hits: false,
    ...(after === undefined ? {} : { search_after: [after] }),
  })
  return new HitsReader(answer, cluster.display).page(asked)
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

const HITS = Buffer.from('hits')
const SORT = Buffer.from('sort')
const INDEX = Buffer.from('_index')
const TIMED_OUT = Buffer.from('timed_out')
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const COMMA = 0x2c
const SPACE = 0x20
const TRUE = 0x74

/** Copies the hits out of an answer. Only line feeds between the parts of a hit become spaces. */
class HitsReader {
  readonly #answer: Buffer
  readonly #cluster: string
  readonly #fields = new ObjectFields()
  #lines: Buffer = Buffer.alloc(0)
  #length = 0
  /** The next line feed of the answer. -1: there is none. */
  #feed = 0

  constructor(answer: Buffer, cluster: string) {
    this.#answer = answer
    this.#cluster = cluster
  }

  /** Returns the hits up to a number. Throws SluiceError CLUSTER_NOT_ELASTICSEARCH, CLUSTER_UNAVAILABLE. */
  page({ size, upTo, namedAs }: Pick<HitsQuestion, 'size' | 'upTo' | 'namedAs'>): HitsPage {
    const answer = this.#answer
    const [start, listEnd] = this.#list()
    const name = namedAs === undefined ? undefined : Buffer.from(JSON.stringify(namedAs))
    this.#lines = Buffer.allocUnsafe(listEnd - start + size * (name?.length ?? 0))
    this.#length = 0
    const numbers: number[] = []
    let isPast = false
    for (let at = passSpace(answer, start + 1); answer[at] !== CLOSE_ARRAY;) {
      const end = passValue(answer, at)
      this.#fields.read(answer, at)
      const number = this.#number()
      isPast = number > upTo
      if (isPast) break
      numbers.push(number)
      this.#copyLine(at, end, name)
      at = passSpace(answer, end)
      if (answer[at] === COMMA) at = passSpace(answer, at + 1)
    }
    return { lines: this.#lines.subarray(0, this.#length), numbers, isLast: isPast || numbers.length < size }
  }

  /** Returns where the list of hits begins and ends. */
  #list(): readonly [number, number] {
    const answer = this.#answer
    const outer = new ObjectFields()
    outer.read(answer, passSpace(answer, 0))
    const late = outer.find(answer, TIMED_OUT)
    if (late !== -1 && answer[outer.from[late] as number] === TRUE)
      throw fail('CLUSTER_UNAVAILABLE', { cluster: this.#cluster, observed: 'a search ran out of time' })
    const top = outer.find(answer, HITS)
    if (top === -1) throw this.#strange('a search without hits')
    const inner = new ObjectFields()
    inner.read(answer, outer.from[top] as number)
    const list = inner.find(answer, HITS)
    if (list === -1) throw this.#strange('a search without hits')
    const start = inner.from[list] as number
    if (answer[start] !== OPEN_ARRAY) throw this.#strange('a search without a list of hits')
    return [start, inner.to[list] as number]
  }

  #number(): number {
    const fields = this.#fields
    const sort = fields.find(this.#answer, SORT)
    const [from, to] = sort === -1 ? [0, 0] : [(fields.from[sort] as number) + 1, (fields.to[sort] as number) - 1]
    const number = from === to ? Number.NaN : Number(this.#answer.toString('latin1', from, to))
    if (!Number.isSafeInteger(number)) throw this.#strange('a hit without a sequence number')
    return number
  }

  /** Copies the hit that was read last. A line feed stands only between values: in a text it is escaped. */
  #copyLine(from: number, end: number, name: Buffer | undefined): void {
    const began = this.#length
    const field = name === undefined ? -1 : this.#fields.find(this.#answer, INDEX)
    if (name === undefined || field === -1) this.#copy(this.#answer, from, end)
    else {
      this.#copy(this.#answer, from, this.#fields.from[field] as number)
      this.#copy(name, 0, name.length)
      this.#copy(this.#answer, this.#fields.to[field] as number, end)
    }
    const lines = this.#lines
    if (this.#hasFeed(from, end))
      for (let at = began; at < this.#length; at += 1) if (lines[at] === LINE_FEED) lines[at] = SPACE
    lines[this.#length++] = LINE_FEED
  }

  /** Looks at each byte of the answer once: few answers have a line feed. */
  #hasFeed(from: number, end: number): boolean {
    if (this.#feed !== -1 && this.#feed < from) this.#feed = this.#answer.indexOf(LINE_FEED, from)
    return this.#feed !== -1 && this.#feed < end
  }

  #copy(bytes: Buffer, from: number, to: number): void {
    this.#length += bytes.copy(this.#lines, this.#length, from, to)
  }

  #strange(observed: string): SluiceError {
    return fail('CLUSTER_NOT_ELASTICSEARCH', { cluster: this.#cluster, observed })
  }
}
