/** Recognises JSON that only some programs read: with comments, or with a comma before a closing bracket. */
import { isWhiteSpace } from '../../base/text/bytes.js'
import { endOfValue } from '../../base/json/json-fault.js'

interface Relaxed {
  readonly kind: 'JSON with comments' | 'JSON with trailing commas'
  readonly observed: string
}

/** What may be wrong: a comment, or a comma before a closing bracket. */
const SUSPECT = /\/[/*]|,\s*[}\]]/
/** A string, a comment, or a comma with what stands before the closing bracket. */
const PARTS =
  /"(?:[^"\\]|\\.)*"?|\/\/[^\n]*|\/\*(?:[^*]|\*(?!\/))*(?:\*\/)?|,(?=(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*[}\]])/gs

/** Returns what makes one document, or the start of one, no JSON. Undefined: nothing, or it is no JSON without that either. */
export function relaxedJson(text: Buffer): Relaxed | undefined {
  const latin1 = text.toString('latin1')
  if (!SUSPECT.test(latin1)) return undefined
  let first: { at: number; isComment: boolean } | undefined
  const strict = latin1.replaceAll(PARTS, (part, at: number) => {
    if (part.startsWith('"')) return part
    first ??= { at, isComment: part !== ',' }
    return ' '
  })
  if (first === undefined || !isOneDocument(Buffer.from(strict, 'latin1'))) return undefined
  const line = `line ${latin1.slice(0, first.at).split('\n').length}`
  return first.isComment
    ? { kind: 'JSON with comments', observed: `${line} has a comment` }
    : { kind: 'JSON with trailing commas', observed: `${line} has a comma before a closing bracket` }
}

/** Returns whether the text is an object or an array, or the start of one. */
function isOneDocument(text: Buffer): boolean {
  const from = text.findIndex(byte => !isWhiteSpace(byte))
  if (text[from] !== 0x7b && text[from] !== 0x5b) return false
  const end = endOfValue(text, from, text.length)
  return end === 'cut' || (end !== 'broken' && text.subarray(end).every(isWhiteSpace))
}
