/** Makes an input of an index of another cluster. */
import type { Place, Source } from '../../base/flow.js'
import { free } from '../../base/memory.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { FoundIndex } from './find-indices.js'
import { findBoundary } from './find-boundary.js'
import { shardPlacesIn, readShards, type ShardPage, type ShardPlaces } from './read-shards.js'

interface IndexSourceOptions extends FoundIndex {
  readonly id: number
  readonly cluster: Cluster
  readonly maxElapsedMs: number
  /** Reads only this part, which somebody has planned. Absent: all that is not read yet. */
  readonly span?: { readonly after: ShardPlaces; readonly upTo: readonly number[] }
  /** Hears why a document that is written at this time could be left out. */
  doubted(why: string): void
}

/**
 * Opens an index as a source of hits, one on each line. Reading continues after the last sequence number of each shard, and ends at those
 * that were complete when it began: what is written later belongs to the next load.
 */
export function indexSource(options: IndexSourceOptions): Source {
  const { id, cluster, index, uuid, query, span } = options
  const name = `elasticsearch:${index}`
  let log = new PlaceLog(new Map())

  async function* open(signal: AbortSignal, place?: Place): AsyncGenerator<Uint8Array> {
    const from = span?.after ?? shardPlacesIn(place, name)
    log = new PlaceLog(from)
    const upTo = span?.upTo ?? (await boundary(signal))
    for await (const page of readShards({ ...options, from, upTo, signal })) {
      log.add(page)
      yield page.hits.lines
      // A page is garbage outside the heap of V8, which would let many of them gather.
      free(page.hits.lines.buffer)
    }
  }

  async function boundary(signal: AbortSignal): Promise<readonly number[]> {
    const { upTo, doubt } = await findBoundary({ ...options, signal })
    if (doubt !== undefined) options.doubted(doubt)
    return upTo
  }

  return {
    id,
    name,
    describes: [options.describes],
    cursor: {
      selection: {
        cluster: cluster.preflight.info?.uuid ?? cluster.display,
        index: uuid,
        query: JSON.stringify(query ?? {}),
      },
      holdsHits: true,
      mayRepeat: false,
      placeAt: document => log.placeAt(document),
      after: place => place,
    },
    open: (signal, _, place) => open(signal, place),
  }
}

interface LoggedPage {
  readonly shard: number
  readonly numbers: Float64Array
}

/** Remembers where reading continues after each document that is not settled yet. */
class PlaceLog {
  readonly #places: Map<number, number>
  readonly #pages: LoggedPage[] = []
  /** Documents before the first of `#pages`. */
  #before = 0

  constructor(from: ShardPlaces) {
    this.#places = new Map(from)
  }

  /** Keeps no documents. */
  add({ shard, hits: { numbers } }: ShardPage): void {
    this.#pages.push({ shard, numbers: Float64Array.from(numbers) })
  }

  /** Returns the place before the document of that number, from 1. */
  placeAt(number: number): Place {
    let settled = number - 1 - this.#before
    for (let [page] = this.#pages; page !== undefined && settled > 0; [page] = this.#pages) {
      const { numbers } = page
      const last = numbers[Math.min(settled, numbers.length) - 1]
      if (last !== undefined) this.#places.set(page.shard, last)
      if (settled < numbers.length) break
      this.#pages.shift()
      this.#before += numbers.length
      settled -= numbers.length
    }
    return { shards: Object.fromEntries(this.#places) }
  }
}
