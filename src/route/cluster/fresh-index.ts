/**
 * Makes an index for one load, with its settings while the load runs. The load writes a mark into the mapping (`_meta.sluice`):
 * it stays with the index, so that after a crash any machine finds it.
 */
import type { AliasFacts, IndexFacts } from './alias.js'
import { decidedByServerless, loadSettings, metaOf, setMeta, setSettings } from './load-settings.js'
import type { Cluster } from './open-cluster.js'
import { type ReachedCluster, call } from './request.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'

interface LoadMark {
  readonly run: string
  readonly alias: string
  /** The index behind the alias when the load began. A rollback returns to it. */
  readonly previous?: string
  /** Set until the index has its settings back. Until then no alias should lead to it. */
  readonly loading?: true
  /** Settings before the load changed them. null: not set. Absent: none is changed. */
  readonly restore?: JsonObject
}

/** Returns the mark of an index. Undefined: no load of Sluice made the index. */
export function readMark(mappings: JsonObject): LoadMark | undefined {
  const { sluice } = metaOf(mappings)
  if (!isObject(sluice)) return undefined
  const { run, alias, previous, loading, restore } = sluice
  if (typeof run !== 'string' || typeof alias !== 'string') return undefined
  return {
    run,
    alias,
    ...(typeof previous === 'string' ? { previous } : {}),
    ...(loading === true ? { loading } : {}),
    ...(isObject(restore) ? { restore } : {}),
  }
}

/** Returns whether the alias leads to the index because a guarded load has finished it. */
export function leadsTo({ on }: AliasFacts, index: string | undefined): boolean {
  return on !== undefined && on.name === index && readMark(on.mappings)?.loading !== true
}

/** Makes an index with the mark. An index that exists stays as it is. Throws SluiceError: see `call`. */
export async function makeIndex(
  cluster: ReachedCluster,
  name: string,
  body: JsonObject,
  mark: LoadMark,
): Promise<void> {
  const mappings = isObject(body['mappings']) ? body['mappings'] : {}
  const whole = { ...body, mappings: { ...mappings, _meta: { ...metaOf(mappings), sluice: mark } } }
  const path = `/${encodeURIComponent(name)}`
  await call(cluster, { method: 'PUT', path, body: whole, expects: ['resource_already_exists_exception'] })
}

/** Returns the settings and mappings that a new index takes over from the one before, without its state. */
export function likeBefore({ settings, mappings }: IndexFacts, isServerless: boolean): JsonObject {
  const kept = Object.entries(settings).filter(
    ([name]) => takenOver.test(name) && !(isServerless && decidedByServerless.test(name)),
  )
  return { settings: Object.fromEntries(kept), mappings }
}

const takenOver =
  /^index\.(number_of_shards|number_of_replicas|number_of_routing_shards|auto_expand_replicas|refresh_interval|routing_partition_size|codec|mode|default_pipeline|final_pipeline|max_\w+|(analysis|similarity|mapping|sort|query|search|indexing|merge|translog)\..+)$/

/**
 * Writes the settings into the mark, and then turns off those that slow a load. If the mark has settings, it stays as it is: the
 * index may have those of the load by then. May be repeated. Throws SluiceError: see `call`.
 */
export async function startLoading(cluster: Cluster, facts: IndexFacts, mark: LoadMark): Promise<void> {
  const { changes, restore } = loadSettings(facts, cluster)
  if (mark.restore === undefined) await setMeta(cluster, facts, { sluice: { ...mark, loading: true, restore } })
  await setSettings(cluster, facts.name, changes)
}

/** Restores the settings from the mark, and removes them from it. May be repeated. Throws SluiceError: see `call`. */
export async function endLoading(cluster: ReachedCluster, facts: IndexFacts, mark: LoadMark): Promise<void> {
  const { loading, restore, ...rest } = mark
  if (restore !== undefined) await setSettings(cluster, facts.name, restore)
  if (loading !== undefined) await setMeta(cluster, facts, { sluice: rest })
}
