/** One file that is followed: by its inode, whatever its name, for as long as it holds what was read of it. */
import { type FileHandle, open } from 'node:fs/promises'
import { addUpTo, Checksum, checksumsAt, fileStat, FIRST_BYTES } from '../../base/checksum/checksum.js'
import type { FileReading, FileStat, ReadMemory } from '../../base/flow.js'
import { cannotRead, codeOf } from '../../pipeline/source/read-file.js'
import { bytesBefore, holds, lastLineEnd, lastOf, readingOf } from './ends.js'
import type { KeptOpen, OpenFiles } from './open-files.js'

const READ_BYTES = 1 << 20

export interface FoundAs {
  /** As the user knows it. It stays the same if the file is renamed. */
  readonly name: string
  readonly path: string
  /** Without symbolic links. */
  readonly realPath: string
  readonly device: number
  readonly stat: FileStat
}

export class FollowedFile implements KeptOpen {
  readonly name: string
  readonly device: number
  readonly inode: number
  path: string
  realPath: string
  /** As it was when it was looked at last. */
  stat: FileStat
  /** All bytes before it are loaded. */
  read = 0
  /** Where the line begins that has no line feed yet. */
  end = 0
  /** Documents and blank lines of it that the receipt counts. */
  counted = 0
  /** Another content of the file is another input. */
  generation = 0
  /** When it was seen to change, by the clock. */
  changedAt: number
  /** Whether its name is no longer one of those that are followed. */
  isLoose = false
  /** Whether it is known to be in another folder. */
  isElsewhere = false
  /** Whether its first bytes show that it can be followed. */
  isChecked = false
  /** Whether Sluice leaves it out, because it cannot be followed. */
  isLeftOut = false
  /** Bytes in which the last line feed was searched. */
  #searched = 0
  /** The last of the bytes that were seen. A file may be emptied and filled again before they are read. */
  #seen: Buffer = Buffer.alloc(0)
  /** Checksum of the first bytes, once there are enough. */
  #head: string | undefined
  /** Covers the bytes that were read last. */
  #sum: Checksum | undefined
  /** The last bytes before `read`, as they were when they were read. */
  #tail: Buffer = Buffer.alloc(0)
  #isLooked = false
  #handle: FileHandle | undefined
  #opening: Promise<FileHandle | undefined> | undefined
  #readers = 0
  readonly #files: OpenFiles

  constructor({ name, path, realPath, device, stat }: FoundAs, files: OpenFiles, now: number) {
    this.name = name
    this.path = path
    this.realPath = realPath
    this.device = device
    this.inode = stat.inode
    this.stat = stat
    this.changedAt = now
    this.#files = files
  }

  get isBusy(): boolean {
    return this.#readers > 0
  }

  /** Whether whole lines wait. */
  get isReady(): boolean {
    return this.end > this.read && !this.isLeftOut
  }

  /** Bytes of a last line that has no line feed. */
  get unfinished(): number {
    return Math.max(0, this.stat.size - Math.max(this.end, this.read))
  }

