/** Defines the questions that a cluster answers about its indices, and the changes that it makes to them. */
import type { Failure } from '../../base/failure/failure.js'
import type { JsonObject } from '../../base/json/parse-json.js'
import type { Operation } from '../../base/operation.js'

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
