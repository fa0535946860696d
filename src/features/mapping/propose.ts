/** Proposes a mapping for what was observed, and names fields that no type fits. */
import type { JsonObject } from '../../base/json/parse-json.js'
import type { FieldSeen, Observations, Seen } from './observe.js'

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
}

export function propose({ root }: Pick<Observations, 'root'>): Proposal {
  const conflicts: TypeConflict[] = []
  const empty: string[] = []
  const properties = (above: FieldSeen, path: string): JsonObject => {
    const fields = [...above.children].flatMap(([name, field]) => {
      const at = path + name
      if (field.kinds.size === 0 && field.children.size === 0) {
        empty.push(at)
        return []
      }
      const { type, conflict } = typeOf(field)
      if (conflict !== undefined) conflicts.push({ field: at, ...conflict })
      const isObject = type.type === 'object'
      const below = isObject ? properties(field, `${at}.`) : {}
      if (!isObject) return [[name, type] as const]
      return [[name, Object.keys(below).length === 0 ? type : { properties: below }] as const]
    })
    return Object.fromEntries(fields)
  }
  return { mapping: { properties: properties(root, '') }, conflicts, empty }
}

interface Type extends JsonObject {
  readonly type: string
}

interface Typed {
  readonly type: Type
  readonly conflict?: Omit<TypeConflict, 'field'>
}

function typeOf(field: FieldSeen): Typed {
  const kinds = [...field.kinds.keys()].filter(kind => kind !== 'object')
  // A dotted name makes an object, without a value of its own.
  const isObject = field.children.size > 0 || field.kinds.has('object')
  if (isObject && kinds.length === 0) return { type: { type: 'object' } }
  if (isObject) return mixed(field, mostly(field) === 'object' ? { type: 'object' } : scalar(field, kinds), false)
  const [first] = kinds
  const isNumber = kinds.every(kind => kind === 'long' || kind === 'double')
  if (kinds.length === 1 || isNumber) return { type: scalar(field, kinds) }
  const isPoint = kinds.includes('geo_point')
  if (isPoint) return mixed(field, first === 'geo_point' ? { type: 'geo_point' } : textual(field), false)
  return mixed(field, textual(field), true)
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

function scalar(field: FieldSeen, kinds: readonly string[]): Type {
  if (kinds.includes('double')) return { type: 'double' }
  const [kind = 'object'] = kinds
  if (kind === 'date' && kinds.length === 1) return dated(field)
  if (kind === 'text' || kinds.length > 1) return textual(field)
  return { type: kind }
}

const ISO = 'strict_date_optional_time'

function dated({ dateFormats = [] }: FieldSeen): Type {
  // 03/04/2026 can be two different days. Without a 13th, the file does not show which one is meant.
  const isAmbiguous = dateFormats.length > 1 && dateFormats.every(format => /^(dd\/MM|MM\/dd)/.test(format))
  if (isAmbiguous) return { type: 'keyword' }
  const isIso = dateFormats.length === 1 && dateFormats[0] === ISO
  return { type: 'date', ...(isIso ? {} : { format: dateFormats.join('||') }) }
}

/** Longer values, or sentences, are read as text. */
const KEYWORD_LENGTH = 128
const KEYWORD_WORDS = 5

function textual({ longest, words, texts }: FieldSeen): Type {
  const isText = longest > KEYWORD_LENGTH || words / Math.max(1, texts) > KEYWORD_WORDS
  if (!isText) return { type: 'keyword' }
  return { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } }
}
