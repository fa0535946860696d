/** Reads an index once more, document by document, to compare it with another one. */
import { ObjectFields, passSpace, passValue } from '../../base/json/parse-json.js'
import type { JsonObject } from '../../base/json/parse-json.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { findBoundary } from './find-boundary.js'
import { findIndices, isSynthetic } from './find-indices.js'
import type { Patience } from './patience.js'
import { doubtOf } from './messages.js'
import { shardPlacesIn, readShards } from './read-shards.js'

interface Again extends Patience {
  readonly cluster: Cluster
  /** One index, and no alias. */
  readonly index: string
  /** As `--from-query`, or `{"_source": false}`. Undefined: all documents. */
  readonly query?: JsonObject | undefined
}

export interface IndexAgain {
  readonly index: string
  /** An index that is deleted and made anew has another one. */
  readonly uuid: string
  /** Whether the cluster builds each document anew from its fields. */
  readonly isSynthetic: boolean
  /**
   * Yields all documents in lists of some megabytes at most. `warn` hears why some may be left out. Throws SluiceError: INDEX_REQUEST_REFUSED,
   * CLUSTER_*, and every failure of the route.
   */
  lists(warn: (message: string) => void): AsyncGenerator<readonly ListedDocument[]>
}

export interface ListedDocument {
  readonly id: string
  readonly routing?: string
  /** The index or data stream that the document names. */
  readonly index: string
  readonly shard: number
  readonly number: number
  /** The bytes of its source. A view. Empty if they were not asked for. */
  readonly bytes: Buffer
}

/** Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE, and as `lists`. */
export async function readIndexAgain(again: Again): Promise<IndexAgain> {
  const [found] = await findIndices(again.cluster, { names: [again.index], query: again.query })
  if (found === undefined) throw new Error('an index that was found is one')
  const { index, uuid, namedAs = index } = found
  return {
    index,
    uuid,
    isSynthetic: isSynthetic(found),
    async *lists(warn) {
      const reading = { ...again, ...found }
      const { upTo, doubt } = await findBoundary(reading)
      if (doubt !== undefined) warn(doubtOf(doubt))
      for await (const { shard, hits } of readShards({ ...reading, from: new Map(), upTo }))
        yield* listsIn(hits.lines, hits.numbers, { index: namedAs, shard })
    },
  }
}

/** Returns whether a load that reached this place has read a document. Throws SluiceError STATE_UNREADABLE. */
export function readUpTo(
  place: Readonly<Record<string, unknown>> | undefined,
  source: string,
): (document: Pick<ListedDocument, 'shard' | 'number'>) => boolean {
  const reached = shardPlacesIn(place, source)
  return ({ shard, number }) => number <= (reached.get(shard) ?? -1)
}

const LIST_BYTES = 4 << 20
/** `index.max_result_window` is larger. */
const LIST_DOCUMENTS = 1000

const ID = Buffer.from('_id')
const ROUTING = Buffer.from('_routing')
const SOURCE = Buffer.from('_source')
const NONE = Buffer.alloc(0)

/** `lines`: hits, one on each line. */
function* listsIn(
  lines: Buffer,
  numbers: readonly number[],
  place: Pick<ListedDocument, 'index' | 'shard'>,
): Generator<readonly ListedDocument[]> {
  const fields = new ObjectFields()
  const text = (field: number) => JSON.parse(lines.toString('utf8', fields.from[field], fields.to[field])) as string
  let list: ListedDocument[] = []
  let from = 0
  let at = 0
  for (const number of numbers) {
    at = passSpace(lines, at)
    fields.read(lines, at)
    const [id, routing, source] = [fields.find(lines, ID), fields.find(lines, ROUTING), fields.find(lines, SOURCE)]
    list.push({
      ...place,
      id: text(id),
      ...(routing === -1 ? {} : { routing: text(routing) }),
      number,
      bytes: source === -1 ? NONE : lines.subarray(fields.from[source], fields.to[source]),
    })
    at = passValue(lines, at) + 1
    if (list.length < LIST_DOCUMENTS && at - from < LIST_BYTES) continue
    yield list
    list = []
    from = at
  }
  if (list.length > 0) yield list
}
