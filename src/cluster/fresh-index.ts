/** An index that is made for one load: how it comes to be, and its settings while the load goes on. */
import type { IndexFacts } from './alias.js'
import { call, isObject } from './call.js'
import { type LoadMark, withMark } from './load-mark.js'
import type { Cluster } from './open-cluster.js'

type JsonObject = Readonly<Record<string, unknown>>

/** Makes an index with the mark in it. One that is there already stays as it is. Throws SluiceError: see `call`. */
export async function makeIndex(cluster: Cluster, name: string, body: JsonObject, mark: LoadMark): Promise<void> {
  const mappings = isObject(body['mappings']) ? body['mappings'] : {}
  const whole = { ...body, mappings: { ...mappings, _meta: withMark(mappings, mark) } }
  const path = `/${encodeURIComponent(name)}`
  await call(cluster, { method: 'PUT', path, body: whole, expects: ['resource_already_exists_exception'] })
}

/** What a new index takes over from the one before: how documents are analysed, mapped, sorted and spread, and nothing of its state. */
export function likeBefore({ settings, mappings }: IndexFacts, isServerless: boolean): JsonObject {
  const kept = Object.entries(settings).filter(([name]) => {
    return takenOver.test(name) && !(isServerless && managed.test(name))
  })
  return { settings: Object.fromEntries(kept), mappings }
}

const takenOver =
  /^index\.(number_of_shards|number_of_replicas|number_of_routing_shards|auto_expand_replicas|refresh_interval|routing_partition_size|codec|mode|default_pipeline|final_pipeline|max_\w+|(analysis|similarity|mapping|sort|query|search|indexing|merge|translog)\..+)$/

/** What serverless decides by itself. */
const managed = /^index\.(number_of_\w+|auto_expand_replicas|translog\..+|merge\..+)$/

/** No refreshes and no copies while documents stream in. Serverless keeps copies by itself. */
const whileLoading: JsonObject = { 'index.refresh_interval': '-1', 'index.number_of_replicas': '0' }

/**
 * Turns off what slows a load, after what was set has been written into the mark. A mark that has it is left alone: what is set
 * then may be the load's. May be repeated. Throws SluiceError: see `call`.
 */
export async function startLoading(
  cluster: Cluster,
  { name, settings, mappings }: IndexFacts,
  mark: LoadMark,
): Promise<void> {
  const isServerless = cluster.preflight.info?.flavor === 'serverless'
  const expands = settings['index.auto_expand_replicas']
  const changes = {
    ...whileLoading,
    // It would make the copies again.
    ...(expands === undefined || expands === 'false' ? {} : { 'index.auto_expand_replicas': 'false' }),
  }
  const changed = Object.entries(changes).filter(([setting]) => !(isServerless && managed.test(setting)))
  if (mark.restore === undefined) {
    const restore = Object.fromEntries(changed.map(([setting]) => [setting, settings[setting] ?? null]))
    await setMark(cluster, name, mappings, { ...mark, loading: true, restore })
  }
  await setSettings(cluster, name, Object.fromEntries(changed))
}

/** Gives the settings back that the mark has, and takes them out of it. May be repeated. Throws SluiceError: see `call`. */
export async function endLoading(cluster: Cluster, { name, mappings }: IndexFacts, mark: LoadMark): Promise<void> {
  const { loading, restore, ...rest } = mark
  if (restore !== undefined) await setSettings(cluster, name, restore)
  if (loading !== undefined) await setMark(cluster, name, mappings, rest)
}

async function setSettings(cluster: Cluster, index: string, settings: JsonObject): Promise<void> {
  await call(cluster, { method: 'PUT', path: `/${encodeURIComponent(index)}/_settings`, body: settings })
}

async function setMark(cluster: Cluster, index: string, mappings: JsonObject, mark: LoadMark): Promise<void> {
  const body = { _meta: withMark(mappings, mark) }
  await call(cluster, { method: 'PUT', path: `/${encodeURIComponent(index)}/_mapping`, body })
}
