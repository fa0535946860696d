/** Reads indices of another cluster instead of files. */
import { fail } from '../../base/failure/failure.js'
import { isObject } from '../../base/json/parse-json.js'
import type { Source } from '../../base/flow.js'
import type { FromSection, RetrySection } from '../../options/load.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { openClusterItself } from '../../route/connect/open-target.js'
import type { Composed, EndingHook, InputsHook, RouteHook, Run } from '../../run/loop/hooks.js'
import { indexSource } from './index-source.js'

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

/** Opens the other cluster when the inputs are looked for, and closes it when the run ends. */
export function readIndices(sections: Sections): Composed {
  const origin = String(sections.from.connecting.target.url)
  return { origin, feature: run => hookOf(sections, run) }
}

function hookOf({ from, retrying }: Sections, { tell }: Run): InputsHook & RouteHook & EndingHook {
  let opened: Cluster | undefined
  return {
    identify: plain => ({
      ...plain,
      sources: plain.sources.map(name => `${name} at ${String(from.connecting.target.url)}`),
    }),
    sources: async (_, signal) => {
      const { cluster } = await openClusterItself(from.connecting, signal)
      opened = cluster
      const found = await findIndices(cluster, from.names)
      const { query } = from
      return found.map((one, id): Source =>
        indexSource({ id, cluster, query, maxElapsedMs: retrying.maxElapsedMs, ...one }),
      )
    },
    connected: async () => {
      for (const warning of opened?.warnings ?? []) tell({ type: 'warning', message: warning })
      return await Promise.resolve(opened === undefined ? [] : [`reading from ${opened.display}`])
    },
    receipt: () => {
      if (opened === undefined) return {}
      const { connections, bytesSent: sent, bytesReceived: received } = opened.route.traffic
      return { from: { url: opened.display, connections, sent, received } }
    },
    dispose: async () => await opened?.route.destroy(),
  }
}

interface FoundIndex {
  readonly index: string
  readonly uuid: string
  readonly shards: number
}

/** Returns the indices behind the names, each once, and in the order of their names. Throws SluiceError INPUT_NOT_FOUND, INPUT_UNREADABLE. */
async function findIndices(cluster: Cluster, names: readonly string[]): Promise<FoundIndex[]> {
  const found = new Map<string, FoundIndex>()
  for (const name of names) {
    const path = `/${encodeURIComponent(name)}`
    const { status, json } = await cluster.call({
      method: 'GET',
      path,
      query: { expand_wildcards: 'open,hidden' },
      expects: ['index_not_found_exception'],
    })
    const indices = status === 404 ? [] : Object.entries(json)
    if (indices.length === 0) throw fail('INPUT_NOT_FOUND', { input: `elasticsearch:${name}` })
    for (const [index, about] of indices) found.set(index, described(index, about))
  }
  return [...found.values()].toSorted((one, other) => (one.index < other.index ? -1 : 1))
}

function described(index: string, about: unknown): FoundIndex {
  const { settings, mappings } = isObject(about) ? about : {}
  const own = isObject(settings) && isObject(settings['index']) ? settings['index'] : {}
  refuseWithoutSource(index, isObject(mappings) ? mappings['_source'] : undefined)
  return { index, uuid: String(own['uuid']), shards: Number(own['number_of_shards'] ?? 1) }
}

/** The documents that were sent cannot be had from such an index. */
function refuseWithoutSource(index: string, source: unknown): void {
  if (!isObject(source)) return
  const input = `elasticsearch:${index}`
  if (source['enabled'] === false)
    throw fail('INPUT_UNREADABLE', {
      input,
      problem: 'its mapping says "_source": {"enabled": false}, so it holds no documents that can be read',
    })
  const cut = ['includes', 'excludes'].find(
    part => Array.isArray(source[part]) && (source[part] as unknown[]).length > 0,
  )
  if (cut !== undefined)
    throw fail('INPUT_UNREADABLE', {
      input,
      problem: `its mapping says "_source": {"${cut}": …}, so its documents lack fields`,
    })
}
