/**
 * What crosses stages. Bytes are NDJSON everywhere between a format and the cluster; the unit of work is a body (one bulk
 * request), never a document.
 */
import type { Failure } from './failure/failure.js'

/** How many documents may be rejected: a count, or a share of those read. */
export type RejectionLimit = number | `${number}%`

/** One file, stream or iterable, in the order in which it is read. */
export interface Input {
  /** Position among the inputs of the run, from 0. */
  readonly id: number
  /** As the user knows it: the path as it was found, `-` for stdin, `(stream)` or `(iterable)` for what an embedder passed. */
  readonly name: string
}

/** An input that can be opened. */
export interface Source extends Input {
  /** Where its bytes are stored. Absent for what cannot be read twice: stdin, a stream, an iterable. */
  readonly file?: StoredFile
  /** Set if that file is Sluice's own copy of an input that cannot be read twice. */
  readonly copy?: Copy
  /** Set if reading continues at a place, and not at an offset. Then each document is one line. */
  readonly cursor?: Cursor
  /**
   * Returns its decoded bytes (gunzipped), from the one at offset `from` (default 0), or with a cursor from `place`. A chunk is valid
   * until the next one is asked for: whoever keeps bytes copies them. Only what has a `file` or `cursor` is opened behind its start.
   * `into`: memory that may be read into until the iteration is over.
   * Throws SluiceError: INPUT_UNREADABLE, INPUT_TRUNCATED (after all that was whole has been yielded); with a cursor also other failures.
   */
  open(signal: AbortSignal, from?: number, place?: Place, into?: ReadMemory): AsyncIterable<Uint8Array>
}

/** A copy of an input that cannot be read twice, which this process may still write. */
export interface Copy {
  /** No other copy ever had it. */
  readonly id: string
  /** The name of the input that it is a copy of. */
  readonly of: string
  /** Whether this process adds to it. */
  readonly grows: boolean
  /** Waits until its file can be looked at. */
  begun?(): Promise<void>
  /** Makes what was read so far survive a power cut. Throws SluiceError STATE_UNWRITABLE. */
  sync?(): Promise<void>
  /** A checkpoint says that the bytes before this offset are loaded. Undefined: a resume needs all of them. */
  loaded?(to: number | undefined): void
}

/** What is read lies in one buffer while the other one fills. Of the same size. */
export type ReadMemory = readonly [Buffer, Buffer]

/** Where reading continues: small, JSON, and understood only by its cursor. Nothing in it is secret. */
export type Place = Readonly<Record<string, unknown>>

/** Continues an input that changes while it is read, and reads only what changed since the last run. */
export interface Cursor {
  /** What is read of it: another selection is another input. */
  readonly selection: Readonly<Record<string, string>>
  /**
   * Where reading goes on once every document before that number, of the reading that is open, is settled. Called with numbers
   * that do not fall; what lies before may be forgotten.
   */
  placeAt(document: number): Place
  /** Where the next run begins: after what a run that ended at this place has read. */
  after(end: Place): Place
  /** How many documents the reading that is open will have, as far as is known. */
  readonly total?: number | undefined
  /** Since when a reading that continues at this place takes what changed, in ISO 8601. Undefined: it takes everything. */
  since?(place: Place): string | undefined
  /** Whether the chunk that was yielded last may hold a document that came before, as it is now. Absent: each may. */
  readonly mayRepeat?: boolean
}

/** A file as it is stored, looked at without reading it whole. */
export interface StoredFile {
  /** Absolute. */
  readonly path: string
  look(): Promise<FileLook>
  /**
   * SHA-256 in hex of the stored bytes `[from, to)`. Undefined where the file ends before `to`, is gone, or is another one
   * than that with this inode.
   */
  hash(from: number, to: number, inode?: string): Promise<string | undefined>
}

export interface FileLook {
  /** Bytes, as stored. */
  readonly size: number
  readonly inode: string
  readonly isCompressed: boolean
  /** The first 64 KiB, or as many bytes as there are. */
  readonly head: { readonly bytes: number; readonly sha256: string }
}

/** How far an input has come: number, line and offset of what is next. */
export interface Mark {
  readonly kind: Lines['kind']
  readonly document: number
  readonly line: number
  /** In decoded bytes, or for `elements` in the lines made of them. */
  readonly offset: number
  /** Bytes of a last line without a line end, which was read too. It is read again from its start once it has grown. */
  readonly tail: number
}

