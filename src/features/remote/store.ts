/** Defines what all servers of objects have in common. */

/** The facts that a server sends about an object. */
export interface ObjectFacts {
  /** Stored bytes. Undefined if the server does not say it. */
  readonly size: number | undefined
  /** Only if it is strong: a weak one may stand for other bytes. */
  readonly etag: string | undefined
  /** Milliseconds since the epoch, or 0. */
  readonly modifiedMs: number
  readonly encoding: string | undefined
}

/** An object that was found. */
export interface FoundObject extends Pick<ObjectFacts, 'size' | 'modifiedMs'> {
  readonly name: string
  /** Stands for its strong ETag: see `hashNumber`. 0 if it has none. */
  readonly etagNumber: number
  /** Whether the server sends parts of it. */
  readonly hasRanges: boolean
  /** Its first bytes, if the server has sent them already. */
  readonly head?: Buffer | undefined
}

export interface WantedPart {
  /** Absent: the whole object. `to`: the offset behind the last byte. */
  readonly range?: { readonly from: number; readonly to: number } | undefined
  /** The server must refuse if the object has another one now. */
  readonly etag?: string | undefined
  readonly signal: AbortSignal
  /** For the whole answer. Absent: as long as the caller takes to read it. */
  readonly timeoutMs?: number | undefined
}

export interface Answer {
  readonly facts: ObjectFacts
  /** Whether these are the bytes of the range, and no others. */
  readonly isPart: boolean
  /** To be read or destroyed. */
  readonly body: AsyncIterable<Buffer> & { destroy(error?: Error): unknown }
}

export interface Store {
  /**
   * Asks once. Throws SluiceError: INPUT_NOT_FOUND, INPUT_REPLACED, INPUT_UNREADABLE, SOURCE_*, PROXY_*. A body that breaks throws the
   * same. After an abort, throws the reason of the signal.
   */
  get(name: string, wanted: WantedPart): Promise<Answer>
  /** Finds the objects behind a name, in the order in which they are read, or as the server lists them. Throws the same. */
  find(name: string, wanted: WantedPart, order?: 'sorted' | 'listed'): AsyncIterable<FoundObject>
}
