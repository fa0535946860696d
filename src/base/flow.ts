/**
 * Defines the types that cross stages. Between a format and the cluster all bytes are NDJSON. The unit of work is a
 * body (one bulk request), never a document.
 */
import type { Taken, BatchOperation, ConditionFields, ConditionKind, Operation, Script } from './operation.js'
import type { Failure } from './failure/failure.js'
import type { JsonObject } from './json/parse-json.js'

/** How many documents may be rejected: a count, or a share of those read. */
export type RejectionLimit = number | `${number}%`

/** A file, a stream or an iterable. Inputs are read in order. */
export interface Input {
  /** Unique among the inputs of the run. */
  readonly id: number
  /**
   * As the user knows it: the path of the file, `-` for stdin, `(stream)` or `(iterable)` for an object that an
   * embedder passed.
   */
  readonly name: string
}

/** An input that can be opened. */
export interface Source extends Input {
  /** The stored bytes. Absent if the input cannot be read twice: stdin, a stream, an iterable. */
  readonly file?: StoredFile
  /** Set if it has no `file`, but can be opened again from its start: its URL. It may hold something else each time. */
  readonly address?: string
  /** Set if that file is Sluice's own copy of an input that cannot be read twice. */
  readonly copy?: Copy
  /** Set if reading continues at a place, and not at an offset. Then each document is one line. */
  readonly cursor?: Cursor
  /** Set if somebody else has looked at it before: the part of what was seen that its ids depend on. */
  readonly seen?: string
  /** Set if it is an index of another cluster, or stands for several. */
  readonly describes?: readonly IndexDescription[]
  /** Set if only the lines that begin in a range of the stored bytes are read. `open` then returns nothing else. */
  readonly range?: LineRange
  /**
   * Returns the decoded bytes (gunzipped), from offset `from` (default 0), or with a cursor from `place`. A chunk is
   * valid until the caller asks for the next one: callers that keep bytes copy them. Only an input with a `file` or
   * `cursor` can be opened after its start. `into`: memory that the reading may use until the iteration ends. Throws
   * SluiceError: INPUT_UNREADABLE, INPUT_TRUNCATED (after all whole bytes were yielded). A cursor also throws other
   * failures.
   */
  open(signal: AbortSignal, from?: number, place?: Place, into?: ReadMemory): AsyncIterable<Uint8Array>
  /** Begins to read the input, which will soon be opened from its start. Only small files do so. */
  ahead?(): void
  /** Closes the stream or iterable that the caller passed. Called when the run ends, also if nobody has opened the input. */
  close?(): Promise<void>
}

/** How an index stores documents, as its cluster describes it. */
export interface IndexDescription {
  /** Its own name, or that of the data stream that it is behind. */
  readonly name: string
  readonly isStream: boolean
  readonly mappings: JsonObject
  /** Without the leading `index`, as a tree. */
  readonly settings: JsonObject
  readonly aliases: JsonObject
}

/** A range of the stored bytes of plain NDJSON. A line belongs to the range in which its first byte stands. */
export interface LineRange {
  readonly from: number
  /** Finds the first of these lines. Its offset is that of the range's end if no line begins in the range. Throws as `open` does. */
  begin(signal: AbortSignal, into?: ReadMemory): Promise<LinesAt>
}

