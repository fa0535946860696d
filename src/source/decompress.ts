import { gunzip } from './gunzip.js'
import { fail } from '../failure/failure.js'

const GZIP = [0x1f, 0x8b]
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]

/**
 * Gunzips the bytes if they begin like gzip, and passes others as they are. The first bytes decide, not the name. Only an empty
 * file in .gz counts as truncated gzip.
 */
export async function* decompress(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]()
  try {
    const head = await readHead(iterator)
    const all = behind(head, iterator)
    if (begins(head, GZIP) || (name.endsWith('.gz') && isCutShort(head, GZIP))) {
      yield* gunzip(all, name)
    } else if (begins(head, ZSTD)) {
      const problem = 'Sluice does not read zstd: decompress it first'
      throw fail('INPUT_UNREADABLE', { input: name, problem })
    } else {
      yield* all
    }
  } finally {
    await iterator.return?.()
  }
}

/** Tells whether an input that begins so is compressed. */
export function isCompressed(head: Uint8Array): boolean {
  return begins(head, GZIP) || begins(head, ZSTD)
}

/** Reads the first chunk, or several joined if one is too short to decide. Empty if the input is. */
async function readHead(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0)
  while (isCutShort(head, GZIP) || isCutShort(head, ZSTD)) {
    // The next chunk may overwrite this one.
    const kept = Uint8Array.from(head)
    const next = await iterator.next()
    if (next.done === true) return kept
    head = kept.length === 0 ? next.value : Buffer.concat([kept, next.value])
  }
  return head
}

async function* behind(head: Uint8Array, iterator: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (head.length > 0) yield head
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
}

function begins(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => head[index] === byte)
}

/** Tells whether it could begin with the magic number if there were more bytes. */
function isCutShort(head: Uint8Array, magic: readonly number[]): boolean {
  return head.length < magic.length && head.every((byte, index) => byte === magic[index])
}
