/**
 * Defines the questions that a cluster answers about its indices, and changes an index while a load runs: its settings, and a mark in its
 * mapping (`_meta`). The mark stays with the index, so that after a crash any machine finds it.
 */
import type { Failure } from '../../base/failure/failure.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import type { Operation } from '../../base/operation.js'
import type { Call, Called } from './request.js'
import type { ClusterInfo } from './answers.js'

/** Methods without another word throw SluiceError: see `call` of the cluster. */
export interface Indices {
  /** Asks for the uuid of an index: an index that is deleted and made again has another one. Never throws. */
  see(index: string, signal?: AbortSignal): Promise<IndexSeen>
  /** Asks for the uuids of many indices, with few requests. Never throws. */
  seeAll(names: readonly string[], signal?: AbortSignal): Promise<ReadonlyMap<string, IndexSeen>>
  /**
   * Asks for the uuids of indices that were behind a name. `name`: the answer about that name, which credentials may read that may not
   * ask for an index itself. Never throws.
   */
  seeBehind(
    name: IndexSeen | undefined,
    indices: readonly string[],
    signal?: AbortSignal,
  ): Promise<ReadonlyMap<string, IndexSeen>>
  /**
   * Returns the name, or the indices behind an alias that shows only a part of them. Throws SluiceError CLUSTER_PRIVILEGE_MISSING if the
   * credentials may not search these.
   */
  viewOf(name: string, seen: IndexSeen | undefined): Promise<View>
  /** Makes all stored documents findable. Resolves to a failure if it could not. Never throws: a search works without it. */
  refresh(index: string): Promise<Failure | undefined>
  /** Does so for many indices. Those that are missing need nothing. */
  refreshAll(names: readonly string[]): Promise<Failure | undefined>
  /** Makes all documents visible. */
  makeVisible(index: string): Promise<void>
  /** Counts the documents, or only those that match a query. Does not count those of `failedShards`, which did not answer. */
  count(index: string, query?: object): Promise<{ readonly documents: number; readonly failedShards: number }>
  /** Waits up to `seconds` for every copy. Does not wait for copies that have no node. */
  waitForCopies(index: string, seconds: number): Promise<Health>
  /** Reads the indices behind a name. Returns none if nothing has the name. */
  read(name: string): Promise<readonly IndexFacts[]>
  /** Finds the index that takes the documents sent to a name. */
  findWriter(name: string): Promise<WriteIndex>
  /**
   * Makes the index as the first document would: templates apply, and may make it a data stream. An index that exists stays as it is. A
   * cluster that makes data streams only for documents makes none.
   */
  make(name: string, body?: JsonObject): Promise<void>
  /**
   * Makes a data stream, whose mapping comes from an index template. Returns why no template makes one. Undefined: there is one now, or
   * the first document makes it.
   */
  makeStream(name: string): Promise<string | undefined>
  /** Throws SluiceError ALIAS_CONFLICT if the name is no alias of exactly one index. */
  readAlias(alias: string): Promise<AliasFacts>
  /**
   * Moves an alias to an index in one step, with its filter and routing. Before that, it must be on `alias.on`.
   * Throws SluiceError ALIAS_CONFLICT if it is on another index. May be repeated.
   */
  switchAlias(alias: AliasFacts, to: string): Promise<void>
  removeAlias(alias: string, index: string): Promise<void>
}

/** What the credentials may do. A cluster without security does not say. Each but `mayFill` throws SluiceError CLUSTER_PRIVILEGE_MISSING. */
export interface Privileges {
  /** Checks that they may search and delete documents of an index. For an alias the answer would be about the alias only. */
  mayDelete(index: string): Promise<void>
  /** Checks that they may change settings and mapping of an index. `what`: what Sluice cannot do. */
  mayManage(index: string, what: string): Promise<void>
  /**
   * Checks that they may search indices. A search through a list of names shows nothing of those that they may not read, and does not say
   * so. `what`: what Sluice cannot do.
   */
  mayRead(indices: readonly string[], what: string): Promise<void>
  /** Checks that they may create the indices of a pattern, and write to them. Returns warnings. Never throws. */
  mayFill(filling: Filling): Promise<readonly string[]>
}

