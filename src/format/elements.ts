import type { Token } from 'stream-json/core/parser.js'

/** Turns the tokens of JSON documents into NDJSON lines. */
export interface ElementLines {
  write(token: Token): void
  /** Whether the next token is at the level of the elements: then an element may end at the next comma. */
  readonly isBetween: boolean
  /** Number of whole elements. */
  readonly count: number
  /** Whether the picked path was found. Without a path: whether there was any value. */
  readonly isFound: boolean
  /** Whether there was any value at all. */
  readonly isEmpty: boolean
  /** Returns the whole lines since the last call, if any. Keeps an element that is not complete. */
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
const MOST_KEYS = 1000

/** Finds the elements in the array at the path `pick`, or in each top-level array. A value there that is no array is an element itself. */
export function elements(pick: string | undefined): ElementLines {
  const way: Step[] = []
  let key = ''
  let skipDepth = 0
  let isFound = false
  let isEmpty = true

  const keys = new Map<string, string>()
  let whole: Uint8Array[] = []
  let underWay: Uint8Array[] = []
  let text = ''
  let wholeLength = 0
  let depth = 0
  let needsComma = false
  let count = 0

  return {
    write(token) {
      isEmpty = false
      if (depth > 0) writeElement(token)
      else if (skipDepth > 0) skipDepth += change(token)
      else if (token.name === 'keyValue') key = token.value
      else if (change(token) < 0) way.pop()
      else enter(token)
    },
    get isBetween() {
      return depth === 0 && skipDepth === 0
    },
    get count() {
      return count
    },
    get isFound() {
      return isFound
    },
    get isEmpty() {
      return isEmpty
    },
    take() {
      encodeWhole()
      const lines = whole.length === 0 ? undefined : Buffer.concat(whole)
      whole = []
      return lines
    },
  }

  /** Takes a value outside of any element: it is an element, a container above elements, or neither. */
  function enter(token: Token): void {
    const parent = way.at(-1)
    if (parent?.holdsElements === true) return writeElement(token)
    const path = parent === undefined ? '' : parent.prefix + (parent.next < 0 ? key : String(parent.next++))
    const isContainer = change(token) > 0
    if (parent === undefined ? pick === undefined : path === pick) {
      isFound = true
      if (token.name !== 'startArray') writeElement(token)
      else way.push({ prefix: '', holdsElements: true, next: 0 })
    } else if (isContainer) {
      const prefix = parent === undefined ? '' : `${path}.`
      if (pick?.startsWith(prefix) === true)
        way.push({ prefix, holdsElements: false, next: token.name === 'startArray' ? 0 : -1 })
      else skipDepth = 1
    }
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
      case 'stringValue':
        text += (needsComma ? ',' : '') + JSON.stringify(token.value)
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
        return // The parser also gives pieces of keys, strings and numbers. It is told to give them whole.
    }
    needsComma = depth > 0
    if (depth === 0) {
      text += '\n'
      wholeLength = text.length
      count++
    }
    if (text.length > ENCODED_LENGTH) encodeWhole()
    if (text.length > ENCODED_LENGTH) {
      underWay.push(Buffer.from(text))
      text = ''
    }
  }

  function encodeWhole(): void {
    if (wholeLength === 0) return
    for (const part of underWay) whole.push(part)
    whole.push(Buffer.from(text.slice(0, wholeLength)))
    underWay = []
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
