import { isTar, mayBeTar } from './tar-header.js'

/** Returns the kind of archive that begins so. */
export function archiveKind(head: Uint8Array): 'zip' | 'tar' | undefined {
  if (isZip(head)) return 'zip'
  return isTar(head) ? 'tar' : undefined
}

/** Tells whether more bytes could show that it is an archive. */
export function mayBeArchive(head: Uint8Array): boolean {
  return (head.length < ZIP_BYTES && head.every((byte, at) => byte === ZIP[at])) || mayBeTar(head)
}

const ZIP = [0x50, 0x4b, 0x03, 0x04]
const ZIP_BYTES = 4

/** Tells whether a ZIP archive begins so: with a file, or with its directory if it has none. */
export function isZip(head: Uint8Array): boolean {
  if (head[0] !== 0x50 || head[1] !== 0x4b) return false
  return (head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6)
}
