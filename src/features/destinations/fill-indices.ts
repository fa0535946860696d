/** Loads into indices that fields of the documents name: limits how many, and adds them to the receipt. */
import { failure } from '../../base/failure/failure.js'
import type { DocumentSection } from '../../options/load.js'
import type { Feature, Started } from '../../run/loop/hooks.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { lostHolders, type LostIndices, lostNamed } from '../../run/state/resume/lost-index.js'
import { wildcardOf } from '../../base/text/index-pattern.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { mayFill } from '../../route/cluster/may-fill.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Set if fields of the documents name their index: how many documents each index took, most first. */
    readonly indices?: readonly { readonly index: string; readonly documents: number }[]
  }
}

interface Sections {
  readonly documents: Pick<DocumentSection, 'indexPattern' | 'maxIndices' | 'op'>
  readonly dryRun: boolean
}

export function fillIndices({ documents: { indexPattern: pattern, maxIndices, op }, dryRun }: Sections): Feature {
  return ({ tell, stop }) => {
    if (pattern === undefined) return undefined
    const wildcard = wildcardOf(pattern)
    /** Documents of this process by index, with indices of earlier processes. */
    const named = new Map<string, number>()
    let run: Started | undefined
    return {
      identify: plain => ({
        ...plain,
        // Another pattern for the same names is another option, not another target.
        scope: wildcard,
        options: { ...plain.options, index: pattern.text },
        target: { indices: [] },
        lastIndex: () => undefined,
        lost: async (last, _seen, cluster) => (await lostNamed(last, cluster)) ?? (await lostBehind(last, cluster)),
      }),
      connected: async cluster => {
        for (const message of await mayFill(cluster, { wildcard, op, signal: stop.signal }))
          tell({ type: 'warning', message })
        return [`each document names its index: ${pattern.text}, at most ${maxIndices}`]
      },
      prepare: async started => {
        run = started
        for (const { index } of started.found.target.indices ?? []) named.set(index, 0)
        await Promise.resolve()
      },
      admit: ({ indices = new Map<string, number>() }) => {
        for (const [index, documents] of indices) {
          if (!named.has(index) && named.size >= maxIndices)
            return failure('TOO_MANY_INDICES', { limit: maxIndices, index })
          named.set(index, (named.get(index) ?? 0) + documents)
        }
        return undefined
      },
      receipt: () => {
        const taken = new Map(dryRun ? named : run?.ledger.indices)
        if (!dryRun)
          for (const { index, documents } of run?.found.target.indices ?? [])
            taken.set(index, (taken.get(index) ?? 0) + documents)
        const indices = Array.from(taken, ([index, documents]) => ({ index, documents }))
        return { indices: indices.filter(one => one.documents > 0).toSorted(byDocuments) }
      },
    }
  }
}

async function lostBehind(last: Checkpoint, cluster: Cluster): Promise<LostIndices | undefined> {
  const lost = await lostHolders(last, undefined, cluster)
  return lost === undefined ? undefined : { ...lost, startsAfresh: last.status !== 'finished' }
}

type Taken = { readonly index: string; readonly documents: number }

function byDocuments(one: Taken, other: Taken): number {
  return other.documents - one.documents || (one.index < other.index ? -1 : 1)
}
