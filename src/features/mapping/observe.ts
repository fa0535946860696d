/** Keeps what documents show of each field: kinds of values with counts and first places, formats of dates, lengths of texts. */
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import { type ValueKind, kindOf } from './value-kinds.js'
import { dateFormatsOf } from './dates.js'

/** Where a document stands, as people read it: `orders.csv, line 812`. */
type FirstPlace = string

export interface Seen {
  documents: number
  readonly first: FirstPlace
}

/** A number in a table that JSON would not hold as it is written: `1e5`, or with very many digits. */
export type SeenKind = ValueKind | 'date' | 'number as text'

const NUMBER = /^[+-]?(?:(?:0|[1-9]\d*)\.\d*|\.\d+|[1-9]\d*(?=[eE])|0(?<=^-0))(?:[eE][+-]?\d+)?$/

export class FieldSeen {
  /** Documents by kind of value. */
  readonly kinds = new Map<SeenKind, Seen>()
  /** Formats that read every date so far. Undefined: none was seen. */
  dateFormats: readonly string[] | undefined
  readonly #oneOf = new Set<string>()
  /** The range of its whole numbers. */
  least = Infinity
  most = -Infinity
  longest = 0
  words = 0
  texts = 0
  readonly children = new Map<string, FieldSeen>()
  /** The document that was counted last, by kind. */
  readonly #counted = new Map<SeenKind, number>()

  /** Returns the same without the fields below. */
  alone(): FieldSeen {
    return Object.assign(new FieldSeen(), this, { children: new Map<string, FieldSeen>() })
  }

  count(kind: SeenKind, document: number, place: FirstPlace): void {
    if (this.#counted.get(kind) === document) return
    this.#counted.set(kind, document)
    const seen = this.kinds.get(kind)
    if (seen === undefined) this.kinds.set(kind, { documents: 1, first: place })
    else seen.documents += 1
  }

  number(value: unknown): void {
    // A number of more digits is no time.
    const number = typeof value === 'number' ? value : Infinity
    this.least = Math.min(this.least, number)
    this.most = Math.max(this.most, number)
  }

  text(value: string, document: number, place: FirstPlace, isCell: boolean): void {
    if (isCell && value.length < 40 && NUMBER.test(value.trim())) return this.count('number as text', document, place)
    const formats = dateFormatsOf(value)
    const isDate = formats.length > 0
    if (isDate) this.#dates(formats)
    this.count(isDate ? 'date' : 'text', document, place)
    this.texts += 1
    this.longest = Math.max(this.longest, value.length)
    this.words += (value.match(/\S+/g) ?? []).length
  }

  /** Keeps formats that read every date. If no single one does, each has its own. */
  #dates(formats: readonly string[]): void {
    const [first = ''] = formats
    if (formats.length === 1 || this.#oneOf.size === 0) this.#oneOf.add(first)
    const shared = this.dateFormats?.filter(format => formats.includes(format)) ?? formats
    this.dateFormats = shared.length > 0 ? shared : [...new Set([...(this.dateFormats ?? []), ...formats])].slice(0, 3)
  }
}

/** No index takes more by default than a tenth of this. */
const MOST_FIELDS = 10_000

export class Observations {
  readonly root = new FieldSeen()
  documents = 0
  /** Whether documents are rows of a table. */
  areRows = false
  fields = 0
  /** Whether there were more fields than are kept. */
  isCut = false

  add(document: JsonObject, place: FirstPlace): void {
    this.documents += 1
    this.#object(this.root, document, place)
  }

  #object(above: FieldSeen, value: JsonObject, place: FirstPlace): void {
    for (const [name, one] of Object.entries(value)) {
      const field = this.#field(above, name)
      if (field !== undefined) this.#value(field, one, place)
    }
  }

  /** A dotted name leads to a field further down, as in Elasticsearch, which ignores dots at its end. */
  #field(above: FieldSeen, name: string): FieldSeen | undefined {
    let field = above
    for (const part of name.replace(/(?<=[^.])\.+$/, '').split('.')) {
      let child = field.children.get(part)
      if (child === undefined) {
        if (this.fields >= MOST_FIELDS) {
          this.isCut = true
          return undefined
        }
        this.fields += 1
        child = new FieldSeen()
        field.children.set(part, child)
      }
      field = child
    }
    return field
  }

  #value(field: FieldSeen, value: unknown, place: FirstPlace): void {
    if (Array.isArray(value)) {
      for (const one of value as unknown[]) this.#value(field, one, place)
      return
    }
    const kind = kindOf(value)
    if (kind === undefined) return
    if (kind === 'text') return field.text(value as string, this.documents, place, this.areRows)
    field.count(kind, this.documents, place)
    if (kind === 'long') field.number(value)
    if (kind === 'object' && isObject(value)) this.#object(field, value, place)
  }
}