/** What a format makes of an input's bytes: NDJSON, one document a line. */
export interface Lines {
  /** `lines`: the bytes stand in the input as they are, so that offsets and line numbers count. `elements`: rewritten. */
  readonly kind: 'lines' | 'elements'
  /** Where the first byte stands in the (decompressed) input: 3 after a byte order mark, else 0. */
  readonly at: number
  /** Number and line of the first document, where reading begins behind the input's start. Default 1. */
  readonly document?: number
  readonly line?: number
  /** Cut anywhere, also within a line; each valid until the next one is asked for. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** Where a document came from. */
export interface Origin {
  readonly input: string
  /** Its number among the documents of its input, from 1; blank lines do not count. Sluice's own ids end in it. */
  readonly document: number
  /** Its line in the input, from 1, where the input is NDJSON. */
  readonly line?: number
  /** Offset of its first byte in the (decompressed) input, where the input is NDJSON. */
  readonly offset?: number
}

/** A run of documents that lie one behind the other in their input, and in a body. */
export interface Span {
  readonly input: Input
  readonly kind: Lines['kind']
  /** Number, line and offset of the first document. */
  readonly document: number
  readonly line: number
  readonly from: number
  /** Documents in the span. */
  docs: number
}

export type Operation = 'create' | 'index'

/**
 * Documents in the order in which they were read, framed as a bulk body in one slot of memory.
 * The batch is what the ledger settles: once, when every one of its documents has an outcome.
 */
export interface Batch {
  readonly spans: readonly Span[]
  readonly docs: number
  /** Lines that were read for it, by input: documents, refused lines and blank ones. */
  readonly taken: readonly { readonly input: Input; readonly lines: number }[]
  /** Lines of white space among them. */
  readonly blank: number
  /** How far each of its inputs has come with it. */
  readonly ends: readonly { readonly input: Input; readonly mark: Mark }[]
  /** Lines met on the way that cannot be sent. */
  readonly refused: readonly Refused[]
  /** Action line and document line for each document. Owned by whoever holds the batch until `release()`. */
  readonly bytes: Buffer
  readonly operation: Operation
  /** Where each document came from, by its place in the batch. Called while `bytes` are as they were framed. */
  origins(): (ordinal: number) => Origin
  /** Gives the memory back. Called once, when nothing reads or writes `bytes` any more. */
  release(): void
  /** Set if its documents say themselves where they go. */
  readonly addressed?: Addressed
}

/** What such documents bring with them, alike for all of a batch. */
export interface Addressed {
  /** `own`: ids that Sluice made. `given`: anybody else's. `none`: the cluster makes them. */
  readonly ids: 'own' | 'given' | 'none'
  readonly destination: Destination
  /** How often a document was sent before, by its place in the batch. */
  attempts(ordinal: number): number
}

/** Where a document goes, and which of its top-level fields hold its id and routing where those are not Sluice's own. */
export interface Destination {
  readonly index: string
  readonly pipeline?: string
  readonly idField?: string
  readonly routingField?: string
}

/** A document that was not stored, and why. */
export interface Refused {
  /** The line as it was read, without its line end. */
  readonly document: Uint8Array
  readonly operation: Operation
  readonly id?: string
  readonly routing?: string
  /** Where it is not the one of the run. */
  readonly destination?: Destination
  /** HTTP status of the item or request; 0 when Sluice refused it before it was sent. */
  readonly status: number
  /** The error's type, from Elasticsearch or from Sluice's own catalogue. */
  readonly type: string
  readonly reason: string
  readonly origin: Origin
  /** How often it was sent. */
  readonly attempts: number
}

/** What became of the documents of one batch. The counts add up to `docs`. */
export interface Outcome {
  readonly docs: number
  readonly created: number
  readonly updated: number
  readonly duplicate: number
  /** Left out by a rule of the user's (`--on-conflict skip`). */
  readonly skipped: number
  readonly rejected: readonly Refused[]
  /** Sent, with no answer that tells: may or may not be stored. */
  readonly unknown: number
  /** Those among `unknown` that another send could settle: they got no answer. Default 0. */
  readonly unanswered?: number
  /** Certainly not sent, or certainly not stored, because the run stopped. */
  readonly unsent: number
  /** Why the run has to stop, if it has to. */
  readonly stop?: Failure
}

/** Where a line goes that is longer than any request may be: piece by piece, because it may not fit in memory. */
export interface LongLine {
  /** The bytes are free again when the promise resolves. */
  write(bytes: Uint8Array): Promise<void>
  /** The line is whole. */
  end(): Promise<void>
  /** Its rest will not come: what was written is taken back. Others wait until one of the two was called. */
  abandon(): Promise<void>
}

/** Time, so that tests can hold it. */
export interface Clock {
  /** Milliseconds, monotonic. */
  now(): number
  /** Resolves after `ms`; rejects with the signal's reason when it aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
