/** Proposes a mapping for what was observed, and names fields that no type fits. */
import type { JsonObject } from '../../base/json/parse-json.js'
import { formatOf, ISO } from './dates.js'
import { FieldSeen, type Observations, type Seen } from './observe.js'

export interface TypeConflict {
  readonly field: string
  /** Kinds of values, most frequent first: in how many documents, and where the first one stands. */
  readonly kinds: readonly { readonly kind: string; readonly documents: number; readonly first: string }[]
  /** The type that the mapping has for the field. */
  readonly proposed: string
  /** Whether it takes all of these values. Others would be rejected. */
  readonly takesAll: boolean
}

interface Proposal {
  readonly mapping: JsonObject
  readonly conflicts: readonly TypeConflict[]
  /** Fields that were always null or empty, and get no type. */
  readonly empty: readonly string[]
  /** Fields of dates of which none shows whether the day or the month comes first. */
  readonly ambiguous: readonly string[]
}

export function propose({ root }: Pick<Observations, 'root'>): Proposal {
  const conflicts: TypeConflict[] = []
  const empty: string[] = []
  const ambiguous: string[] = []
  const properties = (above: FieldSeen, path: string): JsonObject => {
    const fields = [...above.children].flatMap(([name, field]) => {
      const at = path + name
      if (field.kinds.size === 0 && field.children.size === 0) {
        empty.push(at)
        return []
      }
      const { type, conflict } = typeOf(field, name)
      if (conflict !== undefined) conflicts.push({ field: at, ...conflict })
      if (isAmbiguous(field)) ambiguous.push(at)
      const isObject = type.type === 'object'
      const below = isObject ? properties(field, `${at}.`) : {}
      if (!isObject) return [[name, type] as const]
      return [[name, Object.keys(below).length === 0 ? type : { properties: below }] as const]
    })
    return Object.fromEntries(fields)
  }
  if (!hasDottedNames(root)) return { mapping: { properties: properties(root, '') }, conflicts, empty, ambiguous }
  // Only in such a mapping a field can stand beside another one whose name begins with its own and a dot.
  const mapping = { subobjects: false, properties: properties(flat(root), '') }
  return { mapping, conflicts, empty, ambiguous }
}

/** Returns whether only a flat mapping takes the names with dots: one stands beside the name that it begins with, or is `.a` or `a..b`. */
function hasDottedNames(root: FieldSeen): boolean {
  const all = [...below(root)]
  const isBeside = all.some(({ kinds, children }) => kinds.size > 0 && children.size > 0)
  const isNameless = [root, ...all].some(({ children }) => [...children.keys()].some(name => name.trim() === ''))
  return (isBeside || isNameless) && !all.some(({ kinds }) => kinds.has('object'))
}

function* below({ children }: FieldSeen): Generator<FieldSeen> {
  for (const child of children.values()) {
    yield child
    yield* below(child)
  }
}

/** Returns the same fields without any above another one. */
function flat(root: FieldSeen): FieldSeen {
  const all = new FieldSeen()
  const add = ({ children }: FieldSeen, path: string) => {
    for (const [name, field] of children) {
      if (field.kinds.size > 0 || field.children.size === 0) all.children.set(path + name, field.alone())
      add(field, `${path}${name}.`)
    }
  }
  add(root, '')
  return all
}

interface Type extends JsonObject {
  readonly type: string
}

interface Typed {
  readonly type: Type
  readonly conflict?: Omit<TypeConflict, 'field'>
}

