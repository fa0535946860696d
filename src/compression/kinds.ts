import { unbrotli, gunzip } from './inflate.js'
import { decodeByProgram } from './program.js'
import { unzstd } from './zstd.js'

/** Decodes the bytes of an input. After all that it could decode, it throws SluiceError: INPUT_TRUNCATED, INPUT_UNREADABLE. */
type Decode = (compressed: AsyncIterable<Uint8Array>, input: string) => AsyncGenerator<Uint8Array>

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
const magics = [GZIP, ZSTD, ...ZSTD_EXTRA, ...BZIP2, XZ]

export const kinds: readonly Kind[] = [
  {
    fits: (head, name) => begins(head, GZIP) || (name.endsWith('.gz') && isCutShort(head, GZIP)),
    decode: gunzip,
  },
  { fits: head => [ZSTD, ...ZSTD_EXTRA].some(magic => begins(head, magic)), decode: unzstd },
  {
    fits: head => BZIP2.some(magic => begins(head, magic)),
    decode: (bytes, input) => decodeByProgram('bzip2', bytes, input),
  },
  { fits: head => begins(head, XZ), decode: (bytes, input) => decodeByProgram('xz', bytes, input) },
  { fits: (_, name) => name.endsWith('.br'), decode: unbrotli },
]

/** Tells whether it could begin with a magic number if there were more bytes. */
export function mayBe(head: Uint8Array): boolean {
  return magics.some(magic => isCutShort(head, magic))
}

function begins(head: Uint8Array, magic: readonly number[]): boolean {
  return magic.every((byte, index) => head[index] === byte)
}

function isCutShort(head: Uint8Array, magic: readonly number[]): boolean {
  return head.length < magic.length && head.every((byte, index) => byte === magic[index])
}