/** Lines in the middle of an input. */
export interface LinesAt {
  /** Offset of the first one. */
  readonly at: number
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A copy of an input that cannot be read twice, which this process may still write. */
export interface Copy {
  /** No other copy ever had it. */
  readonly id: string
  /** The name of the original input. */
  readonly of: string
  /** Whether this process adds to it. */
  readonly grows: boolean
  /** Waits until its file can be looked at. */
  begun?(): Promise<void>
  /** Makes all bytes that were read so far survive a power cut. Throws SluiceError STATE_UNWRITABLE. */
  sync?(): Promise<void>
  /** Notes that a checkpoint counts the bytes before this offset as loaded. Undefined: a resume needs all bytes. */
  loaded?(to: number | undefined): void
}

/** Memory that files are read into. */
export interface ReadMemory {
  /** Two of the same size. One holds the bytes that are processed while the other one fills. */
  readonly buffers: readonly [Buffer, Buffer]
  /** How many readers may still write into them. */
  readers: number
}

/** The position where reading continues: small JSON without secrets. Only its cursor understands it. */
export type Place = Readonly<Record<string, unknown>>

/** Continues an input that changes over time. Reads only changes since the last run. */
export interface Cursor {
  /** Names the rows and fields that are read. Another selection is another input. */
  readonly selection: Readonly<Record<string, string>>
  /**
   * Returns where reading continues if every document before that number is settled. Numbers count from the start of
   * the current reading. The caller never passes a smaller number than before, so the cursor may forget older
   * positions.
   */
  placeAt(document: number): Place
  /** Returns where the next run begins if this run ended at `end`. */
  after(end: Place): Place
  /** How many documents the reading that is open will have, as far as is known. */
  readonly total?: number | undefined
  /** Returns the time from which changes are read, in ISO 8601. Undefined: everything is read. */
  since?(place: Place): string | undefined
  /** Whether each line is a hit of Elasticsearch, with its id beside the document. Default false: it is the document. */
  readonly holdsHits?: true
  /** Whether the last chunk may hold a new state of an earlier document. Absent: every chunk may. */
  readonly mayRepeat?: boolean
}

/** A stored file. */
export interface StoredFile {
  /** Absolute. */
  readonly path: string
  /** The same file without symbolic links: they may lead to another file tomorrow. */
  readonly realPath: string
  /** Absolute: the folder that the name of the input is relative to. */
  readonly folder: string
  /** The number of its file system. With the inode, it is the same for all names of the file. */
  readonly device: number
  /** The file when it was found. */
  readonly stat: FileStat
  /** The bytes that the last `open` of its source has read so far. Undefined before that. */
  readonly reading?: FileReading | undefined
  /** Notes that an earlier process has read the first `bytes`, and the state of their checksum, so that Sluice does not read them again. */
  continues?(bytes: number, state: string | undefined): void
  /**
   * Whether the stored bytes are not those that `open` yields, as far as the last `open` has shown. Absent: the file cannot be recognised
   * by its content.
   */
  readonly isPacked?: boolean
  /** Whether `open` may read each byte only once, so that others compare only stored bytes. Default false. */
  readonly isReadOnce?: boolean
  /** Drops `reading`: the input is finished. */
  forget?(): void
  /** As `Source.open` from the start, for a reader that may need only the first bytes. Absent: `open` costs no more. */
  peek?(signal: AbortSignal): AsyncIterable<Uint8Array>
  look(): Promise<FileLook>
  /**
   * Returns the checksum of the first `ends[i]` stored bytes, for ascending ends. Undefined if the file is shorter, or cannot be read.
   */
  sums(ends: readonly number[]): Promise<readonly (string | undefined)[]>
  /** Reads the stored bytes of [from, to). Throws SluiceError INPUT_UNREADABLE, also if the file has changed since it was opened. */
  part(from: number, to: number): Promise<Buffer>
}

/** A file as the system describes it. A file with the same four values is unchanged. Of an object on a server, hashes stand for them. */
export interface FileStat {
  /** Bytes, as stored. */
  readonly size: number
  readonly inode: number
  /** Milliseconds since the epoch, with fractions. */
  readonly mtimeMs: number
  readonly ctimeMs: number
}

/** The stored bytes that a reading has passed on, from the start of the file. */
export interface FileReading {
  /** The file when it was opened. */
  readonly stat: FileStat
  /** How many, and their checksum: both grow while the file is read. */
  readonly bytes: number
  sum(): string
  /** Checksum of the first 256 bytes (`FIRST_BYTES`). Absent if there were fewer when it was opened, or if nobody read them. */
  readonly head?: string | undefined
  /** The state from which another process continues the checksum. Absent if it can read all bytes again at no cost. */
  state?(): string
}

export interface FileLook {
  readonly isCompressed: boolean
  /** SHA-256 in hex of the first 64 KiB, or of as many bytes as there are. */
  readonly head: { readonly bytes: number; readonly sha256: string }
}

/** How far an input has come: number, line and offset of what is next. */
export interface Mark {
  readonly kind: Lines['kind']
  readonly document: number
  readonly line: number
  /** In decoded bytes, or for `elements` in the lines made of them. */
  readonly offset: number
  /** Bytes of a last line without a line end. If the file has grown, that line is read again from its start. */
  readonly tail: number
  /** How many documents of the line at the mark are settled, if a function made several of it. Default 0. */
  readonly within?: number
}

/** The output of a format: NDJSON, one document per line. */
export interface Lines {
  /**
   * `lines`: the bytes stand in the input as they are, so that offsets and line numbers count. `elements`: rewritten. `actions`:
   * rewritten, and each line carries its own action, as in `text/bytes.ts`. `edited`: line numbers count, and offsets do not.
   * `range`: as `lines`, but reading began in the middle of the input, so that only offsets count.
   */
  readonly kind: 'lines' | 'elements' | 'actions' | 'edited' | 'range'
  /** Offset of the first byte in the (decompressed) input: 3 after a byte order mark, otherwise 0. */
  readonly at: number
  /** Number and line of the first document, where reading begins behind the input's start. Default 1. */
  readonly document?: number
  readonly line?: number
  /** How many documents of that line an earlier process has settled. Default 0. */
  readonly within?: number
  /** Whether lines are marked as in `text/line-part.ts`: several documents of one line, or none. */
  readonly hasParts?: true
  /** Only of an archive: returns its first file, once. */
  members?(): Member | undefined
  /** The result of a look at the input, if it decides how the input is read. */
  readonly found?: string
  /** Of a table: types of columns that stay text without them, by name. */
  readonly offered?: Readonly<Record<string, string>>
  /** Of a table whose cells are read as values: the words that stand for missing values, by the name of the column, if it has no type. */
  readonly lacking?: ReadonlyMap<string, readonly string[]>
  /** Chunks may end within a line. Each is valid until the caller asks for the next one. */
  readonly bytes: AsyncIterable<Uint8Array>
}

/** A file in an archive, by the lines that it has among those of the archive. */
export interface Member {
  readonly name: string
  /** Number of its first line. */
  readonly line: number
  /** Whether its lines stand in it as they are. Otherwise its format made them. */
  readonly isLines: boolean
  /** The file behind it, once that has begun. */
  next?: Member
}

/** The position of a document in its input. */
export interface Origin {
  readonly input: string
  /**
   * Number of the document in its input, from 1. Blank lines do not count. Sluice's own ids end with this number, or with the
   * offset if the input may be loaded in ranges. Absent in the middle of an input, of which only the offset is known.
   */
  readonly document?: number
  /** Name of its file in the input, if that is an archive. */
  readonly member?: string
  /** Number of the document in that file, from 1, if it is no NDJSON. Rejected and blank rows count. */
  readonly element?: number
  /** Line number from 1 in its file, only for NDJSON. */
  readonly line?: number
  /** Offset of the first byte in the (decompressed) input, only for NDJSON outside of archives that is not edited. */
  readonly offset?: number
  /** Only if a function made several documents of a line: the number of this one among them, from 2. */
  readonly part?: number
  /** Only in a dead letter that holds the beginning of a long document: its file still holds the rest. */
  readonly stored?: StoredDocument
}

/** A document that stands in a file, from the offset of its origin. */
export interface StoredDocument {
  /** Absolute path of the input. */
  readonly file: string
  readonly bytes: number
  /** SHA-256 in hex of these bytes. */
  readonly sha256: string
}

/** A run of documents that lie one behind the other in their input, and in a body. */
export interface Span {
  readonly input: Input
  readonly kind: Lines['kind']
  /** Number, line and offset of the first document. */
  readonly document: number
  readonly line: number
  readonly from: number
  /** The file of an archive that holds the first document. */
  readonly member?: Member | undefined
  /** As in `Origin`, for the one document of the span. */
  readonly part?: number
  /** Documents in the span. */
  docs: number
}

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
  /** Lines that cannot be sent. */
  readonly refused: Rejected
  /** Action line and document line for each document. Owned by the holder of the batch until `release()`. */
  readonly bytes: Buffer
  readonly operation: BatchOperation
  /** Returns a function from a document's place in the batch to its origin. Call this before `bytes` change. */
  origins(): (ordinal: number) => Origin
  /** Gives the memory back. Called once, when nothing reads or writes `bytes` any more. */
  release(): void
  /** Set if each action line names an index: how many of the documents go to each. */
  readonly indices?: ReadonlyMap<string, number>
  /** Set if the documents are dead letters, which say where they go. */
  readonly addressed?: Addressed
  /** The maker of their ids, if it differs between documents of the run. `own`: Sluice made them. */
  readonly ids?: 'own' | 'given'
  /** Set if each action line has a condition of this kind. */
  readonly condition?: ConditionKind
  /** Set if a script changes the documents. If Sluice sends such a document twice, the script runs twice. */
  readonly script?: Script
}

