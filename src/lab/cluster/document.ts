import { isUtf8 } from 'node:buffer'
import { type Cause, type Fault, illegalArgument } from './answers.js'
import { type Value, dynamicType, objection } from './field-values.js'
import { JsonCursor, NotJson } from './json-cursor.js'
import { type Field, type Mapping, maxDepth, maxFields } from './mapping.js'

const metadataFields = new Set([
  '_id',
  '_index',
  '_source',
  '_type',
  '_routing',
  '_field_names',
  '_ignored',
  '_nested_path',
])

/** How a document is told in its faults. */
export interface DocumentOptions {
  /** Its id as error messages have it. */
  readonly id: string
  /** Whether error messages may quote the document (`include_source_on_error`). */
  readonly quoteSource: boolean
  /** That the bytes were found to be UTF-8 already. */
  readonly isUtf8: boolean
}

/**
 * Reads the document in `bytes` from `from` to `to` as Elasticsearch would index it: strict JSON without duplicate names, one
 * object, fields that fit the mapping; what is new in it is added to the mapping. The fault, when it cannot be indexed.
 */
export function readDocument(
  mapping: Mapping,
  bytes: Buffer,
  from: number,
  to: number,
  options: DocumentOptions,
): Fault | undefined {
  const reader = new DocumentReader(mapping, bytes, from, to, options)
  try {
    reader.read()
    mapping.accept()
    return undefined
  } catch (error) {
    mapping.reject()
    if (error instanceof Rejected) return error.fault
    if (error instanceof NotJson) return notJson(error, reader.cursor, options)
    throw error
  }
}

class Rejected extends Error {
  readonly fault: Fault
  constructor(fault: Fault) {
    super(fault.reason)
    this.fault = fault
  }
}

let objects = 0

class DocumentReader {
  readonly mapping: Mapping
  readonly cursor: JsonCursor
  readonly options: DocumentOptions

  constructor(mapping: Mapping, bytes: Buffer, from: number, to: number, options: DocumentOptions) {
    const hasMark = bytes[from] === 0xef && bytes[from + 1] === 0xbb && bytes[from + 2] === 0xbf
    this.mapping = mapping
    this.cursor = new JsonCursor(bytes, hasMark ? from + 3 : from, to)
    this.options = options
  }

  read(): void {
    const { cursor, options } = this
    const { bytes, from, to } = cursor
    if (from === to || (to - from === 1 && bytes[from] === 0x0d))
      throw rejected('[0:0] failed to parse, document is empty')
    if (!options.isUtf8 && !isUtf8(bytes.subarray(from, to))) this.#failOnByte(bytes, from, to)
    const first = cursor.peek()
    if (first !== 0x7b) {
      if (first >= 0 && first !== 0x5b && first !== 0x22 && !(first === 0x2d || (first >= 0x30 && first <= 0x39))) {
        cursor.literal()
      }
      throw rejected('Malformed content, must start with an object')
    }
    this.#object(this.mapping.root)
    this.#end()
  }

