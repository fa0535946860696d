/** An object on a server as an input. It is known by its ETag, and if that has changed, by the checksum of what was read of it. */
import { createHash } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import { Checksum, FIRST_BYTES } from '../../base/checksum/checksum.js'
import { decompress, isCompressed } from '../../base/compression/decompress.js'
import { fail, quote } from '../../base/failure/failure.js'
import type { FileLook, FileReading, FileStat, Source } from '../../base/flow.js'
import { type CuttableFile, type CuttableInput, skipBytes } from '../../pipeline/source/stored-file.js'
import { type Reading, readObject } from './read-object.js'
import { etagNumberOf, hashNumber } from './judge-answer.js'
import type { Shelf } from './shelf.js'
import type { FoundObject, ObjectFacts } from './store.js'

const LOOK_BYTES = 64 << 10
/** Enough to decode its first lines. */
const PEEK_BYTES = 16 << 10
/** No file system has it. */
export const DEVICE = -2

/** An object whose size is known, so that it can be read twice. There may be very many of them. */
export class RemoteObject implements CuttableInput, CuttableFile {
  readonly id: number
  readonly #shelf: Shelf

  /** `shelf`: holds the rest under the same id. */
  constructor(id: number, shelf: Shelf) {
    this.id = id
    this.#shelf = shelf
  }

  get name(): string {
    return this.#shelf.table.nameOf(this.id)
  }

  get file(): this {
    return this
  }

  get path(): string {
    return this.name
  }

  get realPath(): string {
    return this.name
  }

  get folder(): string {
    return this.#shelf.table.folder
  }

  get device(): number {
    return DEVICE
  }

  /** Its numbers stand for the URL (inode) and the ETag (ctimeMs, 0 without one). */
  get stat(): FileStat {
    return this.#shelf.table.statOf(this.id)
  }

  get reading(): FileReading | undefined {
    return this.#shelf.table.readings.get(this.id)
  }

  ahead(): void {
    this.#shelf.fetchAhead(this.id)
  }

  get isPacked(): boolean {
    return this.#shelf.table.packed.has(this.id)
  }

  continues(bytes: number, state: string | undefined): void {
    this.#shelf.continued.add(this.id)
    this.#keepState(bytes, state)
  }

