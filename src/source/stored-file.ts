import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import type { FileLook, StoredFile } from '../flow.js'
import { cannotRead } from './cannot-read.js'
import { decompress, isCompressed } from './decompress.js'

const LOOK_BYTES = 64 << 10

/** Describes a file on disk. `path` is absolute. `look` throws SluiceError INPUT_UNREADABLE, INPUT_NOT_FOUND, with the user's name for the input. */
export function storedFile(path: string, name: string): StoredFile {
  return {
    path,
    look: async () => {
      try {
        return await withFile(path, look)
      } catch (error) {
        throw cannotRead(name, error)
      }
    },
    hash: async (from, to, inode) => {
      try {
        return await withFile(path, async file => {
          if (inode !== undefined && (await inodeOf(file)) !== inode) return undefined
          const bytes = await readRange(file, from, to)
          return bytes.length === to - from ? sha256(bytes) : undefined
        })
      } catch {
        return undefined
      }
    },
  }
}

async function look(file: FileHandle): Promise<FileLook> {
  const { size } = await file.stat()
  const head = await readRange(file, 0, Math.min(size, LOOK_BYTES))
  return {
    size,
    inode: await inodeOf(file),
    isCompressed: isCompressed(head),
    head: { bytes: head.length, sha256: sha256(head) },
  }
}

async function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, 'r')
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

/** Returns the inode as text: some file systems have longer ones than a number holds. */
async function inodeOf(file: FileHandle): Promise<string> {
  return String((await file.stat({ bigint: true })).ino)
}

/** Reads a range, or less of it if the file ends before. */
async function readRange(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const bytes = Buffer.alloc(to - from)
  let filled = 0
  while (filled < bytes.length) {
    const { bytesRead } = await file.read(bytes, filled, bytes.length - filled, from + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return bytes.subarray(0, filled)
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

interface Decoding {
  readonly name: string
  /** Needed to read from another position than the start. */
  readonly file?: StoredFile
  readonly from: number
  /** Reads the stored bytes from that offset. */
  read(from: number): AsyncIterable<Uint8Array>
}

/** Reads the decoded bytes of an input from an offset among them. Compressed input is decoded from its start. */
export async function* decodedFrom({ name, file, from, read }: Decoding): AsyncGenerator<Uint8Array> {
  if (from === 0) yield* decompress(read(0), name)
  else if ((await file?.look())?.isCompressed === true) yield* skipBytes(decompress(read(0), name), from)
  else yield* read(from)
}

/** Skips the first `count` bytes. */
export async function* skipBytes(chunks: AsyncIterable<Uint8Array>, count: number): AsyncGenerator<Uint8Array> {
  let left = count
  for await (const chunk of chunks) {
    if (left < chunk.length) yield chunk.subarray(left)
    left = Math.max(0, left - chunk.length)
  }
}
