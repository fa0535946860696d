/** Compares what a file says of an index or a template with what the cluster has, field by field. */
import { isObject, type JsonObject } from '../../base/json/parse-json.js'

export interface Difference {
  /** As people name a field: `customer.region`, or `total: format` for a parameter. */
  readonly at: string
  /** Undefined if the field is missing. */
  readonly wanted: string | undefined
  readonly has: string | undefined
  /** Whether the field has another type. */
  readonly isType?: true
  /** A parameter that the cluster does not show. It may have the wanted value as its default. */
  readonly default?: { readonly field: string; readonly parameter: string; readonly value: unknown }
}

/** Returns the differences of two mappings. Fields that only the index has are none: documents add fields. */
export function compareMappings(wanted: JsonObject, has: JsonObject): readonly Difference[] {
  const root = Object.keys(wanted).filter(name => name !== 'properties' && name !== '_meta')
  const ofRoot = root.flatMap(name => parameter(name, name, wanted[name], has[name] ?? rootDefaults[name]))
  return [...ofRoot, ...compareFields(childrenOf(wanted), childrenOf(has), '')]
}

const rootDefaults: JsonObject = {
  dynamic: 'true',
  date_detection: 'true',
  numeric_detection: 'false',
  enabled: 'true',
  subobjects: 'true',
}

type Fields = Readonly<Record<string, JsonObject>>

function compareFields(wanted: Fields, has: Fields, above: string): readonly Difference[] {
  return Object.entries(wanted).flatMap(([name, one]) => {
    const at = above + name
    const other = has[name]
    if (other === undefined) return [{ at, wanted: typeOf(one), has: undefined }]
    return compareField(at, one, other)
  })
}

function compareField(at: string, wanted: JsonObject, has: JsonObject): readonly Difference[] {
  if (typeOf(wanted) !== typeOf(has)) return [{ at, wanted: typeOf(wanted), has: typeOf(has), isType: true }]
  const names = new Set([...Object.keys(wanted), ...Object.keys(has)].filter(name => !apart.has(name)))
  return [
    ...[...names].flatMap(name => parameter(`${at}: ${name}`, name, wanted[name], has[name], at)),
    ...compareFields(childrenOf(wanted), childrenOf(has), `${at}.`),
    ...compareFields(fieldsIn(wanted['fields']), fieldsIn(has['fields']), `${at}.`),
  ]
}

const apart: ReadonlySet<string> = new Set(['type', 'properties', 'fields', 'meta'])
/** Parameters of objects. Others have their defaults at the cluster. */
const objectDefaults: JsonObject = {
  enabled: 'true',
  subobjects: 'true',
  include_in_parent: 'false',
  include_in_root: 'false',
}

function parameter(at: string, name: string, wanted: unknown, has: unknown, field?: string): readonly Difference[] {
  if (isAlike(wanted ?? objectDefaults[name], has ?? objectDefaults[name])) return []
  const difference = { at, wanted: show(wanted), has: show(has) }
  if (has !== undefined || field === undefined) return [difference]
  return [{ ...difference, default: { field, parameter: name, value: wanted } }]
}

function typeOf({ type }: JsonObject): string {
  return typeof type === 'string' ? type : 'object'
}

/** Returns the fields of an object. A dotted name leads to a field further down. */
function childrenOf(mapping: JsonObject): Fields {
  const flat = fieldsIn(mapping['properties'])
  const isFlat = mapping['subobjects'] === false || mapping['subobjects'] === 'false'
  if (isFlat || !Object.keys(flat).some(name => name.includes('.'))) return flat
  const deep: Record<string, JsonObject> = {}
  for (const [name, one] of Object.entries(flat)) {
    const [first = '', ...rest] = name.split('.')
    if (rest.length === 0) deep[first] = merged(deep[first], one)
    else deep[first] = merged(deep[first], { properties: { [rest.join('.')]: one } })
  }
  return deep
}

function merged(before: JsonObject | undefined, more: JsonObject): JsonObject {
  if (before === undefined) return more
  const properties = { ...fieldsIn(before['properties']), ...fieldsIn(more['properties']) }
  return { ...before, ...more, properties }
}

function fieldsIn(value: unknown): Fields {
  if (!isObject(value)) return {}
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, JsonObject] => isObject(entry[1])))
}

/** Compares values as the cluster does: `"256"` is 256, and a list of one is its element. */
export function isAlike(one: unknown, other: unknown): boolean {
  return canonical(one) === canonical(other)
}

function canonical(value: unknown): string | undefined {
  if (value === undefined) return undefined
  if (Array.isArray(value)) {
    const all = (value as unknown[]).map(canonical)
    return all.length === 1 ? all[0] : `[${all.join(',')}]`
  }
  if (!isObject(value)) return typeof value === 'string' ? value : JSON.stringify(value)
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return `{${entries.map(([name, one]) => `${name}:${canonical(one)}`).join(',')}}`
}

const SHOWN = 80

function show(value: unknown): string | undefined {
  if (value === undefined) return undefined
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text
}

/** Returns the differences of two index templates. The cluster adds dates and empty parts. */
export function compareTemplates(wanted: JsonObject, has: JsonObject): readonly Difference[] {
  const [one, other] = [flat(plainTemplate(wanted)), flat(plainTemplate(has))]
  return [...new Set([...one.keys(), ...other.keys()])].flatMap(at => {
    const [asked, found] = [one.get(at), other.get(at)]
    return isAlike(asked, found) ? [] : [{ at, wanted: show(asked), has: show(found) }]
  })
}

function plainTemplate({ template, data_stream: stream, ...rest }: JsonObject): JsonObject {
  const { settings, ...parts } = isObject(template) ? template : {}
  const left = Object.entries(rest).filter(
    ([name, value]) =>
      !/_date(_millis)?$/.test(name) && !(name === 'composed_of' && Array.isArray(value) && value.length === 0),
  )
  const named = [...flat(isObject(settings) ? settings : {})].map(
    ([name, value]) => [name.replace(/^index\./, ''), value] as const,
  )
  const set = isObject(stream) ? Object.entries(stream).filter(([, value]) => value !== false) : undefined
  return {
    ...Object.fromEntries(left),
    ...(set === undefined ? {} : { data_stream: { is: 'set', ...Object.fromEntries(set) } }),
    template: { ...parts, settings: Object.fromEntries(named) },
  }
}

/** Returns the values by dotted name. An empty object counts as missing. */
function flat(value: JsonObject, above = ''): Map<string, unknown> {
  const found = new Map<string, unknown>()
  for (const [name, one] of Object.entries(value)) {
    const at = above + name
    if (!isObject(one)) found.set(at, one)
    else for (const [below, deep] of flat(one, `${at}.`)) found.set(below, deep)
  }
  return found
}

/** Says a difference to people: `total: text, not long`. */
export function sayDifference({ at, wanted, has }: Difference): string {
  if (has === undefined) return `${at} is missing (${wanted})`
  if (wanted === undefined) return `${at} is ${has}, and the file has none`
  return `${at} is ${has}, not ${wanted}`
}
