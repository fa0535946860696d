import { free } from '../memory.js'
import { gunzip, inflateRaw, unbrotli } from './inflate.js'
import { decodeByProgram } from './program.js'
import { unzstd } from './zstd.js'

/**
 * Decompresses bytes that begin like gzip, zstd, bzip2 or xz, and passes others as they are. The first bytes decide, not the name.
 * Only brotli is known by its name, because its data has no mark. An input of no bytes is not compressed, whatever its name.
 * `isStored`: closing waits for a read under way, which may still use memory of the caller. Otherwise it does not wait for bytes that
 * were asked for ahead: those of a stream may never come. `found`: called when the first bytes have decided. Throws SluiceError: INPUT_TRUNCATED, INPUT_UNREADABLE.
 */
export async function* decompress(
  bytes: AsyncIterable<Uint8Array>,
  name: string,
  isStored = false,
  found?: (isCompressed: boolean) => void,
): AsyncGenerator<Uint8Array> {
  const iterator = bytes[Symbol.asyncIterator]()
  let isAhead = false
  try {
    const head = await readHead(iterator)
    const all = behind(head, iterator)
    const kind = kinds.find(one => one.fits(head, name))
    found?.(kind !== undefined)
    if (kind === undefined) yield* all
    else {
      isAhead = true
      yield* oneAhead(kind.decode(all, name), isStored)
      isAhead = false
    }
  } finally {
    const closed = iterator.return?.()
    if (isAhead && !isStored) closed?.catch(() => undefined)
    else await closed
  }
}

/** Returns whether an input that begins so is compressed. */
export function isCompressed(head: Uint8Array, name = ''): boolean {
  return kinds.some(kind => kind.fits(head, name))
}

/** Returns whether an input that begins so is compressed, or too short to know. */
export function mayBeCompressed(head: Uint8Array, name: string): boolean {
  return mayBe(head) || isCompressed(head, name)
}

/**
 * Asks for the next chunk before the consumer gets one, which then works on it for long without a break. So the decoder works in
 * a thread or process of its own meanwhile, also behind the end of a slice.
 */
async function* oneAhead(chunks: AsyncGenerator<Uint8Array>, isStored: boolean): AsyncGenerator<Uint8Array> {
  let next = chunks.next()
  let last: Uint8Array | undefined
  try {
    for (let { done, value } = await next; done !== true; { done, value } = await next) {
      next = chunks.next()
      next.catch(() => undefined) // seen above, when its turn comes
      await new Promise<void>(resolve => setImmediate(resolve))
      yield value
      // The consumer is done with it, and the decoder fills no memory for a second time.
      if (value.byteOffset + value.byteLength === value.buffer.byteLength) free(value.buffer)
      last = value
    }
    if (last !== undefined) free(last.buffer)
  } finally {
    const closed = chunks.return(undefined).catch(() => undefined)
    if (isStored) await closed
  }
}

/** Reads the first chunk, or several joined if one is too short to decide. Empty if the input is. */
async function readHead(iterator: AsyncIterator<Uint8Array>): Promise<Uint8Array> {
  let head: Uint8Array = new Uint8Array(0)
  while (mayBe(head)) {
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

/** Decodes the bytes of an input. After all that it could decode, it throws SluiceError: INPUT_TRUNCATED, INPUT_UNREADABLE. */
type Decode = (compressed: AsyncIterable<Uint8Array>, input: string) => AsyncGenerator<Uint8Array>

/** Decoders for containers that say how they compress. */
export const decoders = {
  deflate: inflateRaw,
  zstd: unzstd,
  bzip2: (bytes, input) => decodeByProgram('bzip2', bytes, input),
  xz: (bytes, input) => decodeByProgram('xz', bytes, input),
} as const satisfies Readonly<Record<string, Decode>>

interface Kind {
  readonly fits: (head: Uint8Array, name: string) => boolean
  readonly decode: Decode
}

const GZIP = [0x1f, 0x8b]
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]
/** Skippable frames, which some programs write before the data. */
const ZSTD_EXTRA = Array.from({ length: 16 }, (_, n) => [0x50 + n, 0x2a, 0x4d, 0x18])
/** "BZh" and a level, then the mark of a block, or that of the end. */
const BZIP2 = Array.from({ length: 9 }, (_, n) => [0x42, 0x5a, 0x68, 0x31 + n]).flatMap(start => [
  [...start, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
  [...start, 0x17, 0x72, 0x45, 0x38, 0x50, 0x90],
])
const XZ = [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]
const ALL_ZSTD = [ZSTD, ...ZSTD_EXTRA]
const magics = [GZIP, ...ALL_ZSTD, ...BZIP2, XZ]
const firstBytes = new Set(magics.map(([first]) => first))

const kinds: readonly Kind[] = [
  {
    fits: (head, name) => begins(head, GZIP) || (name.endsWith('.gz') && head.length > 0 && isCutShort(head, GZIP)),
    decode: gunzip,
  },
  { fits: head => ALL_ZSTD.some(magic => begins(head, magic)), decode: decoders.zstd },
  {
    fits: head => BZIP2.some(magic => begins(head, magic)),
    decode: decoders.bzip2,
  },
  { fits: head => begins(head, XZ), decode: decoders.xz },
  { fits: (head, name) => head.length > 0 && name.endsWith('.br'), decode: unbrotli },
]

/** Returns whether these bytes could begin with a magic number if there were more of them. */
function mayBe(head: Uint8Array): boolean {
  if (head.length > 0 && !firstBytes.has(head[0])) return false
  return magics.some(magic => isCutShort(head, magic))
}

function begins(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => head[index] === byte)
}

function isCutShort(head: Uint8Array, magic: readonly number[]): boolean {
  return head.length < magic.length && head.every((byte, index) => byte === magic[index])
}
