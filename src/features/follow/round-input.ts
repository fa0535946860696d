import type { FileLook, FileReading, FileStat, Place, ReadMemory, Source, StoredFile } from '../../base/flow.js'
import { fail } from '../../base/failure/failure.js'
import { look } from '../../pipeline/source/stored-file.js'
import type { FollowedFile } from './followed-file.js'

/** The whole lines of a followed file, as an input of one round. */
export class RoundInput implements Source, StoredFile {
  readonly id: number
  readonly folder: string
  readonly stat: FileStat
  /** Where its last whole line ends. */
  readonly end: number
  readonly generation: number
  readonly followed: FollowedFile
  reading: FileReading | undefined

  constructor(id: number, followed: FollowedFile, folder: string) {
    this.id = id
    this.followed = followed
    this.folder = folder
    this.stat = followed.stat
    this.end = followed.end
    this.generation = followed.generation
  }

  get name(): string {
    return this.followed.name
  }

  get file(): StoredFile {
    return this
  }

  get path(): string {
    return this.followed.path
  }

  get realPath(): string {
    return this.followed.realPath
  }

  /** Only plain files are followed. */
  get isPacked(): boolean {
    return false
  }

  get isReadOnce(): boolean {
    return true
  }

  get device(): number {
    return this.followed.device
  }

  async *open(signal: AbortSignal, from = 0, _place?: Place, into?: ReadMemory): AsyncGenerator<Uint8Array> {
    const opened = (reading: FileReading) => (this.reading = reading)
    for await (const chunk of this.followed.bytes(from, this.end, { into, opened })) {
      signal.throwIfAborted()
      yield chunk
    }
  }

  forget(): void {
    this.reading = undefined
  }

  async look(): Promise<FileLook> {
    return await look(this.path, this.name, this.stat.size)
  }

  async sums(ends: readonly number[]): Promise<readonly (string | undefined)[]> {
    return await this.followed.sums(ends)
  }

  async part(from: number, to: number): Promise<Buffer> {
    // By the open file: its name may be gone.
    const part = await this.followed.part(from, to)
    if (part?.length === to - from) return part
    throw fail('INPUT_UNREADABLE', { input: this.name, problem: 'it changed while Sluice read it' })
  }
}
