/**
 * What somebody saw of an input before others load it, as text: it means the same on every machine that reaches the input. So it holds no
 * inode and no time of change, which each machine may see in its own way.
 */
import { fail } from '../../base/failure/failure.js'
import type { FileStat, ReadMemory, Source, StoredFile } from '../../base/flow.js'

export interface SeenInput {
  readonly kind: 'file' | 'object'
  /** Stored bytes. */
  readonly size: number
  /** In milliseconds since the epoch, for an object in whole seconds. 0 if unknown. */
  readonly modifiedMs: number
  /** Stands for the content: the checksum of its beginning, or the number of its ETag (0 without one). */
  readonly content: string
}

/** An input that can be read between any two offsets. */
export interface CuttableInput extends Source {
  readonly file: CuttableFile
}

export interface CuttableFile extends StoredFile {
  /** Whether reading can begin at any byte. Otherwise all bytes before it are read as well. */
  readonly hasRanges: boolean
  /** Reads the stored bytes of [from, to), and keeps no account of them. Chunks and `into` are those of `Source.open`. */
  between(signal: AbortSignal, from: number, to: number, into?: ReadMemory): AsyncIterable<Uint8Array>
}

export function seenText({ kind, size, modifiedMs, content }: SeenInput): string {
  return [kind, size, modifiedMs, content].join(' ')
}

/** Throws SluiceError OPTION_INVALID. */
export function readSeen(text: string): SeenInput {
  const [, kind, size, modifiedMs, content = ''] = FORM.exec(text) ?? []
  if (kind === 'file' || kind === 'object') return { kind, size: Number(size), modifiedMs: Number(modifiedMs), content }
  throw fail('OPTION_INVALID', { option: 'ranges', problem: 'hold an identity that Sluice did not make' })
}

const FORM = /^(file|object) (\d{1,16}) (\d{1,16}) ([\da-f]{1,64})$/

/** Returns the part that ids depend on. A file that was only touched is the same one, and gets the same ids. */
export function contentOf({ size, modifiedMs, content }: SeenInput): string {
  return content === '0' ? `${size} ${modifiedMs}` : `${size} ${content}`
}

/** Returns how a file differs from the one that was seen. */
export function changeOf({ size, modifiedMs }: SeenInput, now: Pick<FileStat, 'size' | 'mtimeMs'>): string | undefined {
  if (now.size !== size) return `it now has ${bytes(now.size)}, but had ${bytes(size)} before`
  if (wholeMs(now.mtimeMs) === modifiedMs) return undefined
  return `it was modified at ${time(now.mtimeMs)}, and before that at ${time(modifiedMs)}`
}

/** Systems that share a folder may keep other fractions of a time. */
export function wholeMs(ms: number): number {
  return Math.max(0, Math.floor(ms))
}

function bytes(count: number): string {
  return `${count.toLocaleString('en-US')} bytes`
}

function time(ms: number): string {
  return new Date(ms).toISOString()
}
