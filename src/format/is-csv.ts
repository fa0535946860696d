import { isWhiteSpace } from '../text/bytes.js'
import { type LookAlike, lookAlike } from './look-alike.js'
import type { Opening } from './opening.js'

/**
 * Tells whether an input whose format nobody named is CSV: its name says so, and its content does not say otherwise. A name that ends with
 * .txt says little, so the content has to look like a table. `alike`: what the content looks like, unless it is UTF-16.
 */
export function isCsv(name: string, { encoding, head, isWhole }: Opening, alike: LookAlike | undefined): boolean {
  const [, ending] = /\.(csv|tsv|tab|txt)(?:\.(?:gz|zst|bz2|xz|br))?$/i.exec(name) ?? []
  if (ending === undefined) return false
  if (ending.toLowerCase() !== 'txt') return encoding !== 'UTF-8' || mayBeTable(head, alike)
  const found = encoding === 'UTF-16' ? lookAlike(utf8Of(head), isWhole) : alike
  return typeof found === 'object' && found.kind.startsWith('CSV')
}

const JSON_STARTS = new Set([0x7b, 0x5b])

function mayBeTable(head: Buffer, alike: LookAlike | undefined): boolean {
  const first = head.find(byte => !isWhiteSpace(byte))
  if (first !== undefined && JSON_STARTS.has(first)) return false
  // A column of numbers is JSON as well, and few lines decide nothing.
  return typeof alike !== 'object' || /^(?:CSV|plain text|UTF-16)/.test(alike.kind)
}

function utf8Of(utf16: Buffer): Buffer {
  return Buffer.from(new TextDecoder(utf16[0] === 0xff ? 'utf-16le' : 'utf-16be').decode(utf16))
}