  #end(): void {
    const { cursor } = this
    const next = cursor.peek()
    if (next === -1) return
    const found =
      next === 0x7b ? 'START_OBJECT' : next === 0x5b ? 'START_ARRAY' : next === 0x22 ? 'VALUE_STRING' : undefined
    if (found === undefined) {
      if (next === 0x7d || next === 0x5d) cursor.unexpected('expected end of document')
      else if (next === 0x2d || (next >= 0x30 && next <= 0x39)) cursor.number()
      else cursor.literal()
    }
    throw new Rejected(illegalArgument(`Malformed content, found extra data after parsing: ${found ?? 'VALUE_NUMBER'}`))
  }

  #object(field: Field): void {
    const { cursor } = this
    const number = ++objects
    cursor.skip()
    if (cursor.peek() === 0x7d) return cursor.skip()
    for (;;) {
      if (cursor.peek() !== 0x22) cursor.unexpected('was expecting double-quote to start field name')
      cursor.string()
      const name = cursor.text()
      const child = field.children.get(name) ?? this.#newChild(field, name)
      if (child.seenIn === number) cursor.fail(`Duplicate field '${name}'`, cursor.at)
      child.seenIn = number
      if (cursor.peek() !== 0x3a) cursor.unexpected('was expecting a colon to separate field name and value')
      cursor.at++
      this.#value(child, false)
      const next = cursor.peek()
      if (next === 0x7d) return cursor.skip()
      if (next !== 0x2c) this.#unclosed(next, 'Object')
      cursor.at++
    }
  }

  #array(field: Field): void {
    const { cursor } = this
    cursor.skip()
    if (cursor.peek() === 0x5d) return cursor.skip()
    for (;;) {
      this.#value(field, true)
      const next = cursor.peek()
      if (next === 0x5d) return cursor.skip()
      if (next !== 0x2c) this.#unclosed(next, 'Array')
      cursor.at++
    }
  }

  #unclosed(next: number, kind: 'Object' | 'Array'): never {
    const cursor: JsonCursor = this.cursor
    if (next >= 0) return cursor.unexpected(`was expecting comma to separate ${kind} entries`)
    return cursor.fail(`Unexpected end-of-input: expected close marker for ${kind}`, cursor.at, true)
  }

  #value(field: Field, inArray: boolean): void {
    const { cursor } = this
    switch (cursor.peek()) {
      case 0x7b:
        return this.#objectValue(field)
      case 0x5b:
        return this.#array(field)
      case 0x22: {
        cursor.string()
        if (field.type === 'text' || field.type === 'keyword') return
        return this.#scalar(field, { kind: 'string', text: cursor.text() }, inArray)
      }
      case 0x74:
      case 0x66:
      case 0x6e: {
        const text = cursor.literal()
        if (text === 'null') return
        return this.#scalar(field, { kind: 'boolean', text }, inArray)
      }
      default: {
        if (!isNumberStart(cursor.peek())) cursor.literal()
        const kind = cursor.number() ? 'integer' : 'float'
        if (field.type === 'long' && kind === 'integer' && cursor.at - cursor.token < 19) return
        if (field.type === 'text' || field.type === 'keyword') return
        return this.#scalar(field, { kind, text: cursor.raw(cursor.token, cursor.at) }, inArray)
      }
    }
  }

  #objectValue(field: Field): void {
    const { cursor } = this
    if (field.type === 'unmapped') {
      if (field.dynamic === 'true' && field.depth >= maxDepth) {
        throw this.#parseFailure(
          `Limit of mapping depth [${maxDepth}] has been exceeded due to object field [${field.path}]`,
          cursor.at,
        )
      }
      this.#map(field, 'object', cursor.at)
    }
    if (field.type !== 'object' && field.type !== 'ignored' && isScalar(field.type)) {
      const from = cursor.at
      this.#object(scratch(field))
      const preview = javaText(JSON.parse(cursor.raw(from, cursor.at)))
      throw this.#misfit(field, preview, objectObjection(field.type, from - cursor.from + 1), cursor.token)
    }
    this.#object(field)
  }

  #scalar(field: Field, value: Value, inArray: boolean): void {
    if (field.type === 'ignored') return
    const { token } = this.cursor
    if (field.parent === this.mapping.root && metadataFields.has(field.path)) {
      const reason = `[1:${this.#column(token)}] Field [${field.path}] is a metadata field and cannot be added inside a document. Use the index API request parameters.`
      throw this.#misfit(
        { path: field.path, type: field.path },
        value.text,
        { type: 'document_parsing_exception', reason },
        token,
      )
    }
    if (field.type === 'unmapped') this.#map(field, dynamicType(value), token)
    if (field.type === 'ignored') return
    if (field.type === 'object') {
      const name = inArray ? 'null' : field.path
      throw rejected(
        `[1:${this.#column(token)}] object mapping for [${field.path}] tried to parse field [${name}] as object, but found a concrete value`,
      )
    }
    const cause = objection(field.type, value)
    if (cause) throw this.#misfit(field, value.text, this.#located(cause), token)
  }

  /** Maps a field by its first value, and the objects that lead to it. */
  #map(field: Field, type: string, at: number): void {
    if (field.dynamic === 'strict') {
      throw new Rejected({
        status: 400,
        type: 'strict_dynamic_mapping_exception',
        reason: `[1:${this.#column(at)}] mapping set to strict, dynamic introduction of [${lastName(field)}] within [${field.parent?.path || '_doc'}] is not allowed`,
      })
    }
    if (field.dynamic === 'false') {
      field.type = 'ignored'
      return
    }
    if (field.parent?.type === 'unmapped') this.#map(field.parent, 'object', at)
    if (!this.mapping.add(field, type)) {
      const { pending } = this.mapping
      throw this.#parseFailure(
        `Limit of total fields [${maxFields}] has been exceeded while adding new fields [${pending}]`,
        at,
      )
    }
  }

  /** A name that no document had so far. A dotted one leads to a field further down. */
  #newChild(field: Field, name: string): Field {
    if (name === '') throw this.#parseFailure('field name cannot be an empty string', this.cursor.token)
    if (!name.includes('.') || field.type === 'ignored') return field.child(name)
    const names = name.replace(/\.+$/, '').split('.')
    if (names.some(part => part.trim() === '')) {
      throw this.#parseFailure(`field name cannot contain only whitespace: ['${name}']`, this.cursor.token)
    }
    let found = field
    for (const part of names) {
      if (isScalar(found.type)) {
        throw this.#misfit(
          found,
          `{${part}=…}`,
          objectObjection(found.type, this.#column(this.cursor.token)),
          this.cursor.token,
        )
      }
      found = found.child(part)
    }
    field.children.set(name, found)
    return found
  }

  #misfit({ path, type }: { path: string; type: string }, preview: string, causedBy: Cause, at: number): Rejected {
    const where = `[1:${this.#column(at)}] failed to parse field [${path}] of type [${type}] in document with id '${this.options.id}'`
    return rejected(`${where}. Preview of field's value: '${preview}'`, causedBy)
  }

  #parseFailure(reason: string, at: number): Rejected {
    return rejected(`[1:${this.#column(at)}] failed to parse: ${reason}`, {
      type: 'illegal_argument_exception',
      reason,
    })
  }

  /** A parser's complaint names its place. */
  #located(cause: Cause): Cause {
    if (cause.type !== 'x_content_parse_exception') return cause
    const column = this.#column(this.cursor.at)
    const tail = sourceTail(this.cursor, column, this.options)
    return {
      type: cause.type,
      reason: `[1:${column}] ${cause.reason}${tail}`,
      causedBy: { type: cause.causedBy?.type ?? 'json_parse_exception', reason: `${cause.reason}${tail}` },
    }
  }

  #failOnByte(bytes: Buffer, from: number, to: number): never {
    let at = from
    while (at < to && isUtf8(bytes.subarray(from, at + 4 > to ? to : at + 4))) at++
    for (let end = at; end <= Math.min(to, at + 4); end++) {
      if ((bytes[end] ?? 0) >= 0x80 && !isUtf8(bytes.subarray(from, end + 1)) && end + 4 >= to) at = end
    }
    const byte = (bytes[at] ?? 0).toString(16).padStart(2, '0')
    return this.cursor.fail(`Invalid UTF-8 start byte 0x${byte}`, at)
  }

  #column(at: number): number {
    return at - this.cursor.from + 1
  }
}

