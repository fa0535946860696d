/** Looks at an input of one JSON document: often its documents stand in an array inside it. */
import { LINE_FEED, endOfLine, isWhiteSpace } from '../../base/text/bytes.js'
import { parseJson } from '../../base/json/parse-json.js'

/** An array of objects inside a document. */
interface InnerArray {
  /** As `--pick` takes it. */
  readonly path: string
  readonly objects: number
  readonly bytes: number
  /** Whether the text ends inside it. */
  readonly isOpen: boolean
}

/** A longer document is judged by its beginning. */
const LOOKED_AT = 1 << 20

/** Returns whether an input that begins so may be one object. `isJson`: it may stand on several lines. */
export function mayBeOneDocument(head: Buffer, isJson: boolean): boolean {
  const from = head.findIndex(byte => !isWhiteSpace(byte))
  if (head[from] !== OPEN_OBJECT) return false
  return isJson || head.subarray(endOfLine(head, from)).every(isWhiteSpace)
}

/** Passes lines on. If they turn out to be one document with one large array of objects, says so. */
export async function* withNote(
  lines: AsyncIterable<Uint8Array>,
  note: (found: string) => void,
): AsyncGenerator<Uint8Array> {
  const parts: Buffer[] = []
  let length = 0
  let place: 'before' | 'in' | 'behind' | 'over' = 'before'
  for await (const chunk of lines) {
    if (place !== 'over') {
      place = placeBehind(chunk, place)
      parts.push(Buffer.from(chunk))
      length += chunk.length
      if (length > LOOKED_AT && place !== 'over') say()
      if (length > LOOKED_AT || place === 'over') {
        place = 'over'
        parts.length = 0
      }
    }
    yield chunk
  }
  if (place !== 'over') say()

  function say(): void {
    const array = largeArray(Buffer.concat(parts).subarray(0, LOOKED_AT))
    if (array !== undefined) note(`one document, which holds ${described(array)}. ${pickOf(array)} loads each of them`)
  }
}

/** Returns where in a text of at most one line a chunk ends, or `over` if it begins a second line. */
function placeBehind(chunk: Uint8Array, place: 'before' | 'in' | 'behind'): 'before' | 'in' | 'behind' | 'over' {
  let at = place === 'in' ? 0 : chunk.findIndex(byte => !isWhiteSpace(byte))
  if (at === -1) return place
  if (place === 'behind') return 'over'
  at = chunk.indexOf(LINE_FEED, at)
  if (at === -1) return 'in'
  return chunk.subarray(at).every(isWhiteSpace) ? 'behind' : 'over'
}

function described({ path, objects, isOpen }: InnerArray): string {
  const many = isOpen ? 'many' : objects.toLocaleString('en-US')
  return `an array \`${path}\` of ${many} objects`
}

function pickOf({ path }: InnerArray): string {
  return /^[\w.-]+$/.test(path) ? `\`--pick ${path}\`` : `\`--pick '${path}'\``
}

/** Returns whether the beginning of a document shows the array `features` of GeoJSON. */
export function hasFeatures(head: Buffer): boolean {
  return arraysIn(head).some(({ path }) => path === 'features')
}

/** Returns the array of two objects or more that fills much of a document. */
function largeArray(text: Buffer): InnerArray | undefined {
  return arraysIn(text).find(({ objects, bytes }) => objects > 1 && bytes > text.length / 3)
}

interface Container {
  readonly isArray: boolean
  /** Undefined: an array stands above it. */
  readonly path: string | undefined
  readonly start: number
  objects: number
  hasOthers: boolean
}

/** Returns the arrays inside an object, or its beginning, that hold only objects and stand in no other array. */
function arraysIn(text: Buffer): InnerArray[] {
  const found: InnerArray[] = []
  const open: Container[] = []
  let name = ''
  let isName = false
  for (let at = 0; at < text.length; at += 1) {
    const byte = text[at] as number
    if (isWhiteSpace(byte) || byte === COLON) continue
    const top = open.at(-1)
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      const isArray = byte === OPEN_ARRAY
      if (isArray) other(top)
      else if (top !== undefined) top.objects += 1
      open.push({ isArray, path: pathIn(top, name, isArray), start: at, objects: 0, hasOthers: false })
      isName = !isArray
    } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
      add(open.pop(), at, false)
    } else if (byte === COMMA) {
      isName = top?.isArray === false
    } else if (byte === QUOTE) {
      const end = endOfString(text, at)
      if (isName) name = String(parseJson(text.toString('utf8', at, end)))
      else other(top)
      isName = false
      at = end - 1
    } else other(top)
  }
  for (const rest of open) add(rest, text.length, true)
  return found

  function add(closed: Container | undefined, end: number, isOpen: boolean): void {
    if (closed?.isArray !== true || closed.path === undefined || closed.hasOthers) return
    const { path, objects, start } = closed
    found.push({ path, objects, bytes: end + 1 - start, isOpen })
  }
}

function other(container: Container | undefined): void {
  if (container !== undefined) container.hasOthers = true
}

/** Returns the path of a container: none for an array at the top, and for what stands in an array. */
function pathIn(above: Container | undefined, name: string, isArray: boolean): string | undefined {
  if (above === undefined) return isArray ? undefined : ''
  if (above.isArray || above.path === undefined) return undefined
  return above.path === '' ? name : `${above.path}.${name}`
}

/** Returns the offset behind the quotation mark that ends a string. */
function endOfString(text: Buffer, from: number): number {
  let at = from + 1
  while (at < text.length && text[at] !== QUOTE) at += text[at] === BACKSLASH ? 2 : 1
  return Math.min(at + 1, text.length)
}

const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
