/** Changes the settings of an index while a load runs, and what its mapping remembers (`_meta`). */
import type { IndexFacts } from './alias.js'
import type { Cluster } from './open-cluster.js'
import { type ReachedCluster, call } from './request.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'

/** No refreshes and no copies while documents stream in. Serverless keeps copies by itself. */
const whileLoading: JsonObject = { 'index.refresh_interval': '-1', 'index.number_of_replicas': '0' }

/** Settings that serverless decides by itself. */
export const decidedByServerless = /^index\.(number_of_\w+|auto_expand_replicas|translog\..+|merge\..+)$/

interface LoadSettings {
  /** Settings that an index has while a load runs. */
  readonly changes: JsonObject
  /** The same settings before. null: not set. */
  readonly restore: JsonObject
}

export function loadSettings({ settings }: Pick<IndexFacts, 'settings'>, { preflight }: Cluster): LoadSettings {
  const isServerless = preflight.info?.flavor === 'serverless'
  const expands = settings['index.auto_expand_replicas']
  const all = {
    ...whileLoading,
    // Else the cluster would make the copies again.
    ...(expands === undefined || expands === 'false' ? {} : { 'index.auto_expand_replicas': 'false' }),
  }
  const changes = Object.entries(all).filter(([setting]) => !(isServerless && decidedByServerless.test(setting)))
  const restore = changes.map(([setting]) => [setting, settings[setting] ?? null] as const)
  return { changes: Object.fromEntries(changes), restore: Object.fromEntries(restore) }
}

/** Throws SluiceError: see `call`. */
export async function setSettings(cluster: ReachedCluster, index: string, settings: JsonObject): Promise<void> {
  await call(cluster, { method: 'PUT', path: `/${encodeURIComponent(index)}/_settings`, body: settings })
}

/** Returns the `_meta` of mappings: what its users want to remember. */
export function metaOf({ _meta: meta }: JsonObject): JsonObject {
  return isObject(meta) ? meta : {}
}

/**
 * Sets some names in the `_meta` of an index, and removes those that are undefined. The cluster replaces `_meta` as a whole, so the
 * other names are those that were read. Throws SluiceError: see `call`.
 */
export async function setMeta(
  cluster: ReachedCluster,
  { name, mappings }: Pick<IndexFacts, 'name' | 'mappings'>,
  own: Readonly<Record<string, unknown>>,
): Promise<void> {
  const body = { _meta: { ...metaOf(mappings), ...own } }
  await call(cluster, { method: 'PUT', path: `/${encodeURIComponent(name)}/_mapping`, body })
}
