/** Looks up every id of a run: the settled ones, and later ones that may still be there. */
import { type FoundDocument, type Wanted, findDocuments } from '../cluster/find-documents.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { PartStep } from '../cluster/delete-found.js'
import type { Pace } from './pace.js'
import { type InputIds, idOf } from './run-ids.js'

/** One id and its copies. */
export interface Sighting {
  readonly input: InputIds
  readonly number: number
  /** None: it is missing. Several: it is in several indices of an alias or data stream. */
  readonly copies: readonly FoundDocument[]
}

export interface Sweeping {
  readonly cluster: Cluster
  readonly index: string
  readonly by: 'id' | 'search'
  readonly inputs: readonly InputIds[]
  readonly pace: Pace
  readonly signal?: AbortSignal
  /** Settled documents, each once. */
  settled(sightings: readonly Sighting[]): Promise<void> | void
  /** Documents that are there behind the last settled one of their input, each once. */
  beyond(sightings: readonly Sighting[]): Promise<void> | void
}

/** This many missing numbers in a row end the search after an unfinished input… */
const GAP = 10_000
/** …unless something shows up farther on, looked for in strides. A body of fewer documents may be passed over. */
const STRIDE = 100
const STRIDES = 1000
/** Numbers to look up after an input that is fully settled. */
const BEHIND_END = 100

interface Sought {
  readonly input: InputIds
  readonly number: number
}

/** Throws SluiceError: what keeps the cluster from answering. */
export async function sweep(sweeping: Sweeping): Promise<void> {
  const { inputs, pace } = sweeping
  const settle = lookUp(sweeping, async sightings => await sweeping.settled(sightings))
  await pace.through(numbersOf(inputs), settle)
  const found = lookUp(sweeping, async sightings => {
    const there = sightings.filter(({ copies }) => copies.length > 0)
    if (there.length > 0) await sweeping.beyond(there)
  })
  await pace.through(behindEnds(inputs), found)
  for (const input of inputs) if (input.isOpen) await sweepOpen(input, sweeping)
}

function* numbersOf(inputs: readonly InputIds[]): Generator<Sought> {
  for (const input of inputs) yield* range(input, input.first, input.last)
}

function* behindEnds(inputs: readonly InputIds[]): Generator<Sought> {
  for (const input of inputs)
    if (!input.isOpen && !input.isContinued) yield* range(input, input.last + 1, input.last + BEHIND_END)
}

function* range(input: InputIds, from: number, to: number, by = 1): Generator<Sought> {
  for (let number = from; number <= to; number += by) yield { input, number }
}

/** Looks up numbers after the last settled document, until nothing is there. */
async function sweepOpen(input: InputIds, sweeping: Sweeping): Promise<void> {
  const { pace, beyond } = sweeping
  let highest = input.last
  const look = (visit: (there: readonly Sighting[]) => Promise<void> | void) =>
    lookUp(sweeping, async sightings => {
      const there = sightings.filter(({ copies }) => copies.length > 0)
      for (const { number } of there) highest = Math.max(highest, number)
      if (there.length > 0) await visit(there)
    })
  for (let from = input.last + 1; from <= input.most;) {
    const to = Math.min(highest + GAP, input.most)
    if (from <= to) {
      await pace.through(
        range(input, from, to),
        look(async there => await beyond(there)),
      )
      from = to + 1
    } else {
      const seen = highest
      const far = Math.min(from + STRIDE * STRIDES, input.most)
      await pace.through(
        range(input, from, far, STRIDE),
        look(() => undefined),
      )
      if (highest === seen) return
    }
  }
}

function lookUp({ cluster, index, by, signal }: Sweeping, visit: (sightings: readonly Sighting[]) => Promise<void>) {
  return async (part: readonly Sought[]): Promise<PartStep<Sought>> => {
    const wanted: Wanted[] = part.map(({ input, number }) => ({ id: idOf(input, number) }))
    const looked = await findDocuments(cluster, { index, by, wanted, ...(signal === undefined ? {} : { signal }) })
    if (looked.kind === 'busy') return { ...looked, kind: 'again', left: part }
    if (looked.kind !== 'found') return looked
    const copies = new Map<string, FoundDocument[]>()
    for (const document of looked.documents) {
      const known = copies.get(document.id)
      if (known === undefined) copies.set(document.id, [document])
      else known.push(document)
    }
    await visit(
      part.map(({ input, number }, at) => ({ input, number, copies: copies.get(wanted[at]?.id ?? '') ?? [] })),
    )
    return { kind: 'done' }
  }
}
