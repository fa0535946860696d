/** Reads a document so that nothing of it is lost: numbers, and names that an object of JavaScript cannot hold. */
import { ExactNumber, readNumber } from './exact-number.js'
import { mayBeUnusual, Spellings } from './spellings.js'
import { Untransformable } from './untransformable.js'

export interface ReadDocument {
  readonly document: Record<string, unknown>
  /** Set if numbers may be written otherwise than JavaScript writes them. */
  readonly spellings: Spellings | undefined
}

/** Elasticsearch takes 20 levels of objects by default, and 1,000 levels of JSON at most. */
const MOST_LEVELS = 1000

/** Reads an object, which is known to be valid JSON. Throws Untransformable. */
export function readDocument(text: string): ReadDocument {
  const spellings = mayBeUnusual(text) ? new Spellings() : undefined
  return { document: new Reader(text, spellings).document(), spellings }
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const SPACE = 0x20

class Reader {
  readonly #text: string
  readonly #spellings: Spellings | undefined
  #at = 0
  #levels = 0

  constructor(text: string, spellings: Spellings | undefined) {
    this.#text = text
    this.#spellings = spellings
  }

  document(): Record<string, unknown> {
    this.#passSpace()
    return this.#object()
  }

  #value(holder: object, key: string): unknown {
    switch (this.#text.charCodeAt(this.#at)) {
      case QUOTE:
        return this.#string()
      case OPEN_OBJECT:
        return this.#object()
      case OPEN_ARRAY:
        return this.#array()
      case 0x74: // true
        this.#at += 4
        return true
      case 0x66: // false
        this.#at += 5
        return false
      case 0x6e: // null
        this.#at += 4
        return null
      default:
        return this.#number(holder, key)
    }
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {}
    this.#enter()
    while (this.#text.charCodeAt(this.#at) !== CLOSE_OBJECT) {
      const key = this.#string()
      if (Object.hasOwn(object, key))
        throw new Untransformable('it has a field twice, and an object of JavaScript holds only one')
      // An assignment would replace the prototype, and most ways to copy an object do so.
      if (key === '__proto__')
        throw new Untransformable('it has a field __proto__, which an object of JavaScript does not keep')
      this.#passSpace()
      this.#at += 1
      this.#passSpace()
      object[key] = this.#value(object, key)
      this.#passComma()
    }
    this.#leave()
    return object
  }

  #array(): unknown[] {
    const array: unknown[] = []
    this.#enter()
    while (this.#text.charCodeAt(this.#at) !== CLOSE_ARRAY) {
      array.push(this.#value(array, String(array.length)))
      this.#passComma()
    }
    this.#leave()
    return array
  }

  #enter(): void {
    this.#levels += 1
    if (this.#levels > MOST_LEVELS) throw new Untransformable(`it has more than ${MOST_LEVELS} levels`)
    this.#at += 1
    this.#passSpace()
  }

  #leave(): void {
    this.#levels -= 1
    this.#at += 1
  }

  #passComma(): void {
    this.#passSpace()
    if (this.#text.charCodeAt(this.#at) !== COMMA) return
    this.#at += 1
    this.#passSpace()
  }

  #passSpace(): void {
    while (this.#text.charCodeAt(this.#at) <= SPACE) this.#at += 1
  }

  #string(): string {
    const text = this.#text
    const start = this.#at
    let end = text.indexOf('"', start + 1)
    while (this.#isEscaped(start, end)) end = text.indexOf('"', end + 1)
    this.#at = end + 1
    const raw = text.slice(start + 1, end)
    return raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
  }

  /** Whether an odd number of backslashes stands before the quote. */
  #isEscaped(start: number, quote: number): boolean {
    let at = quote
    while (at - 1 > start && this.#text.charCodeAt(at - 1) === BACKSLASH) at -= 1
    return (quote - at) % 2 === 1
  }

  #number(holder: object, key: string): number | bigint | ExactNumber {
    NUMBER.lastIndex = this.#at
    const text = NUMBER.exec(this.#text)?.[0] ?? ''
    // The caller has found no fault in the text.
    if (text === '') throw new RangeError(`no JSON at character ${this.#at}`)
    this.#at += text.length
    const value = this.#spellings === undefined ? Number(text) : readNumber(text)
    if (typeof value === 'number') this.#spellings?.note(holder, key, value, text)
    return value
  }
}

const NUMBER = /-?[\d.]+(?:[eE][-+]?\d+)?/y
