/** The ids of a run and their lookup. Ids of Sluice are computed from the checkpoint: each input has a token, and numbers its documents. */
import type { FoundDocument, PartStep } from '../../route/cluster/documents.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { listenerOf } from '../../base/caller.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { hasLoaded } from '../../run/state/runs/runs.js'
import type { Pace } from './pace.js'
import type { VerifyOptions } from './verify-options.js'

/** The documents of one input that the run has settled: `TOKEN-FIRST` to `TOKEN-LAST`. */
export interface InputIds {
  readonly name: string
  readonly token: string
  readonly first: number
  /** Less than `first` if there is none. */
  readonly last: number
  /** The last number may belong to no document, but to a line without a line end, which may be blank. */
  readonly mayEndBlank: boolean
  /** An earlier run may have stored the first document. Its line has grown since. */
  readonly sharesFirst: boolean
  /** Documents behind `last` may be stored: sent, and not settled when the checkpoint was written. */
  readonly isOpen: boolean
  /** The later run that continued after `last`, and numbered its documents onwards. */
  readonly continuedBy: string | undefined
}

/** `others`: checkpoints of runs that may have loaded other parts of the same inputs. */
export function idsOf({ inputs, isDoubtful }: Checkpoint, others: readonly Checkpoint[] = []): InputIds[] {
  const continued = new Map<string, { readonly document: number; readonly run: string }>()
  for (const other of others.filter(hasLoaded))
    for (const { token, start } of other.inputs)
      if (start !== undefined && start.document > (continued.get(token)?.document ?? 0))
        continued.set(token, { document: start.document, run: other.run })
  return Array.from(inputs, input => {
    const { name, token, mark, status, start } = input
    const last = mark.document - (mark.tail > 0 ? 0 : 1)
    const next = continued.get(token)
    const continuedBy = next !== undefined && next.document >= last ? next.run : undefined
    return {
      name,
      token,
      first: start?.document ?? 1,
      last,
      mayEndBlank: mark.tail > 0,
      sharesFirst: start?.wasRead ?? false,
      // The documents after it belong to the later run.
      isOpen: isDoubtful && status !== 'finished' && continuedBy === undefined,
      continuedBy,
    }
  })
}

function idOf({ token }: Pick<InputIds, 'token'>, number: number): string {
  return `${token}-${number}`
}

/** A document of a run. */
export interface Sought {
  readonly input: InputIds
  readonly number: number
  /** Undefined: it has none, because no load can send it. */
  readonly id: string | undefined
}

/** A document of a run, and its copies in the cluster. */
export interface Sighting extends Sought {
  /** Empty: the document is missing. Several: it is in several indices of an alias or data stream. */
  readonly copies: readonly FoundDocument[]
}

type See = (sightings: readonly Sighting[]) => Promise<void> | void

interface LookUp {
  readonly cluster: Cluster
  /** The indices that hold the documents. */
  readonly holders: string | readonly string[]
  readonly by: 'id' | 'search'
  readonly inputs: readonly InputIds[]
  /** Reads the settled documents and their ids from the inputs. Absent: the checkpoint says all. */
  readonly readIds?: (() => AsyncIterable<Sought>) | undefined
  readonly pace: Pace
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: VerifyOptions['onProgress']
}

/** Numbers that may be missing in a row before the search after an unfinished input ends… */
const GAP = 10_000
/** …unless something is farther on, looked for in strides. The search may miss a body of fewer documents. */
const STRIDE = 100
const STRIDES = 1000
/** Numbers to look up after an input that is fully settled. */
const BEHIND_END = 100

/**
 * Looks up every id of a run. Passes each settled id to `settled`. Looks behind the last settled document of each input too, and
 * passes the ids that are there to `beyond`. Throws SluiceError if the cluster cannot answer.
 */
export async function lookUpIds(run: LookUp, see: { readonly settled: See; readonly beyond: See }): Promise<void> {
  const { inputs, pace } = run
  const documents = inputs.reduce((sum, { first, last }) => sum + Math.max(0, last - first + 1), 0)
  const tell = listenerOf(run.onProgress)
  let lookedUp = 0
  const settled: See = async sightings => {
    await see.settled(sightings)
    lookedUp += sightings.length
    tell(lookedUp, documents)
  }
  // An id from a field does not say which document comes next, so nothing is looked for behind the end.
  if (run.readIds !== undefined) return await pace.through(run.readIds(), lookUp(run, settled))
  const ranges = inputs.map(input => range(input, input.first, input.last))
  await pace.through(chained(ranges), lookUp(run, settled))
  const ended = inputs.filter(({ isOpen, continuedBy }) => !isOpen && continuedBy === undefined)
  const behind = ended.map(input => range(input, input.last + 1, input.last + BEHIND_END))
  await pace.through(chained(behind), lookUp(run, ifThere(see.beyond)))
  for (const input of inputs) if (input.isOpen) await lookBeyond(input, run, see.beyond)
}

function* chained(ranges: readonly Iterable<Sought>[]): Generator<Sought> {
  for (const one of ranges) yield* one
}

function* range(input: InputIds, from: number, to: number, by = 1): Generator<Sought> {
  for (let number = from; number <= to; number += by) yield { input, number, id: idOf(input, number) }
}

/** Looks up numbers after the last settled document, until nothing is there. */
async function lookBeyond(input: InputIds, run: LookUp, beyond: See): Promise<void> {
  const { pace } = run
  let highest = input.last
  const look = (visit: See) =>
    lookUp(
      run,
      ifThere(async there => {
        for (const { number } of there) highest = Math.max(highest, number)
        await visit(there)
      }),
    )
  for (let from = input.last + 1; ;) {
    const to = highest + GAP
    if (from <= to) {
      await pace.through(range(input, from, to), look(beyond))
      from = to + 1
    } else {
      const seen = highest
      const far = from + STRIDE * STRIDES
      const ignore = () => undefined
      await pace.through(range(input, from, far, STRIDE), look(ignore))
      if (highest === seen) return
    }
  }
}

function ifThere(see: See): See {
  return async sightings => {
    const there = sightings.filter(({ copies }) => copies.length > 0)
    if (there.length > 0) await see(there)
  }
}

function lookUp({ cluster, holders: index, by, signal }: LookUp, see: See) {
  return async (part: readonly Sought[]): Promise<PartStep<Sought>> => {
    const ids = [...new Set(part.flatMap(({ id }) => id ?? []))]
    const looked = await cluster.documents.find({ index, by, wanted: ids.map(id => ({ id })), signal })
    if (looked.kind !== 'found') return looked
    const copies = new Map(ids.map((id): [string, FoundDocument[]] => [id, []]))
    for (const document of looked.documents) copies.get(document.id)?.push(document)
    await see(part.map(sought => ({ ...sought, copies: copies.get(sought.id ?? '') ?? [] })))
    return { kind: 'done' }
  }
}
