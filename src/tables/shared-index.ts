import { type Checkpoint, isSameCluster } from '../state/checkpoint.js'
import { knownRuns } from '../state/runs.js'
import type { FoundRun } from '../state/find-run.js'
import { fail } from '../failure/failure.js'

/** Throws SluiceError DELETIONS_INDEX_SHARED if the index holds documents of another run, which Sluice would delete. */
export async function refuseSharedIndex(stateDir: string | undefined, found: FoundRun): Promise<void> {
  if (stateDir === undefined || found.isIndexMissing) return
  const { known } = await knownRuns(stateDir)
  const others = known.flatMap(({ checkpoint, isEarlier, path }) => {
    if (path === found.path || !isSameIndex(checkpoint, found) || !hasStored(checkpoint)) return []
    const names = checkpoint.sources.filter(name => !found.sources.includes(name))
    if (names.length > 0) return names
    // Another selection of the same rows, unless this command had another selection once.
    return isEarlier || isSameSelection(checkpoint, found)
      ? []
      : [`${checkpoint.sources.join(', ')} with another query`]
  })
  if (others.length === 0) return
  const [first = '', ...more] = new Set(others)
  const other = more.length === 0 ? first : `${first} and ${more.length} more`
  throw fail('DELETIONS_INDEX_SHARED', { index: found.target.index, other })
}

function isSameIndex({ target: was }: Checkpoint, { target }: FoundRun): boolean {
  if (!isSameCluster(was, target)) return false
  const isSameName = [was.index, was.alias, ...(was.behind ?? [])].some(name => {
    return name !== undefined && [target.index, ...(target.behind ?? [])].includes(name)
  })
  const isOther = was.indexUuid !== undefined && target.indexUuid !== undefined && was.indexUuid !== target.indexUuid
  return isSameName && !isOther
}

function hasStored({ counts: { created, updated, duplicate, unknown } }: Checkpoint): boolean {
  return created + updated + duplicate + unknown > 0
}

function isSameSelection({ inputs }: Checkpoint, { plan }: FoundRun): boolean {
  return inputs.every(({ name, selection }) => {
    const now = plan.inputs.find(({ source }) => source.name === name)?.source.cursor?.selection
    return selection?.['query'] === now?.['query']
  })
}
