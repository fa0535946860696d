/** Reads the documents of an index shard by shard, in the order of their sequence numbers. */
import { fail } from '../../base/failure/failure.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { JsonObject } from '../../base/json/parse-json.js'
import type { HitsPage } from '../../route/cluster/documents.js'
import { type Patience, patiently } from './patience.js'

/** The last sequence number that was read of each shard. Absent: none. */
export type ShardPlaces = ReadonlyMap<number, number>

export interface ShardPage {
  readonly shard: number
  readonly hits: HitsPage
}

interface Reading extends Patience {
  readonly cluster: Cluster
  readonly index: string
  readonly shards: number
  readonly query: JsonObject | undefined
  /** The index that hits shall name. Absent: their own. */
  readonly namedAs?: string | undefined
  readonly from: ShardPlaces
  /** The last sequence number to read of each shard. */
  readonly upTo: readonly number[]
}

/** About so many bytes make a page. */
const PAGE_BYTES = 1 << 20
/** Documents of the first page, whose size nobody knows, and of any. Elasticsearch allows 10,000. */
const FIRST_DOCUMENTS = 100
const MOST_DOCUMENTS = 10_000
/** A shard has at most so many pages that are read and not yet taken. */
const AHEAD = 1
/** Shards that are read at once: each holds a page in memory. */
const AT_ONCE = 4

/**
 * Yields the pages of all shards. While one page is loaded, the next ones are read. Throws SluiceError: INDEX_REQUEST_REFUSED, CLUSTER_*,
 * and every failure of the route that lasts too long.
 */
export async function* readShards(reading: Reading): AsyncGenerator<ShardPage> {
  const waiting = Array.from({ length: reading.shards }, (_, shard) => shard)
  const open: ReturnType<typeof ahead>[] = []
  const openNext = () => {
    const shard = waiting.shift()
    if (shard !== undefined) open.push(ahead(readShard(reading, shard)))
  }
  try {
    for (let at = 0; at < AT_ONCE; at += 1) openNext()
    // In turn, so that each shard is read while pages of the others are loaded.
    for (let [reader] = open; reader !== undefined; [reader] = open) {
      open.push(...open.splice(0, 1))
      const page = await reader.next()
      reading.signal.throwIfAborted()
      if (page !== undefined) yield page
      else {
        open.splice(open.indexOf(reader), 1)
        openNext()
      }
    }
  } finally {
    await Promise.all(open.map(async reader => await reader.close()))
  }
}

/** Begins to read the next page before anybody asks for it. */
function ahead(pages: AsyncGenerator<ShardPage>) {
  const waiting: Promise<IteratorResult<ShardPage>>[] = []
  const fill = () => {
    while (waiting.length < AHEAD) {
      const page = pages.next()
      // The reader of the page gets the error.
      page.catch(() => undefined)
      waiting.push(page)
    }
  }
  return {
    next: async (): Promise<ShardPage | undefined> => {
      fill()
      const page = await waiting.shift()
      if (page === undefined || page.done === true) return undefined
      fill()
      return page.value
    },
    close: async () => {
      await Promise.allSettled(waiting)
      await pages.return(undefined)
    },
  }
}

async function* readShard(reading: Reading, shard: number): AsyncGenerator<ShardPage> {
  const { cluster, index, namedAs, query, signal } = reading
  const upTo = reading.upTo[shard] ?? -1
  let after = reading.from.get(shard)
  let documents = FIRST_DOCUMENTS
  while ((after ?? -1) < upTo) {
    const size = documents
    const asked = { index, shard, after, upTo, namedAs, query, size, signal }
    const hits = await patiently(reading, async () => cluster.documents.readHits(asked))
    if (hits.numbers.length > 0) yield { shard, hits }
    if (hits.isLast) return
    after = hits.numbers.at(-1)
    const bytes = Math.max(1, hits.lines.length / hits.numbers.length)
    documents = Math.min(MOST_DOCUMENTS, Math.max(1, Math.floor(PAGE_BYTES / bytes)))
  }
}

/** Reads a place that a checkpoint holds. Throws SluiceError STATE_UNREADABLE. */
export function shardPlacesIn(place: Readonly<Record<string, unknown>> | undefined, source: string): ShardPlaces {
  const { shards = {} } = place ?? {}
  const entries = Object.entries(shards as Record<string, unknown>)
  const places = entries.map(([shard, number]) => [Number(shard), number] as const)
  if (places.every((entry): entry is readonly [number, number] => Number.isSafeInteger(entry[1])))
    return new Map(places)
  throw fail('STATE_UNREADABLE', { path: `of ${source}`, problem: 'a place in a shard is no number' })
}
