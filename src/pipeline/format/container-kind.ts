import { isWhiteSpace } from '../../base/text/bytes.js'
import { isTar, mayBeTar } from './archive/tar-header.js'

/** A file that holds more than one text: other files, or columns. */
export type Container = 'zip' | 'tar' | 'parquet'

/** Returns the kind of container that begins so. */
export function containerKind(head: Uint8Array): Container | undefined {
  if (isZip(head)) return 'zip'
  if (isParquet(head)) return 'parquet'
  return isTar(head) ? 'tar' : undefined
}

/** Returns whether more bytes could show that it is one. */
export function mayBeContainer(head: Uint8Array): boolean {
  return (
    STARTS.some(start => head.length <= start.length && head.every((byte, at) => byte === start[at])) || mayBeTar(head)
  )
}

/** ZIP, and Parquet with its footer as it is or encrypted. */
const STARTS = [Buffer.from('PK\u0003'), Buffer.from('PAR1'), Buffer.from('PARE')]

/** Text, for example CSV, may begin so as well. In Parquet a number follows. */
function isParquet(head: Uint8Array): boolean {
  const next = head[4]
  if (next === undefined || next >= 0x20 || isWhiteSpace(next)) return false
  return STARTS.slice(1).some(start => start.every((byte, at) => head[at] === byte))
}

/** Returns whether a ZIP archive begins so: with a file, or with its directory if it has none. */
export function isZip(head: Uint8Array): boolean {
  if (head[0] !== 0x50 || head[1] !== 0x4b) return false
  return (head[2] === 3 && head[3] === 4) || (head[2] === 5 && head[3] === 6)
}
