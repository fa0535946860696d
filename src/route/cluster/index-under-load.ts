/**
 * Changes an index while a load runs, and lets it remember that: its settings, and a mark in its mapping (`_meta`). The mark stays with
 * the index, so that after a crash any machine finds it.
 */
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import type { AliasFacts, IndexFacts } from './indices.js'
import type { Cluster } from './open-cluster.js'

/** No refreshes and no copies while documents stream in. Serverless keeps copies by itself. */
const whileLoading: JsonObject = { 'index.refresh_interval': '-1', 'index.number_of_replicas': '0' }

/** Settings that serverless decides by itself. */
const decidedByServerless = /^index\.(number_of_\w+|auto_expand_replicas|translog\..+|merge\..+)$/

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
export async function setSettings(cluster: Cluster, index: string, settings: JsonObject): Promise<void> {
  await cluster.call({ method: 'PUT', path: `/${encodeURIComponent(index)}/_settings`, body: settings })
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
  cluster: Cluster,
  { name, mappings }: Pick<IndexFacts, 'name' | 'mappings'>,
  own: Readonly<Record<string, unknown>>,
): Promise<void> {
  const body = { _meta: { ...metaOf(mappings), ...own } }
  await cluster.call({ method: 'PUT', path: `/${encodeURIComponent(name)}/_mapping`, body })
}

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
export async function makeIndex(cluster: Cluster, name: string, body: JsonObject, mark: LoadMark): Promise<void> {
  const mappings = isObject(body['mappings']) ? body['mappings'] : {}
  const whole = { ...body, mappings: { ...mappings, _meta: { ...metaOf(mappings), sluice: mark } } }
  const path = `/${encodeURIComponent(name)}`
  await cluster.call({ method: 'PUT', path, body: whole, expects: ['resource_already_exists_exception'] })
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
export async function endLoading(cluster: Cluster, facts: IndexFacts, mark: LoadMark): Promise<void> {
  const { loading, restore, ...rest } = mark
  if (restore !== undefined) await setSettings(cluster, facts.name, restore)
  if (loading !== undefined) await setMeta(cluster, facts, { sluice: rest })
}
