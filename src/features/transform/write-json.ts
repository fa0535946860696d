/** Writes what a function returned as JSON, and refuses what JSON would lose: JSON.stringify leaves it out, or writes null. */
import { ExactNumber } from './exact-number.js'
import type { Spellings } from './spellings.js'
import { Untransformable } from './untransformable.js'

const MOST_LEVELS = 1000

/** Writes a document. `most`: characters that it may have. Throws Untransformable. */
export function writeDocument(document: unknown, spellings: Spellings | undefined, most: number): string {
  const writer = new Writer(spellings, most)
  const plain = converted(document, '')
  if (Array.isArray(plain)) throw new Untransformable('one of its results is an array, not an object')
  if (typeof plain !== 'object' || plain === null || plain instanceof ExactNumber)
    throw new Untransformable(`its result is ${nameOf(plain)}, not an object`)
  return writer.container(plain)
}

class Writer {
  readonly #spellings: Spellings | undefined
  readonly #most: number
  #length = 0
  #levels = 0

  constructor(spellings: Spellings | undefined, most: number) {
    this.#spellings = spellings
    this.#most = most
  }

  container(value: object): string {
    const tag = Object.prototype.toString.call(value)
    const isArray = Array.isArray(value)
    if (!isArray && tag !== '[object Object]')
      throw new Untransformable(`it holds ${nameOf(value)}, which JSON cannot hold`)
    this.#count(2)
    this.#levels += 1
    if (this.#levels > MOST_LEVELS) throw new Untransformable(`it has more than ${MOST_LEVELS} levels, or holds itself`)
    const text = isArray ? this.#array(value) : this.#object(value as Record<string, unknown>)
    this.#levels -= 1
    return text
  }

  #array(array: readonly unknown[]): string {
    let text = '['
    for (let at = 0; at < array.length; at += 1) {
      if (at > 0) text += ','
      text += this.#value(array, String(at), array[at])
    }
    return `${text}]`
  }

  #object(object: Readonly<Record<string, unknown>>): string {
    let text = '{'
    for (const key of Object.keys(object)) {
      const value = object[key]
      // A function that assigns undefined to a field leaves the field out.
      if (value === undefined) continue
      const name = JSON.stringify(key)
      this.#count(name.length + 2)
      if (text !== '{') text += ','
      text += `${name}:${this.#value(object, key, value)}`
    }
    return `${text}}`
  }

  #value(holder: object, key: string, given: unknown): string {
    const value = converted(given, key)
    if (typeof value === 'object' && value !== null && !(value instanceof ExactNumber)) return this.container(value)
    const text = this.#scalar(holder, key, value)
    this.#count(text.length + 1)
    return text
  }

  #scalar(holder: object, key: string, value: unknown): string {
    if (typeof value === 'string') return JSON.stringify(value)
    if (typeof value === 'number' && Number.isFinite(value)) {
      const written = this.#spellings?.textOf(holder, key, value)
      return written ?? (Object.is(value, -0) ? '-0' : String(value))
    }
    if (typeof value === 'bigint') return String(value)
    if (typeof value === 'boolean' || value === null) return String(value)
    if (value instanceof ExactNumber) return value.text
    throw new Untransformable(`it holds ${nameOf(value)}, which JSON cannot hold`)
  }

  /** Objects that hold each other again and again may make a text without end. */
  #count(length: number): void {
    this.#length += length
    if (this.#length > this.#most) throw new Untransformable(`it has more than ${this.#most} characters`)
  }
}

/** Returns what an object says of itself, as a date does. */
function converted(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value
  const { toJSON } = value as { readonly toJSON?: unknown }
  if (typeof toJSON !== 'function') return value
  const text: unknown = toJSON.call(value, key)
  if (text === null) throw new Untransformable(`it holds ${nameOf(value)} without a value, which JSON cannot hold`)
  return text
}

function nameOf(value: unknown): string {
  switch (typeof value) {
    case 'number':
      return `the number ${value}`
    case 'object':
      if (value === null) return 'null'
      if (Array.isArray(value)) return 'an array'
      if (value instanceof ExactNumber) return 'a number'
      return `a ${Object.prototype.toString.call(value).slice('[object '.length, -1)}`
    case 'undefined':
      return 'undefined'
    case 'bigint':
    case 'boolean':
    case 'function':
    case 'string':
    case 'symbol':
      return `a ${typeof value}`
  }
}
