/**
 * Holds ids of documents that were sent before the first document of their index was accepted. Its uuid is read after that. If such a
 * document is not in the index then, another index had taken it, and is gone. A later loss shows by the document that came first.
 */
import { rowOf } from '../../../base/operation.js'
import type { Batch, Outcome } from '../../../base/flow.js'
import { takenByIndex } from '../../../pipeline/ledger/account.js'
import type { Cluster } from '../../../route/cluster/open-cluster.js'
import type { Witness } from '../checkpoint/checkpoint.js'
import { addressIn, itemLines, itemStarts } from '../../../route/sender/send.js'

/** The first documents of a batch that go to one index. */
interface Sample {
  readonly index: string
  readonly documents: Witness[number][]
}

/** Of each batch and index. If the cluster rejects fewer documents, at least one of these is stored. */
const SAMPLED = 64

/** Most ids in one question. */
const ASKED = 1000

export class Witnesses {
  readonly #left = new Map<string, Witness[]>()
  /** Indices that have accepted a document. */
  readonly #accepted = new Set<string>()

  /** Takes what an earlier process has left to look for. */
  take(index: string, witnesses: readonly Witness[] = []): void {
    if (witnesses.length > 0) this.#left.set(index, [...witnesses])
  }

  /** Returns what is left to look for in an index. */
  of(index: string): readonly Witness[] {
    return this.#left.get(index) ?? []
  }

  /** Indices that have something left to look for. */
  get indices(): readonly string[] {
    return [...this.#left.keys()]
  }

  /** Takes a document that an index has stored. */
  add(index: string, one: Witness[number]): void {
    this.#left.set(index, [...this.of(index), [one]])
  }

  hasAccepted(index: string): boolean {
    return this.#accepted.has(index)
  }

  drop(index: string): void {
    this.#left.delete(index)
  }

  /** Sends a batch for new indices. `areKept`: whether documents keep the ids that they are sent with. */
  async whileSent(
    batch: Batch,
    indices: readonly string[],
    areKept: boolean,
    send: () => Promise<Outcome>,
  ): Promise<Outcome> {
    const fresh = indices.filter(index => !this.#accepted.has(index))
    // A retry changes the bytes of the batch.
    const samples = areKept ? samplesOf(batch, fresh) : []
    const outcome = await send()
    const lacks = mostMissing(batch, outcome)
    for (const index of fresh) if (lacks(index) < docsFor(index, batch)) this.#accepted.add(index)
    for (const { index, documents } of samples) {
      const most = lacks(index)
      // One more than those that may be missing.
      if (most < documents.length) this.#left.set(index, [...this.of(index), documents.slice(0, most + 1)])
    }
    return outcome
  }

  /**
   * Returns whether an index lacks a document that was stored under its name. Called after its uuid was read. If the cluster does not
   * answer now, the next call asks again. Never throws.
   */
  async isOther(cluster: Cluster, index: string, signal: AbortSignal): Promise<boolean> {
    const asked = this.of(index)
    const areThere = await haveStayed(cluster, index, asked, signal)
    if (areThere === undefined) return false
    const left = this.of(index).filter(one => !asked.includes(one))
    if (left.length === 0) this.#left.delete(index)
    else this.#left.set(index, left)
    return !areThere
  }
}

/** Returns undefined if the cluster does not answer now. Credentials that may not read see all of them. Never throws. */
export async function haveStayed(
  cluster: Cluster,
  index: string,
  witnesses: readonly Witness[],
  signal?: AbortSignal,
): Promise<boolean | undefined> {
  const wanted = witnesses.flat()
  const there = new Set<string>()
  for (let from = 0; from < wanted.length; from += ASKED) {
    const part = wanted.slice(from, from + ASKED)
    const looked = await cluster.documents.find({ index, by: 'id', wanted: part, signal }).catch(() => undefined)
    if (looked === undefined || looked.kind === 'again') return undefined
    if (looked.kind !== 'found') return true
    for (const { id } of looked.documents) there.add(id)
  }
  return witnesses.every(documents => documents.some(({ id }) => there.has(id)))
}

/** Returns a function that says how many documents of a batch for an index may not be stored. */
function mostMissing(batch: Batch, outcome: Outcome): (index: string) => number {
  const { created, updated, duplicate } = outcome
  const left = batch.docs - created - updated - duplicate - foundThere(batch, outcome)
  if (batch.indices === undefined) return () => left
  const taken = takenByIndex(batch, outcome)
  const rejected = (index: string) => docsFor(index, batch) - (taken.get(index) ?? 0)
  const allRejected = [...batch.indices.keys()].reduce((sum, index) => sum + rejected(index), 0)
  // Nobody knows to which index the others belong.
  const others = Math.max(0, left - allRejected)
  return index => rejected(index) + others
}

/** Returns how many documents the index held already, whoever stored them. */
function foundThere({ operation, script }: Batch, { noop = 0, skipped, unknown, unanswered = 0 }: Outcome): number {
  // Only a script may leave out a document that is not there.
  if (rowOf(operation).repeat === 'conflict') return skipped + unknown - unanswered
  return script === undefined ? noop : 0
}

function docsFor(index: string, { docs, indices }: Batch): number {
  return indices === undefined ? docs : (indices.get(index) ?? 0)
}

function samplesOf({ bytes, docs, indices, operation }: Batch, fresh: readonly string[]): readonly Sample[] {
  // A deletion leaves nothing to find, also not what the same batch has stored.
  if (fresh.length === 0 || !rowOf(operation).sendsDocument) return []
  const found = new Map<string, Sample>()
  for (const index of fresh) found.set(index, { index, documents: [] })
  const body = { bytes, items: docs, first: 0 }
  const most = indices === undefined ? Math.min(docs, SAMPLED) : docs
  const starts = itemStarts(body, most)
  for (let item = 0; item < most; item += 1) {
    const { _id: id, _index: index = fresh[0] ?? '', routing } = addressIn(itemLines(body, starts, item).action)
    const documents = found.get(index)?.documents
    if (documents === undefined || id === undefined || documents.length === SAMPLED) continue
    documents.push({ id, ...(routing === undefined ? {} : { routing }) })
  }
  return [...found.values()].filter(({ documents }) => documents.length > 0)
}
