/** Compares documents of one cluster with those of another, list by list. */
import { explain, isSluiceError } from '../../base/failure/failure.js'
import { isSameDocument } from '../../base/json/same-document.js'
import type { IndexAgain, ListedDocument } from '../../features/another-cluster/read-again.js'
import type { PartStep } from '../../route/cluster/documents.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Compared } from './compare-tally.js'
import type { Pace } from './pace.js'

interface Comparing {
  readonly source: IndexAgain
  readonly target: Cluster
  /** The indices of the target that may hold a document. Usually one. */
  holders(document: ListedDocument): Promise<readonly string[]>
  /** Whether the run has read this state of a document. */
  wasRead(document: ListedDocument): boolean
  wasRejected(id: string): boolean
  /** Takes lists, one at a time. */
  readonly pace: Pace
  readonly signal: AbortSignal
  readonly warn: (message: string) => void
  /** `isThere`: whether the target holds a document of that id. */
  compared(id: string, outcome: Compared, isThere: boolean): void
  /** Called after each list. */
  listDone(): void
}

/** Compares every document of the source with the target. Throws SluiceError if one of the clusters cannot answer. */
export async function compareDocuments(comparing: Comparing): Promise<void> {
  const { source, pace, warn } = comparing
  await pace.through(
    source.lists(warn),
    async ([list = []]) => await attempted(async () => await compare(comparing, list)),
  )
}

async function compare({ target, signal, ...comparing }: Comparing, list: readonly ListedDocument[]): Promise<void> {
  const stored = new Map<ListedDocument, Buffer>()
  for (const [holders, documents] of await byHolders(list, comparing))
    for (const index of holders) {
      const wanted = documents.filter(document => !stored.has(document))
      if (wanted.length === 0) break
      const found = await target.documents.readSources({ index, wanted, signal })
      for (const [at, document] of wanted.entries()) {
        const bytes = found[at]
        if (bytes !== undefined) stored.set(document, bytes)
      }
    }
  for (const document of list) {
    const bytes = stored.get(document)
    comparing.compared(document.id, outcomeOf(document, bytes, comparing), bytes !== undefined)
  }
  comparing.listDone()
}

async function byHolders(
  list: readonly ListedDocument[],
  { holders }: Pick<Comparing, 'holders'>,
): Promise<Map<readonly string[], ListedDocument[]>> {
  const groups = new Map<readonly string[], ListedDocument[]>()
  for (const document of list) {
    const found = await holders(document)
    const group = groups.get(found)
    if (group === undefined) groups.set(found, [document])
    else group.push(document)
  }
  return groups
}

function outcomeOf(
  document: ListedDocument,
  stored: Buffer | undefined,
  { wasRead, wasRejected }: Pick<Comparing, 'wasRead' | 'wasRejected'>,
): Compared {
  if (stored !== undefined && isSameDocument(document.bytes, stored)) return 'equal'
  if (!wasRead(document)) return 'unread'
  if (wasRejected(document.id)) return 'rejected'
  return stored === undefined ? 'missing' : 'different'
}

interface Strangers {
  readonly target: IndexAgain
  readonly source: Cluster
  /** The indices that were read into it. */
  readonly origins: readonly string[]
  readonly pace: Pace
  readonly signal: AbortSignal
  readonly warn: (message: string) => void
  stranger(id: string): void
}

/** Finds documents of the target that none of the indices holds. Throws as `compareDocuments`. */
export async function findStrangers({
  target,
  source,
  origins,
  pace,
  signal,
  warn,
  stranger,
}: Strangers): Promise<void> {
  await pace.through(target.lists(warn), async ([list = []]) => {
    let left = list
    for (const index of origins) {
      if (left.length === 0) break
      const looked = await source.documents.find({ index, by: 'id', wanted: left, signal })
      if (looked.kind !== 'found') return looked
      const found = new Set(looked.documents.map(({ id }) => id))
      left = left.filter(({ id }) => !found.has(id))
    }
    for (const { id } of left) stranger(id)
    return { kind: 'done' }
  })
}

/** Asks again for what may succeed later. */
async function attempted<T>(work: () => Promise<void>): Promise<PartStep<T>> {
  try {
    await work()
    return { kind: 'done' }
  } catch (error) {
    if (!isSluiceError(error) || explain(error.code).exit !== 4) throw error
    return { kind: 'again', failure: error.failure }
  }
}
