/** Looks at the indices that a run filled: which of them hold its documents today, and what the credentials show of them. */
import type { IndexSeen } from '../../route/cluster/indices.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { isIndexGone } from '../../run/state/resume/lost-index.js'

/** The indices of a run, and the way to find its documents in them. */
export interface Held {
  readonly holders: string | readonly string[]
  readonly by: 'id' | 'search'
  /** Whether all that is stored can be seen. */
  readonly isFresh: boolean
  /** The names that may be aliases which hide documents. The credentials do not show whether they are. */
  readonly mayHide: readonly string[]
}

interface Looked extends Held {
  readonly notes: readonly string[]
  /** Indices that the names of the run lead to. */
  readonly behind: readonly string[]
}

/** Returns the indices that hold documents of a run, with notes for the person who reads the result. */
export async function lookAtIndices(
  run: Checkpoint,
  cluster: Cluster,
): Promise<Held & { readonly notes: readonly string[] }> {
  const own = run.target.indices === undefined ? await lookAt(run, cluster) : await lookAtAll(run, cluster)
  const { behind: _, ...held } = await lookElsewhere(await noteFormer(own, run, cluster), run, cluster)
  return held
}

async function lookAt({ target, options }: Checkpoint, cluster: Cluster): Promise<Looked> {
  const { index, indexUuid } = target
  const seen = await cluster.indices.see(index)
  // A document with a routing value cannot be found by only its id.
  const by = seen.kind === 'index' && options['routingField'] === undefined ? 'id' : 'search'
  const isFresh = by === 'id' || seen.kind === 'missing' || (await cluster.indices.refresh(index)) === undefined
  const { names, mayHide } = await cluster.indices.viewOf(index, seen)
  const [only = index] = names
  return {
    holders: names.length === 1 ? only : names,
    by,
    isFresh,
    mayHide: mayHide ? [index] : [],
    behind: behindOf(index, seen),
    notes: [...noteOn(index, seen, indexUuid), ...unfresh(index, isFresh)],
  }
}

/** Looks at all indices that took documents of the run. */
async function lookAtAll({ target: { index, indices = [] } }: Checkpoint, cluster: Cluster): Promise<Looked> {
  const named = indices.map(one => one.index)
  await cluster.privileges.mayRead(named, 'Sluice cannot look up documents')
  const seen = await cluster.indices.seeAll(named)
  const isFresh = (await cluster.indices.refreshAll(named)) === undefined
  const holders = new Set<string>()
  const mayHide: string[] = []
  for (const name of named) {
    const view = await cluster.indices.viewOf(name, seen.get(name))
    for (const one of view.names) holders.add(one)
    if (view.mayHide) mayHide.push(name)
  }
  const notes = indices.flatMap(one => noteOn(one.index, seen.get(one.index), one.indexUuid))
  const more = notes.length - MOST_NOTES
  const first = notes.slice(0, MOST_NOTES)
  const others = more > 0 ? [`the same is true of ${more} more indices`] : []
  return {
    holders: [...holders],
    by: 'search',
    isFresh,
    mayHide,
    behind: named.flatMap(name => behindOf(name, seen.get(name))),
    notes: [...first, ...others, ...unfresh(index, isFresh)],
  }
}

function behindOf(name: string, seen: IndexSeen | undefined): readonly string[] {
  return seen?.kind === 'name' ? seen.behind : [name]
}

/**
 * Notes the indices that stored documents, and to which an alias or a data stream no longer leads. One of them may be a copy of another,
 * so Sluice searches only the indices behind the name. A deleted index holds no documents.
 */
async function noteFormer(held: Looked, { target }: Checkpoint, cluster: Cluster): Promise<Looked> {
  const { index: name, holders = [], elsewhere = [] } = target
  const looked = new Set([...held.behind, ...elsewhere])
  const left = holders.filter(({ index }) => !looked.has(index))
  if (left.length === 0) return held
  const seen = await cluster.indices.seeAll(left.map(({ index }) => index))
  const former = left.flatMap(one => (isIndexGone(one.indexUuid, seen.get(one.index)) ? [] : [one.index]))
  if (former.length === 0) return held
  const [first] = former
  const names = former.length === 1 ? first : `${first} and ${former.length - 1} more indices`
  const note = `the run also stored documents in ${names}, to which ${name} no longer leads. Sluice did not look there. To include them, let ${name} lead there, and run this command again`
  return { ...held, isFresh: false, notes: [...held.notes, note] }
}

/** Adds the indices that pipelines chose. The target itself may be missing. */
async function lookElsewhere(held: Looked, { target }: Checkpoint, cluster: Cluster): Promise<Looked> {
  const { elsewhere = [] } = target
  if (elsewhere.length === 0) return held
  const holders = [...new Set([held.holders, elsewhere].flat())]
  await cluster.privileges.mayRead(holders, 'Sluice cannot look up documents')
  const isFresh = held.isFresh && (await cluster.indices.refreshAll(holders)) === undefined
  const [first] = elsewhere
  const names = elsewhere.length === 1 ? first : `${first} and ${elsewhere.length - 1} more indices`
  const note = `a pipeline stored documents in ${names}, and Sluice looked there too`
  const unseen = held.isFresh && !isFresh ? unfresh(elsewhere.join(', '), false) : []
  return { ...held, holders, by: 'search', isFresh, notes: [...held.notes, note, ...unseen] }
}

const MOST_NOTES = 5

function noteOn(index: string, seen: IndexSeen | undefined, uuid: string | undefined): string[] {
  if (seen?.kind === 'missing') return [`the index ${index} no longer exists`]
  if (seen?.kind !== 'index' || uuid === undefined || seen.uuid === uuid) return []
  return [`${index} is a new index, not the one that the run was loaded into`]
}

function unfresh(index: string, isFresh: boolean): string[] {
  return isFresh ? [] : [`the credentials cannot refresh ${index}, so the newest documents might not be visible yet`]
}

/** Returns a note on documents that are missing, and may only be hidden. */
export function hiddenNote({ mayHide }: Pick<Held, 'mayHide'>): string[] {
  if (mayHide.length === 0) return []
  const [first] = mayHide
  const names = mayHide.length === 1 ? first : `${first} and ${mayHide.length - 1} more`
  return [
    `the credentials do not show whether ${names} is an alias with a filter, which hides documents. Grant view_index_metadata, and run this command again`,
  ]
}
