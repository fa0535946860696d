/** Reads indices of another cluster instead of files. */
import type { Source } from '../../base/flow.js'
import type { FromSection, RetrySection } from '../../options/load.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Composed, EndingHook, InputsHook, RouteHook, Run } from '../../run/loop/hooks.js'
import { RangeList } from '../../pipeline/source/ranges.js'
import { findIndices, type FoundIndex } from './find-indices.js'
import { indexSource } from './index-source.js'
import { doubtOf, rebuilt } from './messages.js'
import { findKept, type KeptOrigin, keptOrigin, openOrigin } from './open-origin.js'
import { openSpans } from './shard-spans.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only if indices of another cluster were read: its URL, and the bytes of its route, which count TLS. */
    readonly from?: {
      readonly url: string
      readonly connections: number
      readonly sent: number
      readonly received: number
    }
  }
}

interface Sections {
  readonly from: FromSection
  readonly retrying: Pick<RetrySection, 'maxElapsedMs'>
}

/**
 * Size of bodies, unless somebody set another one. A cluster that indexes as fast as it can takes a second for each, so up to 17 of them
 * are in memory, and two layers of TLS hold as much again.
 */
const USUAL_BYTES = 1_000_000

/** Opens the other cluster when the inputs are looked for, and closes it when the run ends. */
export function readIndices(sections: Sections, kept?: KeptOrigin): Composed {
  // What is kept outlives the run.
  const origin = String(sections.from.connecting.target.url)
  return { origin, feature: run => hookOf(sections, run, kept) }
}

function hookOf({ from, retrying }: Sections, { tell }: Run, kept?: KeptOrigin): InputsHook & RouteHook & EndingHook {
  let opened: Cluster | undefined
  let found: readonly FoundIndex[] = []
  return {
    identify: plain => ({
      ...plain,
      sources: plain.sources.map(name => `${name} at ${String(from.connecting.target.url)}`),
    }),
    sources: async ({ source }, signal) => {
      const cluster =
        kept === undefined ? (await openOrigin(from, signal)).cluster : await keptOrigin(from, signal, kept)
      opened = cluster
      if (source instanceof RangeList) {
        const known = kept ?? { found: new Map() }
        const find = async (name: string, isAnew: boolean) =>
          await findKept(from, { cluster, kept: known, isAnew }, name)
        return await openSpans(source, { from, retrying, cluster, find })
      }
      found = await findIndices(cluster, from)
      const { maxElapsedMs } = retrying
      const doubted = sayOnce(why => tell({ type: 'warning', message: doubtOf(why) }))
      return found.map((one, id): Source => indexSource({ id, cluster, maxElapsedMs, doubted, ...one }))
    },
    // An earlier load, or one that was killed, has brought such a document.
    sending: { comparesConflicts: true, usualBytes: USUAL_BYTES },
    connected: async () => {
      for (const message of [...(opened?.warnings ?? []), ...rebuilt(found)]) tell({ type: 'warning', message })
      return await Promise.resolve(opened === undefined ? [] : [`reading from ${opened.display}`])
    },
    receipt: () => {
      if (opened === undefined) return {}
      const { connections, bytesSent: sent, bytesReceived: received } = opened.route.traffic
      return { from: { url: opened.display, connections, sent, received } }
    },
    dispose: async () => {
      if (kept === undefined) await opened?.route.destroy()
    },
  }
}

function sayOnce(say: (why: string) => void): (why: string) => void {
  const said = new Set<string>()
  return why => {
    if (!said.has(why)) say(why)
    said.add(why)
  }
}
