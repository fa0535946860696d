/** The queue of a managed ingest endpoint: documents that it took, and that reach the cluster later. */
import { applyBulk } from '../cluster/bulk.js'
import { readBulk } from '../cluster/bulk-lines.js'
import type { Cluster } from '../cluster/cluster.js'
import { RequestRefused, illegalArgument } from '../cluster/answers.js'
import { newId } from '../cluster/ids.js'
import type { FaultPlan } from '../faults.js'

/** Looks into the queue, and holds it. */
export interface ManagedControl {
  /** Indexes nothing until `resume`. */
  pause(): void
  resume(): void
  /** Documents that are accepted, and not indexed yet. */
  readonly waiting: number
  /** Ids as they were accepted, one for each time. */
  readonly accepted: readonly string[]
  /** Documents that the index rejected after the endpoint had accepted them. The client never learns of them. */
  readonly failed: number
  /** Whether documents keep their ids in the index, unless an id is taken. The documentation leaves that open. Default true. */
  keepIds(keep: boolean): void
}

/** A real queue takes seconds. */
const DELAY_MS = 20

const everything = { username: 'managed-inputs' }

interface Accepted {
  readonly index: string
  readonly id: string
  readonly document: Buffer
}

export class Queue implements ManagedControl {
  readonly accepted: string[] = []
  failed = 0
  readonly #cluster: Cluster
  readonly #faults: FaultPlan
  #waiting: Accepted[] = []
  #isPaused = false
  #keepsIds = true

  constructor(cluster: Cluster, faults: FaultPlan) {
    this.#cluster = cluster
    this.#faults = faults
  }

  get waiting(): number {
    return this.#waiting.length
  }

  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#index()
  }

  keepIds(keep: boolean): void {
    this.#keepsIds = keep
  }

  /** Takes the whole body and returns where each document goes, or throws RequestRefused and takes nothing. */
  take(body: Buffer, index: string | undefined): readonly Accepted[] {
    const lines = readBulk(body, index, this.#cluster.major)
    const other = lines.find(({ action }) => action.operation !== 'create')
    if (other !== undefined)
      throw new RequestRefused(
        illegalArgument(`unsupported action [${other.action.operation}]: only create is supported`),
      )
    const taken = lines.map(line => ({
      index: line.index,
      id: line.action.id ?? newId(),
      document: body.subarray(line.from, line.to),
    }))
    this.#waiting.push(...taken)
    this.accepted.push(...taken.map(({ id }) => id))
    setTimeout(() => this.#index(), DELAY_MS).unref()
    return taken
  }

  #index(): void {
    if (this.#isPaused) return
    const seen = new Set<string>()
    const lines = this.#waiting.flatMap(({ index, id, document }) => {
      const name = `${index} ${id}`
      const isFree = this.#keepsIds && !seen.has(name) && !this.#isThere(index, id)
      seen.add(name)
      const action = JSON.stringify({ create: { _index: index, _id: isFree ? id : newId() } })
      return [Buffer.from(`${action}\n`), document, Buffer.from('\n')]
    })
    this.#waiting = []
    if (lines.length === 0) return
    const answer = applyBulk(this.#cluster, this.#faults, {
      body: Buffer.concat(lines),
      index: undefined,
      principal: everything,
      filter: undefined,
      requireAlias: false,
      requireDataStream: false,
      pipeline: undefined,
      refreshed: false,
      quoteSource: false,
    })
    const { items } = JSON.parse(answer) as { readonly items: readonly { readonly create: { error?: unknown } }[] }
    this.failed += items.filter(({ create }) => create.error !== undefined).length
  }

  #isThere(index: string, id: string): boolean {
    return this.#cluster.indices.has(index) || this.#cluster.streams.has(index)
      ? this.#cluster.matching(index).found.some(one => one.get(id) !== undefined)
      : false
  }
}
