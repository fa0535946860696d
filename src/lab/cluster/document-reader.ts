import type { Cause } from './answers.js'
import { type Value, dynamicFormat, dynamicType, isScalar, objectObjection, objection } from './field-values.js'
import { geoObjection, isGeo } from './geo-values.js'
import type { JsonCursor } from './json-cursor.js'
import { beyondLab } from './query/values.js'
import { Field, type Mapping, maxDepth } from './mapping.js'

const metadataFields = new Set(['_id', '_index', '_source', '_routing', '_field_names', '_ignored'])

/** Why a document that is JSON cannot be indexed. */
export interface Refusal {
  /** `document_parsing_exception` when absent. */
  readonly type?: string
  /** The reason. If a field is named: the value that the field does not take. */
  readonly reason: string
  readonly field?: { readonly path: string; readonly type: string }
  /** Offset in the buffer. */
  readonly at?: number
  readonly causedBy?: Cause
}

export class DocumentRefused extends Error {
  readonly refusal: Refusal
  constructor(refusal: Refusal) {
    super(refusal.reason)
    this.refusal = refusal
  }
}

/** Most bytes of a term of Lucene. */
const LONGEST_TERM = 32_766

/** Numbers the objects, so that a field can tell whether the current object already contained its name. */
let objects = 0

/**
 * Reads one document, field by field, into a mapping. Throws DocumentRefused and NotJson. New fields stay pending.
 */
export class DocumentReader {
  readonly #mapping: Mapping
  readonly #cursor: JsonCursor

  constructor(mapping: Mapping, cursor: JsonCursor) {
    this.#mapping = mapping
    this.#cursor = cursor
  }

  read(): void {
    const cursor = this.#cursor
    const { from, to, bytes } = cursor
    if (from === to || (to - from === 1 && bytes[from] === 0x0d)) {
      throw new DocumentRefused({ reason: '[0:0] failed to parse, document is empty' })
    }
    cursor.isOutside = true
    if (cursor.peek() !== 0x7b) {
      cursor.kind()
      throw new DocumentRefused({ reason: 'Malformed content, must start with an object' })
    }
    cursor.isOutside = false
    this.#object(this.#mapping.root)
    cursor.isOutside = true
    const next = cursor.peek()
    if (next === -1) return
    if (next === 0x7d || next === 0x5d) cursor.unexpected('expected end of document')
    const reason = `Malformed content, found extra data after parsing: ${cursor.kind()}`
    throw new DocumentRefused({ type: 'illegal_argument_exception', reason })
  }

