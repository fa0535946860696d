/** Compares documents by their values, for an index that builds each document anew from the values of its fields. */
import { isObject, type JsonObject, ObjectFields, passSpace, passValue } from '../../../base/json/parse-json.js'

/** How a field keeps values. Absent: as they were sent. */
type Kept = 'words' | 'numbers' | 'floats' | 'times' | 'nanoseconds' | 'truths' | 'nested'

/** How an index keeps values. */
export interface KeptFields {
  /** The fields of the mapping by their paths. */
  readonly fields: ReadonlyMap<string, Kept>
  /** Whether values of a list keep their order, and equal ones stay. */
  readonly keepsLists: boolean
}

const kinds: Readonly<Record<string, Kept>> = {
  ...Object.fromEntries(['keyword', 'constant_keyword', 'wildcard', 'ip', 'version'].map(type => [type, 'words'])),
  ...Object.fromEntries(['long', 'integer', 'short', 'byte', 'unsigned_long', 'double'].map(type => [type, 'numbers'])),
  float: 'floats',
  date: 'times',
  date_nanos: 'nanoseconds',
  boolean: 'truths',
  nested: 'nested',
}

export function keptFields(mappings: JsonObject, keepsLists: boolean): KeptFields {
  const kept = new Map<string, Kept>()
  const read = (properties: unknown, above: string) => {
    for (const [name, field] of Object.entries(isObject(properties) ? properties : {})) {
      if (!isObject(field)) continue
      const path = `${above}${name}`
      const kind = kindOf(field)
      if (kind !== undefined) kept.set(path, kind)
      read(field['properties'], `${path}.`)
    }
  }
  read(mappings['properties'], '')
  return { fields: kept, keepsLists }
}

function kindOf({ type, format, fields }: JsonObject): Kept | undefined {
  // A time in another format is kept in that one, which only the cluster can read.
  if (format !== undefined) return undefined
  const isWord = isObject(fields) && Object.values(fields).some(one => isObject(one) && one['type'] === 'keyword')
  return type === 'text' && isWord ? 'words' : kinds[String(type)]
}

/** Returns whether an index of these fields would build the same document of both, as far as Sluice can see. */
export function haveSameValues(one: Buffer, other: Buffer, kept: KeptFields): boolean {
  return textOf(one, kept) === textOf(other, kept)
}

/** Returns a text that is the same for the same values. */
function textOf(document: Buffer, kept: KeptFields, above = ''): string {
  const { fields: kindsOf, keepsLists } = kept
  const values = new Map<string, string[]>()
  walk({ document, kept, values }, passSpace(document, 0), above)
  const fields = [...values].map(([path, texts]) => [path, keepsLists ? texts : inOrder(texts, kindsOf.get(path))])
  return JSON.stringify(fields.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1)))
}

/** The index keeps values in their own order, and words only once. */
function inOrder(texts: readonly string[], kept: Kept | undefined): readonly string[] {
  if (kept === undefined || kept === 'nested') return texts
  return (kept === 'words' ? [...new Set(texts)] : [...texts]).toSorted()
}

interface Walk {
  readonly document: Buffer
  readonly kept: KeptFields
  readonly values: Map<string, string[]>
}

/** Collects the values below a value. Objects in a list have no borders in an index, so that their fields are lists. */
function walk(given: Walk, at: number, path: string): void {
  const { document, kept, values } = given
  const add = (text: string) => {
    const texts = values.get(path)
    if (texts === undefined) values.set(path, [text])
    else texts.push(text)
  }
  const first = document[at]
  const end = passValue(document, at)
  if (first === OPEN_ARRAY) return eachElement(document, at, element => walk(given, element, path))
  if (first !== OPEN_OBJECT) {
    const raw = document.toString('utf8', at, end)
    if (raw !== 'null') add(valueOf(raw, kept.fields.get(path)))
    return
  }
  // The borders of nested objects are kept.
  if (kept.fields.get(path) === 'nested' && path !== '') {
    const below = { ...kept, fields: new Map([...kept.fields].filter(([name]) => name !== path)) }
    add(textOf(document.subarray(at, end), below, path))
    return
  }
  const fields = new ObjectFields()
  fields.read(document, at)
  for (let field = 0; field < fields.count; field += 1) {
    const name = fields.name(document, field)
    walk(given, fields.from[field] ?? at, path === '' ? name : `${path}.${name}`)
  }
}

const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const COMMA = 0x2c

function eachElement(document: Buffer, array: number, take: (element: number) => void): void {
  for (let at = passSpace(document, array + 1); document[at] !== CLOSE_ARRAY;) {
    take(at)
    at = passSpace(document, passValue(document, at))
    if (document[at] === COMMA) at = passSpace(document, at + 1)
  }
}

/** Returns what an index keeps of a scalar. */
function valueOf(raw: string, kept: Kept | undefined): string {
  const text = raw.startsWith('"') ? (JSON.parse(raw) as string) : raw
  switch (kept) {
    case 'words':
    case 'truths':
      return text
    case 'numbers':
      return numberOf(text)
    case 'floats':
      return Number.isFinite(Number(text)) ? String(Math.fround(Number(text))) : text
    case 'times':
      return timeOf(text, MS_DIGITS) ?? text
    case 'nanoseconds':
      return timeOf(text, NS_DIGITS) ?? text
    case 'nested':
    case undefined:
      return raw.startsWith('"') ? JSON.stringify(text) : raw
  }
}

/** Returns the same text for the same number, with all its digits. */
function numberOf(text: string): string {
  const [, sign = '', whole = '', part = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? []
  if (whole === '') return text
  const all = (whole + part).replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  const places = Number(power) - part.length + (all.length - digits.length)
  return digits === '' ? '0' : `${sign}${digits}e${places}`
}

const MS_DIGITS = 3
const NS_DIGITS = 9
const TIME = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-]\d\d:?\d\d)?)?$/

/** Returns the time as a number with that many digits after the second. Undefined if the text is not a time. */
function timeOf(text: string, digits: number): string | undefined {
  if (/^-?\d{5,15}$/.test(text)) return numberOf(text + '0'.repeat(digits - MS_DIGITS))
  const [, day, minute = '00:00', second = '00', part = '', zone = 'Z'] = TIME.exec(text) ?? []
  const seconds = Date.parse(`${day}T${minute}:${second}${zone.replace(/(\d\d)(\d\d)$/, '$1:$2')}`) / 1000
  if (day === undefined || !Number.isSafeInteger(seconds)) return undefined
  // Before 1970, the digits count upward from a second below zero.
  return numberOf(String(BigInt(seconds) * 10n ** BigInt(digits) + BigInt(part.padEnd(digits, '0').slice(0, digits))))
}
