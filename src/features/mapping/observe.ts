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
  /** The formats that read its dates: what each date has, once. */
  readonly dateForms = new Map<string, readonly string[]>()
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
    if (isDate) this.dateForms.set(formats.join('||'), formats)
    this.count(isDate ? 'date' : 'text', document, place)
    this.texts += 1
    this.longest = Math.max(this.longest, value.length)
    this.words += (value.match(/\S+/g) ?? []).length
  }

  /** Formats that read every date. If no single one does, the fewest that do so together. */
  get dateFormats(): readonly string[] {
    const [first = [], ...others] = [...this.dateForms.values()].toSorted((one, other) => one.length - other.length)
    const shared = first.filter(format => others.every(formats => formats.includes(format)))
    if (shared.length > 0) return shared
    const all: string[] = []
    for (const formats of [first, ...others]) if (!formats.some(one => all.includes(one))) all.push(formats[0] ?? '')
    return all
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