function typeOf(field: FieldSeen, name: string): Typed {
  const kinds = [...field.kinds.keys()].filter(kind => kind !== 'object')
  // A dotted name makes an object, without a value of its own.
  const isObject = field.children.size > 0 || field.kinds.has('object')
  if (isObject && kinds.length === 0) return { type: { type: 'object' } }
  if (isObject) return mixed(field, mostly(field) === 'object' ? { type: 'object' } : scalar(field, kinds), false)
  const [first] = kinds
  const epoch = kinds.length === 1 && first === 'long' ? epochOf(field, name) : undefined
  if (epoch !== undefined) return { type: { type: 'date', format: epoch } }
  const isNumber = kinds.every(kind => NUMBERS.has(kind))
  if (kinds.every(kind => isGeo(kind))) return placed(field, kinds)
  if (kinds.length === 1 || isNumber) return { type: scalar(field, kinds) }
  const isPoint = kinds.includes('geo_point')
  if (isPoint) return mixed(field, first === 'geo_point' ? { type: 'geo_point' } : textual(field), false)
  return mixed(field, textual(field), true)
}

/** Numbers of years from 2001 to 2100 in seconds. */
const [EARLIEST, LATEST] = [1e9, 4.1e9]
const TIMES = /(?:^|[_.\s-]|[a-z](?=[A-Z]))(?:date|time|timestamp|ts|at|epoch|datetime)(?:_?(?:ms|millis|utc))?$/i

/** Returns the format of times since 1970. Only a field that is named as a time has such numbers. */
function epochOf({ least, most }: FieldSeen, name: string): string | undefined {
  if (!TIMES.test(name)) return undefined
  if (least >= EARLIEST * 1000 && most <= LATEST * 1000) return 'epoch_millis'
  return least >= EARLIEST && most <= LATEST ? 'epoch_second' : undefined
}

function isGeo(kind: string): boolean {
  return kind === 'geo_point' || kind.startsWith('GeoJSON')
}

/** Points have a type of their own, which takes no other shape. The type of shapes takes only those of GeoJSON. */
function placed(field: FieldSeen, kinds: readonly string[]): Typed {
  if (!kinds.includes('GeoJSON shape')) return { type: { type: 'geo_point' } }
  const type = { type: 'geo_shape' }
  return kinds.includes('geo_point') ? mixed(field, type, false) : { type }
}

function mixed(field: FieldSeen, type: Type, takesAll: boolean): Typed {
  const kinds = [...field.kinds]
    .toSorted(([, one], [, other]) => other.documents - one.documents)
    .map(([kind, { documents, first }]: readonly [string, Seen]) => ({ kind, documents, first }))
  return { type, conflict: { kinds, proposed: type.type, takesAll } }
}

function mostly(field: FieldSeen): string | undefined {
  return [...field.kinds].toSorted(([, one], [, other]) => other.documents - one.documents)[0]?.[0]
}

const NUMBERS: ReadonlySet<string> = new Set(['long', 'double', 'number as text'])

function scalar(field: FieldSeen, kinds: readonly string[]): Type {
  if (kinds.includes('double') || kinds.includes('number as text'))
    return { type: kinds.every(kind => NUMBERS.has(kind)) ? 'double' : 'keyword' }
  const [kind = 'object'] = kinds
  if (kind === 'date' && kinds.length === 1) return dated(field)
  if (kind === 'text' || kinds.length > 1) return textual(field)
  return { type: kind }
}

function isAmbiguous({ kinds, dateFormats }: FieldSeen): boolean {
  return kinds.size === 1 && kinds.has('date') && formatOf(dateFormats) === undefined
}

function dated({ dateFormats }: FieldSeen): Type {
  const format = formatOf(dateFormats)
  // 03/04/2026 can be two different days. Without a 13th, the file does not show which one is meant.
  if (format === undefined) return { type: 'keyword' }
  return { type: 'date', ...(format === ISO ? {} : { format }) }
}

/** Longer values, or sentences, are read as text. */
const KEYWORD_LENGTH = 128
const KEYWORD_WORDS = 5

function textual({ longest, words, texts }: FieldSeen): Type {
  const isText = longest > KEYWORD_LENGTH || words / Math.max(1, texts) > KEYWORD_WORDS
  if (!isText) return { type: 'keyword' }
  return { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } }
}