  #object(field: Field): void {
    const cursor = this.#cursor
    const number = ++objects
    cursor.skip()
    if (cursor.peek() === 0x7d) return cursor.skip()
    for (;;) {
      const name = cursor.name()
      const child = field.children.get(name) ?? this.#newChild(field, name)
      if (child.seenIn === number) cursor.fail(`Duplicate field '${name}'`, cursor.nameEnd)
      child.seenIn = number
      this.#value(child, false)
      if (cursor.isLast(0x7d)) return
    }
  }

  #array(field: Field): void {
    const cursor = this.#cursor
    cursor.skip()
    if (cursor.peek() === 0x5d) return cursor.skip()
    for (;;) {
      this.#value(field, true)
      if (cursor.isLast(0x5d)) return
    }
  }

  #value(field: Field, inArray: boolean): void {
    const cursor = this.#cursor
    const takesText = field.type === 'text' || field.type === 'keyword'
    if (isGeo(field.type)) return this.#place(field)
    switch (cursor.peek()) {
      case 0x7b:
        return this.#objectValue(field)
      case 0x5b:
        return this.#array(field)
      case 0x22:
        cursor.string()
        if (field.type === 'keyword') this.#keyword(field)
        return takesText ? undefined : this.#scalar(field, { kind: 'string', text: cursor.text() }, inArray)
      case 0x74:
      case 0x66:
      case 0x6e: {
        const text = cursor.literal()
        if (text === 'null' && this.#isMetadata(field)) throw metadataRefused(field.path, text, cursor.token)
        return text === 'null' ? undefined : this.#scalar(field, { kind: 'boolean', text }, inArray)
      }
      default: {
        const kind = cursor.number() ? 'integer' : 'float'
        const isShort = cursor.at - cursor.token < 19
        if (takesText || (field.type === 'long' && kind === 'integer' && isShort)) return
        return this.#scalar(field, { kind, text: cursor.raw(cursor.token, cursor.at) }, inArray)
      }
    }
  }

  /** Refuses a text that is too long for one term, if the field does not ignore it. */
  #keyword({ path, type, declared }: Field): void {
    const cursor = this.#cursor
    if (cursor.at - cursor.token <= LONGEST_TERM) return
    const text = cursor.text()
    const bytes = Buffer.byteLength(text)
    if (bytes <= LONGEST_TERM || text.length > Number(declared?.['ignore_above'] ?? Infinity)) return
    const what = `Document contains at least one immense term in field="${path}" (whose UTF8 encoding is longer than the max length ${LONGEST_TERM})`
    const reason = `${what}, all of which were skipped. Please correct the analyzer to not produce such terms.`
    const causedBy = { type: 'illegal_argument_exception', reason }
    throw new DocumentRefused({ field: { path, type }, reason: text.slice(0, 50), at: cursor.token, causedBy })
  }

  /** Reads a point or a shape as a whole. */
  #place(field: Field): void {
    const cursor = this.#cursor
    cursor.peek()
    const from = cursor.at
    this.#value(new Field(field.path, field.parent, 'ignored', 'false'), false)
    const text = cursor.raw(from, cursor.at)
    const causedBy = geoObjection(field.type, JSON.parse(text))
    if (causedBy === undefined) return
    const reason = javaText(JSON.parse(text))
    throw new DocumentRefused({ field: { path: field.path, type: field.type }, reason, at: from, causedBy })
  }

  #objectValue(field: Field): void {
    const cursor = this.#cursor
    const from = cursor.at
    if (!this.#mapping.hasSubobjects && field.type !== 'ignored') beyondLab('objects in an index without subobjects')
    if (this.#isMetadata(field)) {
      this.#object(new Field(field.path, undefined, 'ignored', 'false'))
      throw metadataRefused(field.path, javaText(JSON.parse(cursor.raw(from, cursor.at))), cursor.token)
    }
    if (field.type === 'unmapped') {
      if (field.dynamic === 'true' && field.depth >= maxDepth) {
        const limit = `Limit of mapping depth [${maxDepth}] has been exceeded due to object field [${field.path}]`
        throw parseFailure(limit, from)
      }
      this.#map(field, 'object', from)
    }
    if (!isScalar(field.type)) return this.#object(field)
    this.#object(new Field(field.path, field.parent, 'ignored', 'false'))
    const causedBy = objectObjection(field.type, from - cursor.from + 1)
    const reason = javaText(JSON.parse(cursor.raw(from, cursor.at)))
    throw new DocumentRefused({ field: { path: field.path, type: field.type }, reason, at: cursor.token, causedBy })
  }

  #scalar(field: Field, value: Value, inArray: boolean): void {
    if (field.type === 'ignored') return
    const at = this.#cursor.token
    const { path } = field
    if (this.#isMetadata(field)) throw metadataRefused(path, value.text, at)
    if (field.type === 'unmapped') {
      const type = dynamicType(value)
      this.#map(field, type, at)
      const format = dynamicFormat(type, value)
      if (format !== undefined && field.type === type) field.declared = { format, locale: '' }
    }
    if (isIgnored(field)) return
    if (field.type === 'object') {
      const tried = `object mapping for [${path}] tried to parse field [${inArray ? 'null' : path}] as object`
      throw new DocumentRefused({ reason: `${tried}, but found a concrete value`, at })
    }
    const causedBy = objection(field.type, value, field.declared?.['format'])
    if (causedBy) throw new DocumentRefused({ field: { path, type: field.type }, reason: value.text, at, causedBy })
  }

  #isMetadata({ parent, path }: Field): boolean {
    return parent === this.#mapping.root && metadataFields.has(path)
  }

  /** Maps a field by its first value, and the objects that lead to it. */
  #map(field: Field, type: string, at: number): void {
    if (field.dynamic === 'strict') {
      const where = field.parent?.path || '_doc'
      const reason = `mapping set to strict, dynamic introduction of [${field.name}] within [${where}] is not allowed`
      throw new DocumentRefused({ type: 'strict_dynamic_mapping_exception', reason, at })
    }
    if (field.dynamic === 'false') {
      field.type = 'ignored'
      return
    }
    if (field.parent?.type === 'unmapped') this.#map(field.parent, 'object', at)
    if (this.#mapping.add(field, type)) return
    const { pending, maxFields } = this.#mapping
    throw parseFailure(
      `Limit of total fields [${maxFields}] has been exceeded while adding new fields [${pending}]`,
      at,
    )
  }

  /** Adds a name that is new to the mapping. A dotted name leads to a field further down. */
  #newChild(field: Field, name: string): Field {
    const at = this.#cursor.token
    if (name === '') throw parseFailure('field name cannot be an empty string', at)
    if (field.type !== 'ignored' && name.trim() === '') {
      const path = field.path === '' ? name : `${field.path}.${name}`
      throw new DocumentRefused({ reason: `Field name cannot contain only whitespace: [${path}]`, at })
    }
    const isPlain = !this.#mapping.hasSubobjects || !name.includes('.')
    if (isPlain || field.type === 'ignored') return field.child(name)
    const names = name.replace(/\.+$/, '').split('.')
    if (names.some(part => part.trim() === '')) {
      throw parseFailure(`field name cannot contain only whitespace: ['${name}']`, at)
    }
    let found = field
    for (const part of names) {
      if (isScalar(found.type)) {
        const causedBy = objectObjection(found.type, at - this.#cursor.from + 1)
        throw new DocumentRefused({
          field: { path: found.path, type: found.type },
          reason: `{${part}=…}`,
          at,
          causedBy,
        })
      }
      found = found.child(part)
    }
    field.children.set(name, found)
    return found
  }
}

/** An index that takes no new fields ignores them. */
function isIgnored({ type }: Field): boolean {
  return type === 'ignored'
}

function metadataRefused(path: string, shown: string, at: number): DocumentRefused {
  const reason = `Field [${path}] is a metadata field and cannot be added inside a document. Use the index API request parameters.`
  const causedBy = { type: 'document_parsing_exception', reason }
  return new DocumentRefused({ field: { path, type: path }, reason: shown, at, causedBy })
}

function parseFailure(reason: string, at: number): DocumentRefused {
  return new DocumentRefused({
    reason: `failed to parse: ${reason}`,
    at,
    causedBy: { type: 'illegal_argument_exception', reason },
  })
}

/** Prints a value as Java prints a map: `{a=1, b=[x, y]}`. */
function javaText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(javaText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  const members = Object.entries(value).map(([name, member]) => `${name}=${javaText(member)}`)
  return `{${members.join(', ')}}`
}
