import type { Token } from 'stream-json/core/parser.js'

/** Turns the tokens of JSON documents into NDJSON lines. */
export interface Elements {
  write(token: Token): void
  /** Whether what comes next is at the level of the elements, so that one may be over by the next comma. */
  readonly isBetween: boolean
  /** Elements that are whole. */
  readonly count: number
  /** Whether the picked path was found; without one, whether there was any value. */
  readonly isFound: boolean
  /** Whether there was any value at all. */
  readonly isEmpty: boolean
  /** The whole lines since the last time, if any. An element that is under way stays. */
  take(): Uint8Array | undefined
}

/** A container that is open on the way to the elements. */
interface Step {
  /** What the path of a child begins with. */
  readonly prefix: string
  readonly holdsElements: boolean
  /** Position of the next child of an array. */
  next: number
}

/** So much text is turned into bytes in one go: appending to a much longer string is slow, and a string has a longest length. */
const ENCODED_LENGTH = 16 << 10
const MOST_KEYS = 1000

/** Where the elements are: in the array at the path `pick`, or in each top-level array; what is no array there is an element itself. */
export function elements(pick: string | undefined): Elements {
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

  /** A value that is not inside an element: an element, a container on the way to them, or of no interest. */
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
        return // Pieces of keys, strings and numbers: the parser is told to give them whole.
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

  /** The same few keys come again and again. */
  function written(name: string): string {
    const known = keys.get(name)
    if (known !== undefined) return known
    const quoted = JSON.stringify(name)
    const json = `${quoted}:`
    // A copy: the name itself is a slice that would keep the text of its whole chunk in memory.
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
