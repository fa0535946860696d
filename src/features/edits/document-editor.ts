/**
 * Finds what the edits change in a document, as patches of its bytes: all others stay as they are. The document is known to be valid
 * JSON, so only strings and brackets are looked at. Values without a named field inside are passed over.
 */
import { passSpace, passValue } from '../../base/json/parse-json.js'
import type { Field, Level, Rules } from './rules.js'
import { textOn, type ValueText } from './values.js'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

const NOTHING = Buffer.alloc(0)
const COMMA_TEXT = Buffer.from(',')
const COLON_TEXT = Buffer.from(':')

/** Elasticsearch takes 20 levels of objects by default, and 1,000 levels of JSON at most. */
const MOST_LEVELS = 1000

export class DocumentEditor {
  /** The patches, in their order: bytes from `from` to `to` become `text`. */
  readonly from: number[] = []
  readonly to: number[] = []
  readonly text: Buffer[] = []
  readonly #rules: Rules
  readonly #values: readonly ValueText[]
  /** Of each value to set: whether its field was there, and else where it belongs. */
  readonly #isSet: boolean[]
  readonly #place: number[]
  readonly #placeLevel: (Level | undefined)[]
  readonly #isAlone: boolean[]
  /** Of each field to rename: whether it was there, what it holds if it moves, and whether another one has its new name. */
  readonly #isRenamed: boolean[]
  readonly #moved: (Buffer | undefined)[]
  readonly #isTaken: boolean[]
  #bytes: Buffer = NOTHING
  #line = 0
  #levels = 0
  #problem: string | undefined
  /** Whether the last value that was passed is to be left out. */
  #isLeftOut = false

  constructor(rules: Rules, values: readonly ValueText[]) {
    this.#rules = rules
    this.#values = values
    this.#isSet = values.map(() => false)
    this.#place = values.map(() => -1)
    this.#placeLevel = values.map(() => undefined)
    this.#isAlone = values.map(() => false)
    this.#isRenamed = rules.renames.map(() => false)
    this.#moved = rules.renames.map(() => undefined)
    this.#isTaken = rules.renames.map(() => false)
  }

  /** Adds the patches of the object at `from` to those before. Returns why it cannot be edited, and then adds none. */
  edit(bytes: Buffer, from: number, line: number): string | undefined {
    const before = this.text.length
    this.#begin(bytes, line)
    const end = this.#object(from, this.#rules.top, false)
    this.#problem ??= this.#conflict()
    if (this.#problem === undefined) this.#addRest(end - 1)
    else for (const list of [this.from, this.to, this.text]) list.length = before
    return this.#problem
  }

  #begin(bytes: Buffer, line: number): void {
    this.#bytes = bytes
    this.#line = line
    this.#levels = 0
    this.#problem = undefined
    this.#isSet.fill(false)
    this.#placeLevel.fill(undefined)
    this.#isRenamed.fill(false)
    this.#moved.fill(undefined)
    this.#isTaken.fill(false)
  }