  /**
   * Looks at the file if it is not as it was. `other`: it no longer holds what was read, and begins anew. Throws
   * SluiceError INPUT_UNREADABLE.
   */
  async look(now: FileStat, at: number): Promise<'same' | 'changed' | 'other'> {
    if (this.#isLooked && isSame(now, this.stat)) return 'same'
    return (
      (await this.#with(async handle => {
        const stat = fileStat(await handle.stat())
        const isOther = stat.size < Math.max(this.read, this.#searched) || !(await this.#holdsStill(handle))
        const wasSeen = this.#searched > 0 || this.read > 0
        if (isOther) this.#begin()
        // Nothing shows that the bytes of the checksum still stand there.
        if (this.#tail.length === 0) this.#sum = undefined
        this.stat = stat
        this.changedAt = at
        this.end = (await lastLineEnd(handle, Math.max(this.end, this.#searched), stat.size)) ?? this.end
        const seen = await bytesBefore(handle, stat.size)
        // A file that changes meanwhile may hold no line yet, or another content of the same size. The next look searches again.
        this.#isLooked = isSame(stat, fileStat(await handle.stat()))
        if (this.#isLooked) {
          this.#searched = stat.size
          this.#seen = seen
        }
        return isOther && wasSeen ? 'other' : 'changed'
      })) ?? 'same'
    )
  }

  /** Returns the file as the open file shows it, and how many names it has. Undefined if it is not open. */
  async lookBehind(): Promise<{ readonly stat: FileStat; readonly names: number } | undefined> {
    if (this.#handle === undefined) return undefined
    const status = await this.#handle.stat()
    return { stat: fileStat(status), names: status.nlink }
  }

  /** Notes that all bytes before `end` are loaded, if the file still is the one that was read. */
  loaded(end: number, generation: number): void {
    if (generation === this.generation) this.read = Math.max(this.read, end)
  }

  /** Reads [from, to). Reads less if the file has become shorter. A chunk is valid until the next one is asked for. */
  async *bytes(
    from: number,
    to: number,
    { into, opened }: { readonly into: ReadMemory | undefined; readonly opened: (reading: FileReading) => void },
  ): AsyncGenerator<Buffer> {
    const { generation } = this
    const handle = await this.#acquire()
    if (handle === undefined) return
    if (into !== undefined) into.readers += 1
    try {
      const buffer = into?.buffers[0] ?? Buffer.allocUnsafeSlow(Math.max(1, Math.min(READ_BYTES, to - from)))
      const sum = this.#sum?.bytes === from ? this.#sum : new Checksum()
      let tail = this.read === from ? this.#tail : Buffer.alloc(0)
      this.#sum = undefined
      if (sum.bytes < from) await addUpTo(from, sum, handle, into?.buffers[0])
      if (tail.length === 0) tail = await bytesBefore(handle, from)
      // A last line without a line feed may be a part of the first bytes: then nothing can be compared yet.
      const head = to < FIRST_BYTES ? undefined : (this.#head ?? (await headOf(handle)))
      if (generation === this.generation) this.#head = head
      opened(readingOf(fileStat(await handle.stat()), sum, head))
      while (sum.bytes < to) {
        const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, to - sum.bytes), sum.bytes)
        // What was there is gone. The next look sees it.
        if (bytesRead === 0) break
        const chunk = buffer.subarray(0, bytesRead)
        // Emptied and filled again since: the lines would be stored as those of another content.
        if (sum.bytes === 0 ? !beginsWith(chunk, head) : !(await holds(handle, tail, sum.bytes))) break
        sum.add(chunk)
        tail = lastOf(tail, chunk)
        yield chunk
      }
      if (generation !== this.generation) return
      this.#tail = tail
      this.#sum = sum
      this.read = sum.bytes
    } finally {
      if (into !== undefined) into.readers -= 1
      this.#release()
    }
  }

  /** Returns the checksum of the first bytes for each of the ascending ends, from memory if they were read before. */
  async sums(ends: readonly number[]): Promise<readonly (string | undefined)[]> {
    const known = this.#sum
    if (known !== undefined && ends.every(end => end === known.bytes)) return ends.map(() => known.digest())
    const found = await this.#with(async handle => await checksumsAt(handle, ends))
    // Reading continues there, mostly.
    this.#sum = found?.findLast(sum => sum !== undefined)?.clone()
    return ends.map((_, at) => found?.[at]?.digest())
  }

  /** Reads the bytes of [from, to), or as many as there are. Undefined if the file cannot be opened any more. */
  async part(from: number, to: number): Promise<Buffer | undefined> {
    return await this.#with(async handle => {
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(to - from), 0, to - from, from)
      return buffer.subarray(0, bytesRead)
    })
  }

  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    this.#files.closed(this)
    await handle?.close()
  }

  /** Forgets what was read: the file has another content now. */
  #begin(): void {
    this.generation += 1
    this.read = 0
    this.end = 0
    this.counted = 0
    this.isChecked = false
    this.#searched = 0
    this.#seen = Buffer.alloc(0)
    this.#sum = undefined
    this.#head = undefined
    this.#tail = Buffer.alloc(0)
  }

  async #holdsStill(handle: FileHandle): Promise<boolean> {
    // A round that ends meanwhile puts another one in its place.
    const [tail, read] = [this.#tail, this.read]
    return (await holds(handle, this.#seen, this.#searched)) && (await holds(handle, tail, read))
  }

  async #with<T>(work: (handle: FileHandle) => Promise<T>): Promise<T | undefined> {
    const handle = await this.#acquire()
    if (handle === undefined) return undefined
    try {
      return await work(handle)
    } catch (error) {
      throw cannotRead(this.name, error)
    } finally {
      this.#release()
    }
  }

  /** Resolves to undefined if the path leads to no file, or to another one. */
  async #acquire(): Promise<FileHandle | undefined> {
    this.#readers += 1
    try {
      this.#handle ??= await (this.#opening ??= this.#open())
      if (this.#handle === undefined) this.#readers -= 1
      else await this.#files.used(this)
      return this.#handle
    } catch (error) {
      this.#readers -= 1
      throw cannotRead(this.name, error)
    } finally {
      this.#opening = undefined
    }
  }

  #release(): void {
    this.#readers -= 1
  }

  async #open(): Promise<FileHandle | undefined> {
    try {
      const handle = await open(this.path, 'r')
      const { dev, ino } = await handle.stat()
      if (dev === this.device && ino === this.inode) return handle
      await handle.close()
      return undefined
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined
      throw error
    }
  }
}

/** `head`: undefined if there were too few bytes for one. */
function beginsWith(chunk: Buffer, head: string | undefined): boolean {
  if (head === undefined || chunk.length < FIRST_BYTES) return head === undefined
  return Checksum.of(chunk.subarray(0, FIRST_BYTES)) === head
}

async function headOf(handle: FileHandle): Promise<string | undefined> {
  return (await checksumsAt(handle, [FIRST_BYTES]))[0]?.digest()
}

function isSame(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs
}