/** Facts that all documents of such a batch share. */
export interface Addressed {
  /** `own`: ids that Sluice made. `given`: anybody else's. `none`: the cluster makes them. */
  readonly ids: 'own' | 'given' | 'none'
  readonly destination: Destination
  /** How often a document was sent before, by its place in the batch. */
  attempts(ordinal: number): number
}

/** The index of a document, and the fields that hold its id, routing and version if these are not Sluice's own. */
export interface Destination extends ConditionFields {
  readonly index: string
  readonly pipeline?: string
  /** Set if the id is a hash of the fields. */
  readonly ids?: 'hash'
  readonly idField?: string
  readonly idSeparator?: string
  readonly routingField?: string
  /** Set if the document holds the parameters of a script. */
  readonly script?: Script
}

/** A document that was not stored, and why. */
export interface Refused {
  /** The line as it was read, without its line end. */
  readonly document: Uint8Array
  /** Set if these are only its first bytes, and its origin says where it is stored. */
  readonly isExcerpt?: true
  readonly operation: Operation
  readonly id?: string
  readonly routing?: string
  /** The condition in its action line, as in `text/condition.ts`. */
  readonly condition?: string
  /** The index that its action line names. Absent: that of the destination. */
  readonly index?: string
  /** Set if it differs from the destination of the run. */
  readonly destination?: Destination
  /** HTTP status of the item or request. 0 if Sluice rejected the document before sending. */
  readonly status: number
  /** The error's type, from Elasticsearch or from Sluice's own catalogue. */
  readonly type: string
  readonly reason: string
  readonly origin: Origin
  /** How often it was sent. */
  readonly attempts: number
}

