/** Watches the indices that a replay sends dead letters to. A resume compares their uuids. */
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import type { Target } from '../checkpoint/checkpoint.js'
import { isIndexLost } from './lost-index.js'

type Known = NonNullable<Target['destinations']>

interface Asking {
  readonly cluster: Cluster
  /** Aborted when the cluster is not waited for any longer. */
  readonly givenUp: AbortSignal
}

export class Destinations {
  readonly #asking: Asking
  /** Names that stored a document, of this process and of earlier ones. */
  readonly #stored: Map<string, string | undefined>
  /** Names that were asked for in this process. */
  readonly #seen = new Set<string>()
  /** Uuids from before this process stored documents in them. */
  readonly #before = new Map<string, Promise<string | undefined>>()
  readonly #plain = new Set<string>()
  /** Indices that documents were sent to, with their uuids from before. */
  readonly #asked = new Map<string, string>()

  constructor(known: Known, asking: Asking) {
    this.#stored = new Map(known.map(({ index, indexUuid }) => [index, indexUuid]))
    this.#asking = asking
  }

  /**
   * Every name that stored a document, with its uuid if it is an index. If none did: the indices that refused all. If one of these is
   * deleted, the next one of its name may take the documents.
   */
  get known(): Known {
    return Array.from(this.#stored.size > 0 ? this.#stored : this.#asked, ([index, indexUuid]) => ({
      index,
      ...(indexUuid === undefined ? {} : { indexUuid }),
    }))
  }

  /** Whether nothing was sent to any. */
  get isEmpty(): boolean {
    return this.#stored.size + this.#before.size === 0
  }

  /** Whether a name was an index before this process stored a document in it. */
  isKnownIndex(index: string): boolean {
    return this.#plain.has(index)
  }

  /** Called before documents are sent to an index. Asks once which one it is. */
  async begin(index: string): Promise<void> {
    const asked = this.#before.get(index) ?? this.#ask(index)
    this.#before.set(index, asked)
    const uuid = await asked
    if (uuid === undefined) return
    this.#plain.add(index)
    this.#asked.set(index, uuid)
  }

  async #ask(index: string): Promise<string | undefined> {
    const { cluster, givenUp } = this.#asking
    const known = this.#stored.get(index)
    if (known !== undefined) return known
    const seen = await cluster.indices.see(index, givenUp)
    return seen.kind === 'index' ? seen.uuid : undefined
  }

  /** Takes the names that have stored a document of this process. */
  async see(reached: ReadonlySet<string>): Promise<void> {
    const { cluster, givenUp } = this.#asking
    for (const index of reached) {
      if (this.#seen.has(index)) continue
      const seen = await cluster.indices.see(index, givenUp)
      // The next checkpoint tries this index and the remaining ones again.
      if (seen.kind === 'unreadable') return
      this.#seen.add(index)
      this.#stored.set(index, (await this.#before.get(index)) ?? (seen.kind === 'index' ? seen.uuid : undefined))
    }
  }

  /** Returns the indices that were deleted or made again since they stored documents. */
  async lost(): Promise<readonly string[]> {
    const { cluster, givenUp } = this.#asking
    const uuids = new Map(this.#stored)
    // No checkpoint may have been written since the first document.
    for (const [index, asked] of this.#before) uuids.set(index, uuids.get(index) ?? (await asked))
    const seen = await cluster.indices.seeAll([...uuids.keys()], givenUp)
    return [...uuids].flatMap(([index, uuid]) => {
      const now = seen.get(index)
      return now !== undefined && isIndexLost(uuid, now, uuid !== undefined) ? [index] : []
    })
  }
}
