/**
 * Finds what became of a run's documents in later runs. An index that is deleted and made anew is loaded again under the same ids:
 * such documents belong to the last run that loaded them.
 */
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { type Checkpoint, isSameCluster } from '../../run/state/checkpoint/checkpoint.js'
import { lostIndex, lostNamed } from '../../run/state/resume/lost-index.js'
import type { KnownRun } from '../../run/state/runs/runs.js'
import { type InputIds, idsOf } from './run-ids.js'

/**
 * Returns the last run that loaded documents of this run again: its name, or its path if both have the same name. `others`: all other
 * runs of the state folder, newest first. `inputs`: those of the run.
 */
export function loadedAgainBy(
  run: Checkpoint,
  inputs: readonly InputIds[],
  others: readonly KnownRun[],
): string | undefined {
  const own = new Map(inputs.map(input => [input.token, input]))
  const later = others.find(({ checkpoint }) => {
    if (Date.parse(checkpoint.began) <= Date.parse(run.began) || !isSamePlace(run, checkpoint)) return false
    for (const { token } of checkpoint.inputs) if (own.has(token)) return sharesIds(own, checkpoint)
    // Ids from fields are the same, whatever the token of the input is.
    return (run.options['ids'] ?? 'run') !== 'run' && sharesFile(run, checkpoint)
  })
  if (later === undefined) return undefined
  return later.checkpoint.run === run.run ? later.path : later.checkpoint.run
}

function isSamePlace({ target }: Checkpoint, other: Checkpoint): boolean {
  const names = new Set(namesIn(target))
  return isSameCluster(target, other.target) && namesIn(other.target).some(name => names.has(name))
}

/** Returns the names under which a run may have stored documents. */
export function namesIn({ index, indices = [], elsewhere = [] }: Checkpoint['target']): string[] {
  return [index, ...indices.map(one => one.index), ...elsewhere]
}

function sharesIds(own: ReadonlyMap<string, InputIds>, other: Checkpoint): boolean {
  return idsOf(other).some(input => {
    const mine = own.get(input.token)
    return mine !== undefined && Math.max(firstOf(mine), firstOf(input)) <= Math.min(lastOf(mine), lastOf(input))
  })
}

function sharesFile(run: Checkpoint, other: Checkpoint): boolean {
  const paths = new Set(Array.from(run.inputs, ({ file }) => file?.path))
  return Array.from(other.inputs).some(({ file }) => file?.path !== undefined && paths.has(file.path))
}

/** Leaves out a document that an earlier run stored. */
function firstOf({ first, sharesFirst }: InputIds): number {
  return sharesFirst ? first + 1 : first
}

function lastOf({ last, isOpen }: InputIds): number {
  return isOpen ? Infinity : last
}

/** Returns whether the same load starts afresh, although it knows this run: an index of the run is gone. Never throws. */
export async function isRunLost(run: Checkpoint, cluster: Cluster): Promise<boolean> {
  const { index, indices } = run.target
  const lost =
    indices === undefined
      ? await lostIndex(run, await cluster.indices.see(index), cluster)
      : await lostNamed(run, cluster)
  return lost?.startsAfresh === true
}
