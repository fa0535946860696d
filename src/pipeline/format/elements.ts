import type { Token } from 'stream-json/core/parser.js'

/** Turns the tokens of JSON documents into NDJSON lines. */
export interface ElementLines {
  write(token: Token): void
  /** Whether the next token is at the level of the elements: then an element may end at the next comma. */
  readonly isBetween: boolean
  /** Whether a value that begins now is an element, and whether that is so at the top level. */
  readonly isAtElement: boolean
  readonly isAtTop: boolean
  /** Counts elements whose lines are written elsewhere. */
  pass(objects: number): void
  /** Number of whole elements. */
  readonly count: number
  /** Number of top-level values. */
  readonly values: number
  /** Those of them that lack the picked path: how many, and the number and kind of the first. */
  readonly lacking: { readonly values: number; readonly first: number; readonly kind: string }
  /** Whether containers stand inside each other more often than Sluice follows. */
  readonly isTooDeep: boolean
  /** Returns the lines since the last call, if any. Keeps an element that is not complete, unless it is long. */
  take(): Uint8Array | undefined
}

/** An open container above the elements. */
interface Step {
  /** The start of a child's path. */
  readonly prefix: string
  readonly holdsElements: boolean
  /** Position of the next child of an array. */
  next: number
}

/** Text is turned into bytes at this length. Appending to a much longer string is slow, and strings have a maximum length. */
const ENCODED_LENGTH = 16 << 10
/** Most bytes of an incomplete element that wait here for its end. The framing holds the bytes of a longer one. */
const KEPT_BYTES = 1 << 20
/** No index takes documents that are nearly as deep. */
const DEEPEST = 1_000_000
const MOST_KEYS = 1000

/** Finds the elements in the array at the path `pick`, or in each top-level array. A value there that is no array is an element itself. */
export function elements(pick: string | undefined): ElementLines {
  const above: Step[] = []
  let key = ''
  let skipDepth = 0
  let values = 0
  let isFound = false
  let kind = ''
  let lacking = { values: 0, first: 0, kind }

  const keys = new Map<string, string>()
  let whole: Uint8Array[] = []
  let underWay: Uint8Array[] = []
  let underWayBytes = 0
  let isInString = false
  let text = ''
  let wholeLength = 0
  let depth = 0
  let needsComma = false
  let count = 0

  return {
    write(token) {
      if (depth > 0 || isInString) writeElement(token)
      else if (skipDepth > 0) skipDepth += change(token)
      else if (token.name === 'keyValue') key = token.value
      else if (token.name === 'stringChunk' || token.name === 'endString') return
      else if (change(token) < 0) above.pop()
      else enter(token)
    },
    get isBetween() {
      return depth === 0 && skipDepth === 0 && !isInString
    },
    get isAtElement() {
      if (depth > 0 || isInString || skipDepth > 0) return false
      return above.at(-1)?.holdsElements ?? pick === undefined
    },
    get isAtTop() {
      return above.length === 0
    },
    pass(objects) {
      count += objects
      if (above.length > 0) return
      values += objects
      isFound = true
    },
    get count() {
      return count
    },
    get values() {
      return values
    },
    get lacking() {
      noteLacking()
      return lacking
    },
    get isTooDeep() {
      return depth + skipDepth + above.length > DEEPEST
    },
    take() {
      encodeWhole()
      if (underWayBytes > KEPT_BYTES) {
        for (const part of underWay) whole.push(part)
        underWay = []
        underWayBytes = 0
      }
      const lines = whole.length === 0 ? undefined : Buffer.concat(whole)
      whole = []
      return lines
    },
  }

  /** Takes a value outside of any element: it is an element, a container above elements, or neither. */
  function enter(token: Token): void {
    const parent = above.at(-1)
    if (parent?.holdsElements === true) return writeElement(token)
    if (parent === undefined) {
      noteLacking()
      values++
      isFound = false
      kind = kindOf(token)
    }
    const path = parent === undefined ? '' : parent.prefix + (parent.next < 0 ? key : String(parent.next++))
    const isContainer = change(token) > 0
    if (parent === undefined ? pick === undefined : path === pick) {
      isFound = true
      if (token.name !== 'startArray') writeElement(token)
      else above.push({ prefix: '', holdsElements: true, next: 0 })
    } else if (isContainer) {
      const prefix = parent === undefined ? '' : `${path}.`
      if (pick?.startsWith(prefix) === true)
        above.push({ prefix, holdsElements: false, next: token.name === 'startArray' ? 0 : -1 })
      else skipDepth = 1
    }
  }

  /** Notes that the last top-level value lacks the path, if it does. */
  function noteLacking(): void {
    if (isFound || values === 0) return
    lacking = lacking.values === 0 ? { values: 1, first: values, kind } : { ...lacking, values: lacking.values + 1 }
    isFound = true
  }

  function writeElement(token: Token): void {
    switch (token.name) {
      case 'startObject':
      case 'startArray':
        text += (needsComma ? ',' : '') + (token.name === 'startObject' ? '{' : '[')
        needsComma = false
        depth++
        return
      case 'keyValue':
        text += (needsComma ? ',' : '') + written(token.value)
        needsComma = false
        return
      case 'endObject':
      case 'endArray':
        text += token.name === 'endObject' ? '}' : ']'
        depth--
        break
      case 'startString':
        text += needsComma ? ',"' : '"'
        isInString = true
        return
      case 'stringChunk':
        text += JSON.stringify(token.value).slice(1, -1)
        if (text.length > ENCODED_LENGTH) encode()
        return
      case 'endString':
        text += '"'
        isInString = false
        break
      case 'numberValue':
        text += (needsComma ? ',' : '') + token.value
        break
      case 'nullValue':
      case 'trueValue':
      case 'falseValue':
        text += (needsComma ? ',' : '') + String(token.value)
        break
      default:
        return // The parser also gives pieces of keys and numbers. It is told to give them whole.
    }
    needsComma = depth > 0
    if (depth === 0) {
      text += '\n'
      wholeLength = text.length
      count++
    }
    if (text.length > ENCODED_LENGTH) encode()
  }

  function encode(): void {
    encodeWhole()
    if (text.length <= ENCODED_LENGTH) return
    const part = Buffer.from(text)
    underWay.push(part)
    underWayBytes += part.length
    text = ''
  }

  function encodeWhole(): void {
    if (wholeLength === 0) return
    for (const part of underWay) whole.push(part)
    whole.push(Buffer.from(text.slice(0, wholeLength)))
    underWay = []
    underWayBytes = 0
    text = text.slice(wholeLength)
    wholeLength = 0
  }

  /** Returns a key as JSON. The same few keys come again and again. */
  function written(name: string): string {
    const known = keys.get(name)
    if (known !== undefined) return known
    const quoted = JSON.stringify(name)
    const json = `${quoted}:`
    // Keep a copy: the name itself is a slice that holds the text of its whole chunk in memory.
    if (keys.size < MOST_KEYS) keys.set(String(JSON.parse(quoted)), json)
    return json
  }
}

function kindOf({ name }: Token): string {
  if (name === 'startArray') return 'an array'
  return name === 'startObject' ? 'an object' : 'a single value'
}

function change(token: Token): -1 | 0 | 1 {
  switch (token.name) {
    case 'startObject':
    case 'startArray':
      return 1
    case 'endObject':
    case 'endArray':
      return -1
    default:
      return 0
  }
}
