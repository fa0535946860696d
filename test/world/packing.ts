/** How files are packed, by the endings of their names. */
import { execFileSync } from 'node:child_process'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }

const packers: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gz: bytes => gzipSync(bytes, { level: 1 }),
  bz2: input => execFileSync('bzip2', { input }),
  zst: input => execFileSync('zstd', ['-q'], { input }),
  xz: input => execFileSync('xz', ['-0'], { input }),
  br: bytes => brotliCompressSync(bytes, fast),
}

const ending = new RegExp(`\\.(${Object.keys(packers).join('|')})$`)

/** Returns the ending of a packed file's name, with its dot. */
export function packingOf(name: string): string {
  return ending.exec(name)?.[0] ?? ''
}

/** Returns the name of the same file if it were not packed. */
export function unpackedName(name: string): string {
  return name.replace(ending, '')
}

export function packed(name: string, bytes: Buffer): Buffer {
  return packers[packingOf(name).slice(1)]?.(bytes) ?? bytes
}
