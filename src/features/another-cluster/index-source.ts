/** Makes an input of an index of another cluster. */
import type { Place, Source } from '../../base/flow.js'
import type { JsonObject } from '../../base/json/parse-json.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { placesIn, readShards, type ShardPage, type ShardPlaces } from './read-shards.js'

interface IndexSourceOptions {
  readonly id: number
  readonly cluster: Cluster
  readonly index: string
  /** An index that is deleted and made anew has another one. */
  readonly uuid: string
  readonly shards: number
  readonly query: JsonObject | undefined
  readonly maxElapsedMs: number
}

/** Opens an index as a source of hits, one on each line. Reading continues after the last sequence number of each shard. */
export function indexSource(options: IndexSourceOptions): Source {
  const { id, cluster, index, uuid, query } = options
  const name = `elasticsearch:${index}`
  let log = new PlaceLog(new Map())

  async function* open(signal: AbortSignal, place?: Place): AsyncGenerator<Uint8Array> {
    const from = placesIn(place, name)
    log = new PlaceLog(from)
    for await (const page of readShards({ ...options, from, signal })) {
      log.add(page)
      yield page.hits.lines
    }
  }

  return {
    id,
    name,
    cursor: {
      selection: {
        cluster: cluster.preflight.info?.uuid ?? cluster.display,
        index: uuid,
        query: JSON.stringify(query ?? {}),
      },
      holdsHits: true,
      placeAt: document => log.placeAt(document),
      after: place => place,
    },
    open: (signal, _, place) => open(signal, place),
  }
}

/** Remembers where reading continues after each document that is not settled yet. */
class PlaceLog {
  readonly #places: Map<number, number>
  readonly #pages: ShardPage[] = []
  /** Documents before the first of `#pages`. */
  #before = 0

  constructor(from: ShardPlaces) {
    this.#places = new Map(from)
  }

  add(page: ShardPage): void {
    this.#pages.push(page)
  }

  /** Returns the place before the document of that number, from 1. */
  placeAt(number: number): Place {
    let settled = number - 1 - this.#before
    for (let [page] = this.#pages; page !== undefined && settled > 0; [page] = this.#pages) {
      const { numbers } = page.hits
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