export interface Filling {
  /** The names, with `*` for what documents say. */
  readonly wildcard: string
  readonly op: Operation
  readonly signal?: AbortSignal
}

/** What settings show of an index, or of one of those behind a name. */
export interface Shown {
  /** Periodic refreshes are off. */
  readonly isUnrefreshed?: true
  /** A pipeline of its own treats documents. */
  readonly isPiped?: true
}

export type IndexSeen =
  | (Shown & { readonly kind: 'index'; readonly uuid: string })
  /** An alias or a data stream. It stays when the indices behind it change: a rollover adds one. `uuids`: of `behind`. */
  | (Shown & { readonly kind: 'name'; readonly behind: readonly string[]; readonly uuids: readonly string[] })
  | { readonly kind: 'missing' }
  /** The credentials may not ask, or the cluster gave no answer that Sluice knows. */
  | { readonly kind: 'unreadable'; readonly observed: string; readonly failure: Failure }

/** How the copies of an index are. `unknown`: the credentials may not ask (needs the cluster privilege `monitor`). */
export type Health = 'green' | 'yellow' | 'red' | 'unknown'

export interface IndexFacts {
  readonly name: string
  /** By dotted name: `index.number_of_replicas`. */
  readonly settings: JsonObject
  readonly mappings: JsonObject
  readonly aliases: Readonly<Record<string, JsonObject>>
  /** The data stream that the index belongs to. */
  readonly stream?: string
}

export interface AliasFacts {
  readonly name: string
  /** The one index behind it. Absent: there is no such alias yet. */
  readonly on?: IndexFacts
}

/** Where to search, and whether a document that is not found there may be behind the name all the same. */
export interface View {
  readonly names: readonly string[]
  readonly mayHide: boolean
}

export interface WriteIndex {
  /** Absent: nothing has the name. */
  readonly facts?: IndexFacts
  /** Why no single index takes the documents. */
  readonly problem?: string
}

/** No refreshes and no copies while documents stream in. Serverless keeps copies by itself. */
const whileLoading: JsonObject = { 'index.refresh_interval': '-1', 'index.number_of_replicas': '0' }

/** Settings that serverless decides by itself. */
const decidedByServerless = /^index\.(number_of_\w+|auto_expand_replicas|translog\..+|merge\..+)$/

/** The parts of a cluster that a change of an index needs. */
interface ChangedBy {
  readonly preflight: { readonly info?: ClusterInfo | undefined }
  call(request: Call): Promise<Called>
}

interface LoadSettings {
  /** Settings that an index has while a load runs. */
  readonly changes: JsonObject
  /** The same settings before. null: not set. */
  readonly restore: JsonObject
}

export function loadSettings(
  { settings }: Pick<IndexFacts, 'settings'>,
  { preflight }: Pick<ChangedBy, 'preflight'>,
): LoadSettings {
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
export async function setSettings(
  cluster: Pick<ChangedBy, 'call'>,
  index: string,
  settings: JsonObject,
): Promise<void> {
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
  cluster: ChangedBy,
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
export async function makeIndex(cluster: ChangedBy, name: string, body: JsonObject, mark: LoadMark): Promise<void> {
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
export async function startLoading(cluster: ChangedBy, facts: IndexFacts, mark: LoadMark): Promise<void> {
  const { changes, restore } = loadSettings(facts, cluster)
  if (mark.restore === undefined) await setMeta(cluster, facts, { sluice: { ...mark, loading: true, restore } })
  await setSettings(cluster, facts.name, changes)
}

/** Restores the settings from the mark, and removes them from it. May be repeated. Throws SluiceError: see `call`. */
export async function endLoading(cluster: ChangedBy, facts: IndexFacts, mark: LoadMark): Promise<void> {
  const { loading, restore, ...rest } = mark
  if (restore !== undefined) await setSettings(cluster, facts.name, restore)
  if (loading !== undefined) await setMeta(cluster, facts, { sluice: rest })
}