  #keepState(bytes: number, state: string | undefined): void {
    if (state !== undefined) this.#shelf.states.set(this.id, { bytes, state })
  }

  forget(): void {
    this.#shelf.forget(this.id)
  }

  async *open(signal: AbortSignal, from = 0): AsyncGenerator<Uint8Array> {
    const isPlain = from > 0 && !(await this.look()).isCompressed
    if (isPlain) yield* this.#stored(from, signal)
    else yield* skipBytes(this.#decoded(signal), from)
  }

  peek(signal: AbortSignal): AsyncIterable<Uint8Array> {
    return this.#decoded(signal, PEEK_BYTES)
  }

  #decoded(signal: AbortSignal, firstBytes?: number): AsyncIterable<Uint8Array> {
    let facts: ObjectFacts | undefined
    const stored = this.#stored(0, signal, { firstBytes, onFacts: seen => (facts = seen) })
    const found = () => this.#shelf.table.packed.add(this.id)
    return decoded(stored, this.name, () => facts, found)
  }

  async look(): Promise<FileLook> {
    const to = Math.min(LOOK_BYTES, this.stat.size)
    const head = await bytesOf(this.#from(0, this.#shelf.signal, { to }))
    const sha256 = createHash('sha256').update(head).digest('hex')
    return { isCompressed: isCompressed(head, this.name), head: { bytes: head.length, sha256 } }
  }

  async sums(ends: readonly number[]): Promise<readonly (string | undefined)[]> {
    const { size, ctimeMs } = this.stat
    const wanted = ends.filter(end => end <= size)
    this.#shelf.heads.delete(this.id)
    const sum = new Checksum()
    const found: string[] = []
    const take = (): void => {
      while (found.length < wanted.length && wanted[found.length] === sum.bytes) found.push(sum.digest())
    }
    take()
    const to = wanted.at(-1) ?? 0
    const reading = this.#from(0, this.#shelf.signal, { to, etagNumber: ctimeMs === 0 ? undefined : ctimeMs })
    if (to > 0)
      for await (const chunk of readObject(reading))
        for (let at = 0; at < chunk.length; take()) {
          const end = Math.min(chunk.length, at + (wanted[found.length] ?? Infinity) - sum.bytes)
          sum.add(chunk.subarray(at, end))
          at = end
        }
    // The next process can continue from here, and need not read all of this again.
    this.#keepState(sum.bytes, sum.state())
    return ends.map((_, at) => found[at])
  }

  get hasRanges(): boolean {
    return !this.#shelf.wholes.has(this.id)
  }

  async *between(signal: AbortSignal, from: number, to: number): AsyncGenerator<Buffer> {
    const { name, stat } = this
    const onFacts = (facts: ObjectFacts) => {
      this.#check(facts)
      const problem = 'cannot be loaded in ranges, because its server sends it with a Content-Encoding. Load it whole'
      if (encodingsOf(facts).length > 0) throw fail('INPUT_MALFORMED', { input: name, format: 'ndjson', problem })
    }
    const etagNumber = stat.ctimeMs === 0 ? undefined : stat.ctimeMs
    yield* readObject(this.#from(from, signal, { to, etagNumber, onFacts }))
  }

  async part(from: number, to: number): Promise<Buffer> {
    if (from === 0 && to <= FIRST_BYTES && this.reading === undefined) return await this.#first(to)
    const { ctimeMs } = this.reading?.stat ?? this.stat
    if (ctimeMs === 0 || this.#shelf.wholes.has(this.id))
      throw fail('INPUT_UNREADABLE', { input: this.name, problem: 'its server sends no parts of it. Fetch it first' })
    return await bytesOf(this.#from(from, this.#shelf.signal, { to, etagNumber: ctimeMs }))
  }

  /** Returns its first bytes. A server that sends no parts begins to send all of it. */
  async #first(to: number): Promise<Buffer> {
    const { ctimeMs } = this.stat
    const known = this.#shelf.heads.get(this.id)
    if (known !== undefined) return known.subarray(0, to)
    return await bytesOf(this.#from(0, this.#shelf.signal, { to, etagNumber: ctimeMs === 0 ? undefined : ctimeMs }))
  }

  /** Reads the stored bytes from an offset, and adds those that were not added before to the checksum. */
  async *#stored(
    from: number,
    signal: AbortSignal,
    { firstBytes, onFacts }: Pick<Reading, 'firstBytes' | 'onFacts'> = {},
  ): AsyncGenerator<Buffer> {
    const { id } = this
    const { table, states } = this.#shelf
    const known = from === 0 ? undefined : states.get(id)
    const sum = (known && Checksum.continued(known.state, known.bytes)) ?? new Checksum()
    const start = Math.min(from, sum.bytes)
    const head = new Checksum()
    let { stat } = this
    const reading: FileReading = {
      get stat() {
        return stat
      },
      get bytes() {
        return sum.bytes
      },
      get head() {
        return head.bytes < FIRST_BYTES ? undefined : head.digest()
      },
      sum: () => sum.digest(),
      state: () => sum.state(),
    }
    table.readings.set(id, reading)
    // The part before `from` was loaded: it must be that of the same object.
    const mayDiffer = from === 0 && !this.#shelf.pinned.has(id) && !this.#shelf.continued.has(id)
    const etagNumber = mayDiffer || stat.ctimeMs === 0 ? undefined : stat.ctimeMs
    const seen = (facts: ObjectFacts): void => {
      this.#check(facts)
      const { etag, modifiedMs, size = stat.size } = facts
      stat = { size, ...statOf(this.name, { etagNumber: etagNumberOf(etag), modifiedMs }) }
      onFacts?.(facts)
    }
    let at = start
    // A server refuses a range behind the end.
    if (start >= stat.size) return
    try {
      const first = start === 0 && firstBytes === undefined ? this.#shelf.takeAhead(id) : undefined
      const reading = this.#from(start, signal, { etagNumber, first, firstBytes, onFacts: seen })
      for await (const chunk of readObject(reading)) {
        const missing = FIRST_BYTES - head.bytes
        if (start === 0 && missing > 0) head.add(chunk.subarray(0, missing))
        const passed = Math.max(0, sum.bytes - at)
        if (passed < chunk.length) sum.add(chunk.subarray(passed))
        const unwanted = Math.max(0, from - at)
        at += chunk.length
        if (unwanted < chunk.length) yield chunk.subarray(unwanted)
      }
    } finally {
      table.readings.set(id, ended(reading))
    }
  }

  /** Throws SluiceError INPUT_REPLACED if it is not the object that somebody else has seen. Its ETag is checked with the first answer. */
  #check({ size, modifiedMs }: ObjectFacts): void {
    if (!this.#shelf.pinned.has(this.id)) return
    const { name, stat } = this
    const isModified = stat.ctimeMs === 0 && statOf(name, { etagNumber: 0, modifiedMs }).mtimeMs !== stat.mtimeMs
    if (size !== undefined && size !== stat.size)
      throw fail('INPUT_REPLACED', { input: name, observed: `it has ${size.toLocaleString('en-US')} bytes now` })
    if (isModified) throw fail('INPUT_REPLACED', { input: name, observed: 'it was modified at another time' })
  }

  #from(from: number, signal: AbortSignal, more: Partial<Reading>): Reading {
    const { id, name } = this
    const { store, patience, timeoutMs, memory, wholes } = this.#shelf
    return { store, name, patience, timeoutMs, memory, signal, from, hasRanges: !wholes.has(id), ...more }
  }
}

/** Copies what it reads: the memory of a piece is freed with the next one. */
async function bytesOf(reading: Reading): Promise<Buffer> {
  const pieces: Buffer[] = []
  if (reading.to !== reading.from) for await (const piece of readObject(reading)) pieces.push(Buffer.from(piece))
  return Buffer.concat(pieces)
}

/** An object whose server does not say how long it is. It can be read only from its start, and may be another one each time. */
export function streamedObject(id: number, name: string, shelf: Shelf): Source {
  const { store, patience, timeoutMs, memory } = shelf
  return {
    id,
    name,
    address: name,
    open: reader => {
      // A run may end before the load reads what was opened to compare it.
      const signal = AbortSignal.any([reader, shelf.signal])
      setMaxListeners(0, signal)
      let facts: ObjectFacts | undefined
      const onFacts = (seen: ObjectFacts) => (facts = seen)
      const reading = { store, name, patience, timeoutMs, memory, signal, from: 0, hasRanges: false, onFacts }
      return decoded(readObject(reading), name, () => facts)
    },
  }
}

/** Returns what identifies an object, in the form of that of a file. */
export function statOf(
  name: string,
  { etagNumber, modifiedMs }: Pick<FoundObject, 'etagNumber' | 'modifiedMs'>,
): Omit<FileStat, 'size'> {
  // Lists are exact to the millisecond, and headers to the second.
  return { inode: hashNumber(name), mtimeMs: Math.floor(modifiedMs / 1000) * 1000, ctimeMs: etagNumber }
}

/** The checksum itself takes more memory. */
function ended({ stat, bytes, sum, state, head }: FileReading): FileReading {
  const digest = sum()
  const last = bytes === stat.size ? undefined : state?.()
  return { stat, bytes, head, sum: () => digest, ...(last === undefined ? {} : { state: () => last }) }
}

/** Decodes the object, and before that what the server says it has encoded for the way. `found`: called if there is anything to decode. */
async function* decoded(
  stored: AsyncIterable<Uint8Array>,
  name: string,
  facts: () => ObjectFacts | undefined,
  found?: () => void,
): AsyncGenerator<Uint8Array> {
  const note = (isCompressed: boolean) => {
    if (isCompressed) found?.()
  }
  const iterator = stored[Symbol.asyncIterator]()
  try {
    const first = await iterator.next()
    const all = from(first, iterator)
    const encodings = encodingsOf(facts())
    const [encoding] = encodings
    if (encoding === undefined) return yield* decompress(all, name, false, note)
    if (encodings.length > 1 || !magic.has(encoding)) {
      const problem = `the server sends it with the Content-Encoding ${quote(encodings.join(', '), 80)}, which Sluice did not ask for`
      throw fail('INPUT_UNREADABLE', { input: name, problem })
    }
    // Mostly the encoding is that of the file itself, and nothing is left to decode.
    yield* decompress(decompress(all, name, false, note), '')
  } finally {
    await iterator.return?.()
  }
}

function encodingsOf(facts: ObjectFacts | undefined): string[] {
  return (facts?.encoding ?? '').split(/[\s,]+/).filter(one => !plain.has(one))
}

/** The encodings that need no decoding. Some programs note how they uploaded an object. */
const plain: ReadonlySet<string> = new Set(['', 'identity', 'aws-chunked', 'none'])
/** Encodings whose bytes say what they are. */
const magic: ReadonlySet<string> = new Set(['gzip', 'x-gzip', 'zstd'])

async function* from(
  first: IteratorResult<Uint8Array>,
  iterator: AsyncIterator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  for (let next = first; next.done !== true; next = await iterator.next()) yield next.value
}