function rejected(reason: string, causedBy?: Cause): Rejected {
  return new Rejected({ status: 400, type: 'document_parsing_exception', reason, ...(causedBy && { causedBy }) })
}

function notJson(error: NotJson, cursor: JsonCursor, options: DocumentOptions): Fault {
  const tail = sourceTail(cursor, error.column, options)
  const reason = error.isEnd
    ? `[1:${error.column}] Unexpected end of file`
    : `[1:${error.column}] ${error.message}${tail}`
  return {
    status: 400,
    type: 'document_parsing_exception',
    reason: `[1:${error.tokenColumn}] failed to parse: ${reason}`,
    causedBy: {
      type: error.isEnd ? 'x_content_e_o_f_exception' : 'x_content_parse_exception',
      reason,
      causedBy: {
        type: error.isEnd ? 'json_e_o_f_exception' : 'json_parse_exception',
        reason: `${error.message}${tail}`,
      },
    },
  }
}

/** Where a parser stood, with what it read: Elasticsearch quotes the document unless it is told not to. */
function sourceTail({ bytes, from, to }: JsonCursor, column: number, { quoteSource }: DocumentOptions): string {
  const source = quoteSource
    ? `(byte[])"${bytes.toString('utf8', from, Math.min(to, from + 500))}"`
    : 'REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled)'
  return `\n at [Source: ${source}; line: 1, column: ${column}]`
}

const scalars = new Set([
  'long',
  'integer',
  'short',
  'byte',
  'float',
  'double',
  'half_float',
  'boolean',
  'date',
  'text',
  'keyword',
  'ip',
])

function isScalar(type: string): boolean {
  return scalars.has(type)
}

function isNumberStart(byte: number): boolean {
  return byte === 0x2d || (byte >= 0x30 && byte <= 0x39)
}

function objectObjection(type: string, column: number): Cause {
  if (type === 'boolean') {
    const reason = 'Current token (START_OBJECT) not of boolean type'
    return { type: 'x_content_parse_exception', reason, causedBy: { type: 'json_parse_exception', reason } }
  }
  const isText = type === 'text' || type === 'keyword' || type === 'date' || type === 'ip'
  const reason = isText ? `Expected text at 1:${column} but found START_OBJECT` : 'Cannot parse object as number'
  return { type: 'illegal_argument_exception', reason }
}

/** A place to read an object that no field takes. */
function scratch(field: Field): Field {
  const ignored = new (field.constructor as typeof Field)(field.path, field.parent, 'ignored', 'false')
  return ignored
}

function lastName(field: Field): string {
  return field.path.slice(field.parent?.path ? field.parent.path.length + 1 : 0)
}

/** As Java prints a map: `{a=1, b=[x, y]}`. */
function javaText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(javaText).join(', ')}]`
  if (typeof value !== 'object' || value === null) return String(value)
  return `{${Object.entries(value)
    .map(([name, member]) => `${name}=${javaText(member)}`)
    .join(', ')}}`
}
