/** Looks up stored documents by their ids, walks all ids of an index, and deletes documents that were found. */
import type { Failure } from '../../base/failure/failure.js'
import type { JsonObject } from '../../base/json/parse-json.js'
import type { ClusterAnswer } from './answers.js'

export interface Documents {
  /** Finds which ids are in an index. Throws SluiceError RUN_INTERRUPTED, and the client's error if it is a bug. */
  find(question: IdQuestion): Promise<Looked>
  /**
   * Passes on every id of an index, as it was at one instant. An index that does not exist has none. Throws SluiceError:
   * INDEX_REQUEST_REFUSED, CLUSTER_*, RUN_INTERRUPTED, and every failure of the route. Needs the privilege `read`.
   */
  walkIds(walking: Walking): Promise<void>
  /** Reads documents of one shard, as the cluster stores them: see `readHits`. */
  readHits(question: HitsQuestion): Promise<HitsPage>
  /** Returns the highest sequence number that a search of the shard shows. -1: the shard shows no document. Throws as `readHits`. */
  highestNumber(question: Pick<HitsQuestion, 'index' | 'shard' | 'signal'>): Promise<number>
  /** Reads stored documents by their ids, as the cluster stores them: see `readSources`. */
  readSources(question: SourcesQuestion): Promise<readonly (Buffer | undefined)[]>
  /** Resolves when each document has its outcome. Throws what `settle` and `settled` throw. */
  delete(documents: readonly FoundDocument[], deleting: DeletingFound): Promise<void>
}

export interface FoundDocument {
  readonly id: string
  /** The index that holds it. An alias or data stream may have several. */
  readonly index: string
  /** 1: unchanged since it was created. */
  readonly version: number
  readonly seqNo: number
  readonly primaryTerm: number
  readonly routing?: string
  readonly fields?: JsonObject
}

export interface IdQuestion {
  /** Several names only with `search`. Those that are missing hold nothing. */
  readonly index: string | readonly string[]
  /**
   * `id`: gets each id from one index, as it is now. `search`: searches all indices behind the name and all shards, as of the last
   * refresh.
   */
  readonly by: 'id' | 'search'
  readonly wanted: readonly Wanted[]
  /** Names of the top-level fields to read. */
  readonly fields?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Wanted {
  readonly id: string
  readonly routing?: string
}

export type Looked = { readonly kind: 'found'; readonly documents: readonly FoundDocument[] } | Unanswered

/** Why a request about a list got no result. `again`: ask later, for what is `left`, or else for all. `tooMany`: ask for fewer. */
export type Unanswered<T = never> =
  | {
      readonly kind: 'again'
      readonly failure: Failure
      readonly left?: readonly T[]
      /** Of the answer, which may say how long to wait. */
      readonly headers?: ClusterAnswer['headers']
    }
  | { readonly kind: 'tooMany'; readonly failure: Failure }
  | { readonly kind: 'refused'; readonly failure: Failure }

/** The result of one request about a part of a list. */
export type PartStep<T> = { readonly kind: 'done' } | Unanswered<T>

export type TakeStep<T> = (part: readonly T[]) => Promise<PartStep<T>>

/** `gone`: somebody else deleted the document. `changed`: somebody wrote it since it was found. Otherwise the cluster refused. */
export type Deletion = 'deleted' | 'gone' | 'changed' | DeletionRefused

export interface DeletionRefused {
  readonly status: number
  readonly type: string
}

export interface DeletingFound {
  /** Delete a document also if it was written since it was found. */
  readonly force: boolean
  readonly signal?: AbortSignal | undefined
  /** Takes the step with parts of the documents until all are done. Throws SluiceError. */
  settle(documents: readonly FoundDocument[], step: TakeStep<FoundDocument>): Promise<void>
  /** Called once for each document. May throw to end the deletion. */
  settled(document: FoundDocument, outcome: Deletion): void
}

export interface SourcesQuestion {
  /** One index, and no name of several. */
  readonly index: string
  readonly wanted: readonly Wanted[]
  readonly signal?: AbortSignal | undefined
}

export interface HitsQuestion {
  /** One index, and no alias. */
  readonly index: string
  readonly shard: number
  /** Reads only documents with a higher number. */
  readonly after: number | undefined
  /** Reads no document with a higher number. */
  readonly upTo: number
  /** The index that each hit shall name. Absent: the one that holds it. */
  readonly namedAs?: string | undefined
  /** `{"query": …}`. Undefined: all documents. */
  readonly query: JsonObject | undefined
  readonly size: number
  readonly signal?: AbortSignal | undefined
}

export interface HitsPage {
  /** Hits as the cluster sent them, one on each line. */
  readonly lines: Buffer
  /** Their sequence numbers, in the same order. */
  readonly numbers: readonly number[]
  /** Whether no document is left up to that number. */
  readonly isLast: boolean
}

export interface Walking {
  /** Index, alias or data stream. */
  readonly index: string
  /** Makes a request, and retries it if it may succeed later. */
  step<T>(request: () => Promise<T>): Promise<T>
  /** Called before the first page with the number of documents, and again if the walk starts again. */
  begin(documents: number): void
  /** Takes ids in any order. An id in several indices behind the name comes once for each. */
  page(ids: readonly string[]): void
}
