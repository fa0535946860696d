/** Looks for documents in the indices that their action lines name. Only behind an alias or a data stream may an id exist twice. */
import type { Cluster } from '../../cluster/open-cluster.js'
import type { Clock } from '../../../base/flow.js'
import { addressIn, type Body, copyItems, itemLines, itemStarts, type Settled, type Verdict } from '../send.js'

interface Streams {
  readonly options: { readonly cluster: Cluster; readonly clock: Pick<Clock, 'now'> }
  /** Returns what looks behind one name. */
  of(index: string, ownIds: boolean): Streams
  look(body: Body, fresh: boolean, ownIds: boolean): Promise<Verdict | undefined>
}

/** An answer about a name serves other bodies for this time. */
const SEEN_MS = 1000

export class EachIndex {
  readonly #streams: Streams
  /** When names were last seen to be single indices. */
  readonly #plain = new Map<string, number>()

  constructor(streams: Streams) {
    this.#streams = streams
  }

  /** `fresh`: ask again what the names stand for. See `StreamWatch.look`. */
  async look(body: Body, fresh: boolean, ownIds: boolean): Promise<Verdict | undefined> {
    if (this.#streams.options.cluster.isManaged) return undefined
    const items = itemsByIndex(body)
    const stored: Settled[] = []
    const there = new Set<number>()
    for (const index of await this.#streamsAmong([...items.keys()], fresh)) {
      const ofIndex = items.get(index) ?? []
      const looked = await this.#streams.of(index, ownIds).look(copyItems(body, ofIndex), fresh, ownIds)
      if (looked === undefined) continue
      if (looked.kind !== 'there') return looked
      stored.push(looked.settled)
      const left = new Set(looked.left)
      for (const [at, item] of ofIndex.entries()) if (!left.has(at)) there.add(item)
    }
    if (there.size === 0) return undefined
    const left = Array.from({ length: body.items }, (_, item) => item).filter(item => !there.has(item))
    return { kind: 'there', settled: stored.reduce(sumOf), left }
  }

  /** Returns the names that are no single index. */
  async #streamsAmong(names: readonly string[], fresh: boolean): Promise<readonly string[]> {
    const { cluster, clock } = this.#streams.options
    const now = clock.now()
    const asked = names.filter(name => fresh || now - (this.#plain.get(name) ?? -Infinity) > SEEN_MS)
    const seen = await cluster.indices.seeAll(asked)
    const isSingle = (name: string) => ['index', 'missing'].includes(seen.get(name)?.kind ?? '')
    for (const name of asked) if (isSingle(name)) this.#plain.set(name, now)
    return asked.filter(name => !isSingle(name))
  }
}

function itemsByIndex(body: Body): ReadonlyMap<string, readonly number[]> {
  const starts = itemStarts(body)
  const items = new Map<string, number[]>()
  for (let item = 0; item < body.items; item += 1) {
    const { _index: index = '' } = addressIn(itemLines(body, starts, item).action)
    const list = items.get(index) ?? []
    if (list.length === 0) items.set(index, list)
    list.push(item)
  }
  return items
}

function sumOf(one: Settled, other: Settled): Settled {
  return {
    ...one,
    duplicate: one.duplicate + other.duplicate,
    skipped: one.skipped + other.skipped,
    unknown: one.unknown + other.unknown,
  }
}