/** Documents that were not stored, in their order. Each pass may make them anew: kept so, many take little memory. */
export interface Rejected extends Iterable<Refused> {
  readonly length: number
  /** Why each was rejected, if that is known without making it. */
  readonly reasons?: Iterable<Pick<Refused, 'status' | 'type' | 'reason'> & { readonly origin?: Origin }>
  /** Returns where a document was read, by its number from 0. Set if `reasons` do not show that. */
  originOf?(number: number): Origin
  /** Returns the same documents in memory of their own. Absent: they have it. Otherwise they are those of a batch until its `release()`. */
  kept?(): Rejected
}

/** The outcome of one batch. The counts add up to `docs`, and those that are absent are 0. */
export interface Outcome extends Readonly<Partial<Record<Taken, number>>> {
  readonly docs: number
  readonly created: number
  readonly updated: number
  readonly duplicate: number
  /** Left out by a rule of the user's (`--on-conflict skip`). */
  readonly skipped: number
  readonly rejected: Rejected
  /** Documents that were sent without a clear answer. They may be stored. */
  readonly unknown: number
  /** The part of `unknown` that got no answer. Another send could settle these documents. Default 0. */
  readonly unanswered?: number
  /** Certainly not sent, or certainly not stored, because the run stopped. */
  readonly unsent: number
  /** Why the run has to stop, if it has to. */
  readonly stop?: Failure
}

/** Receives a line in pieces, because a line that is too long for a request may not fit in memory. */
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
  /** Resolves after `ms`. Rejects with the signal's reason if the signal aborts first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}