  #conflict(): string | undefined {
    const number = this.#isRenamed.findIndex((isRenamed, at) => isRenamed && this.#isTaken[at] === true)
    const [from, to] = this.#rules.renames[number] ?? []
    return from === undefined ? undefined : `it has both '${from}' and '${to}', so the first cannot be renamed`
  }

  /** Passes an object. Returns the offset behind it. */
  #object(start: number, level: Level, isInArray: boolean): number {
    const bytes = this.#bytes
    let kept = 0
    let begin = start + 1
    let comma = start
    const first = passSpace(bytes, begin)
    if (bytes[first] === CLOSE_OBJECT) {
      this.#noteEnd(level, first, 0, isInArray)
      return first + 1
    }
    for (;;) {
      const end = passSpace(bytes, this.#member(passSpace(bytes, begin), level, isInArray))
      const isLast = bytes[end] !== COMMA
      if (this.#isLeftOut) this.#leaveOut(kept > 0 ? comma : begin, kept > 0 || isLast ? end : end + 1)
      else kept += 1
      if (isLast) {
        this.#noteEnd(level, end, kept, isInArray)
        return end + 1
      }
      comma = end
      begin = end + 1
    }
  }

  /** Passes a field. Returns the offset behind its value. */
  #member(key: number, level: Level, isInArray: boolean): number {
    const bytes = this.#bytes
    let keyEnd = key + 1
    let isEscaped = false
    for (let byte = bytes[keyEnd]; byte !== QUOTE; byte = bytes[keyEnd]) {
      if (byte === BACKSLASH) {
        isEscaped = true
        keyEnd += 1
      }
      keyEnd += 1
    }
    const value = passSpace(bytes, passSpace(bytes, keyEnd + 1) + 1)
    const name = isEscaped ? unescaped(bytes, key, keyEnd + 1) : bytes
    const [from, to] = isEscaped ? [0, name.length] : [key + 1, keyEnd]
    const field = fieldOf(level, name, from, to)
    if (field !== undefined) return this.#field(field, key, keyEnd + 1, value, isInArray)
    this.#isLeftOut = isInside(level.dropped, name, from, to) || (level.keeps && !isInside(level.kept, name, from, to))
    return passValue(bytes, value)
  }

  /** Passes a field that is named. */
  #field(field: Field, key: number, keyEnd: number, value: number, isInArray: boolean): number {
    const bytes = this.#bytes
    const first = bytes[value]
    const isContainer = first === OPEN_OBJECT || first === OPEN_ARRAY
    const { rename, set, inside } = field
    this.#isLeftOut = field.isDropped || (field.isWay && !isContainer)
    if (this.#isLeftOut) return passValue(bytes, value)
    if (rename !== undefined) {
      const { number, key: newKey } = rename
      if (newKey === undefined) return this.#move(number, value)
      this.#isRenamed[number] = true
      this.#patch(key, keyEnd, newKey)
    } else if (set !== undefined) return this.#replace(set, value)
    else for (const target of field.targets) this.#isTaken[target] = true
    if (inside === undefined || !isContainer) return passValue(bytes, value)
    const end = this.#inside(value, inside, isInArray)
    this.#isLeftOut = false
    return end
  }

  #inside(value: number, level: Level, isInArray: boolean): number {
    if (this.#levels === MOST_LEVELS) {
      this.#problem = `it has more than ${MOST_LEVELS} levels`
      return passValue(this.#bytes, value)
    }
    this.#levels += 1
    const end = this.#bytes[value] === OPEN_OBJECT ? this.#object(value, level, isInArray) : this.#array(value, level)
    this.#levels -= 1
    return end
  }

  /** Passes an array: a name leads into each of its objects. */
  #array(start: number, level: Level): number {
    const bytes = this.#bytes
    let kept = 0
    let comma = start
    let begin = start + 1
    if (bytes[passSpace(bytes, begin)] === CLOSE_ARRAY) return passSpace(bytes, begin) + 1
    for (;;) {
      const at = passSpace(bytes, begin)
      const isContainer = bytes[at] === OPEN_OBJECT || bytes[at] === OPEN_ARRAY
      const end = passSpace(bytes, isContainer ? this.#inside(at, level, true) : passValue(bytes, at))
      const isLast = bytes[end] !== COMMA
      if (level.keeps && !isContainer) this.#leaveOut(kept > 0 ? comma : begin, kept > 0 || isLast ? end : end + 1)
      else kept += 1
      if (isLast) return end + 1
      comma = end
      begin = end + 1
    }
  }

  /** Gives a field its new value. The same field again is left out. */
  #replace(set: number, value: number): number {
    const end = passValue(this.#bytes, value)
    this.#isLeftOut = this.#isSet[set] === true
    if (!this.#isLeftOut) this.#patch(value, end, textOn(this.#line, this.#values[set] as ValueText))
    this.#isSet[set] = true
    return end
  }

  /** Takes a value out of its object, for the end of the document. */
  #move(number: number, value: number): number {
    const end = passValue(this.#bytes, value)
    const [from] = this.#rules.renames[number] as readonly [string, string]
    if (this.#moved[number] !== undefined) this.#problem = `it has '${from}' more than once, so it cannot be moved`
    this.#moved[number] = this.#bytes.subarray(value, end)
    this.#isRenamed[number] = true
    this.#isLeftOut = true
    return end
  }

  /** Remembers the first of the deepest objects that a value may be added to. */
  #noteEnd(level: Level, end: number, kept: number, isInArray: boolean): void {
    if (isInArray) return
    for (const { set } of level.inserts) {
      const known = this.#placeLevel[set]
      if (known !== undefined && known.prefix.length >= level.prefix.length) continue
      this.#placeLevel[set] = level
      this.#place[set] = end
      this.#isAlone[set] = kept === 0
    }
    if (level === this.#rules.top) this.#isEmpty = kept === 0
  }

  #isEmpty = false

  /** Adds what the document does not have: moved fields, then values. `end`: that of the document, before its brace. */
  #addRest(end: number): void {
    let isFirst = this.#isEmpty
    for (const [number, value] of this.#moved.entries()) {
      if (value === undefined) continue
      const [, to] = this.#rules.renames[number] as readonly [string, string]
      this.#add(end, isFirst, Buffer.from(JSON.stringify(to)), value)
      isFirst = false
    }
    for (let set = 0; set < this.#values.length; set += 1) {
      if (this.#isSet[set] === true) continue
      const level = this.#placeLevel[set] as Level
      const place = this.#place[set] as number
      const isAlone = place === end ? isFirst : this.#isAlone[set] === true && !this.#isAddedAt(place, set)
      const { key } = level.inserts.find(one => one.set === set) as Level['inserts'][number]
      this.#add(place, isAlone, key, textOn(this.#line, this.#values[set] as ValueText))
      if (place === end) isFirst = false
    }
  }

  #isAddedAt(place: number, before: number): boolean {
    for (let set = 0; set < before; set += 1) if (this.#isSet[set] !== true && this.#place[set] === place) return true
    return false
  }

  #add(place: number, isAlone: boolean, key: Buffer, value: Buffer): void {
    let at = this.from.length
    while (at > 0 && (this.from[at - 1] as number) > place) at -= 1
    const parts = isAlone ? [key, COLON_TEXT, value] : [COMMA_TEXT, key, COLON_TEXT, value]
    this.from.splice(at, 0, place)
    this.to.splice(at, 0, place)
    this.text.splice(at, 0, Buffer.concat(parts))
  }

  #leaveOut(from: number, to: number): void {
    this.#patch(from, to, NOTHING)
  }

  #patch(from: number, to: number, text: Buffer): void {
    this.from.push(from)
    this.to.push(to)
    this.text.push(text)
  }
}

/** Returns the field with the name in `bytes[from, to)`. */
function fieldOf({ fields }: Level, bytes: Buffer, from: number, to: number): Field | undefined {
  const same = fields[to - from]
  if (same === undefined) return undefined
  for (const field of same) {
    const { name } = field
    let at = 0
    while (at < name.length && name[at] === bytes[from + at]) at += 1
    if (at === name.length) return field
  }
  return undefined
}

/** Returns whether the name in `bytes[from, to)` has one of the beginnings. */
function isInside(beginnings: readonly Buffer[], bytes: Buffer, from: number, to: number): boolean {
  for (const beginning of beginnings) {
    let at = 0
    while (at < beginning.length && beginning[at] === bytes[from + at]) at += 1
    if (at === beginning.length && at <= to - from) return true
  }
  return false
}

function unescaped(bytes: Buffer, from: number, to: number): Buffer {
  return Buffer.from(JSON.parse(bytes.toString('utf8', from, to)) as string)
}
