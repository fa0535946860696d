/** Says what the index makes of documents without asking the cluster: which types new fields get, and what a type does not take. */
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import type { ShapeFeature, ShapeKind } from './shapes.js'

/**
 * Returns the types that the first documents give to fields which the mapping does not have. The cluster simulates each document by
 * itself, and would forget them. Empty if the mapping has rules of its own for new fields.
 */
export function newFields(features: readonly ShapeFeature[], mapping: JsonObject): JsonObject {
  const {
    dynamic = 'true',
    date_detection: dates = true,
    numeric_detection: numbers,
    dynamic_templates: rules,
  } = mapping
  if (!isOn(dynamic) || (Array.isArray(rules) && rules.length > 0)) return {}
  if (isOn(numbers)) return {}
  const root: Tree = { properties: {} }
  for (const { path, kind } of features) {
    if (typeAt(mapping, path) !== undefined) continue
    const type = dynamicTypes[kind]
    const isDate = kind === 'a date' && isOn(dates)
    if (type !== undefined) place(root, mapping, path, isDate ? { type: 'date' } : type)
  }
  return root.properties
}

function isOn(value: unknown): boolean {
  return value === true || value === 'true'
}

const text = { type: 'text', fields: { keyword: { type: 'keyword', ignore_above: 256 } } }

/** Objects come with their fields. */
const dynamicTypes: Readonly<Partial<Record<ShapeKind, JsonObject>>> = {
  boolean: { type: 'boolean' },
  long: { type: 'long' },
  double: { type: 'float' },
  text,
  'long text': text,
  'a whole number as text': text,
  'a number as text': text,
  'true or false as text': text,
  'a date': text,
}

interface Tree {
  readonly properties: Record<string, JsonObject>
}

/** The first one decides. Fields below an object that does not take new ones are left out. */
function place(root: Tree, mapping: JsonObject, path: string, type: JsonObject): void {
  const names = path.split('.')
  const last = names.pop() ?? ''
  if (last === '' || names.includes('')) return
  let at = root
  let live: JsonObject | undefined = mapping
  for (const name of names) {
    live = childOf(live, name)
    if (live !== undefined && (typeof live['type'] === 'string' ? live['type'] !== 'object' : false)) return
    if (live?.['dynamic'] !== undefined || live?.['enabled'] !== undefined) return
    const below = at.properties[name] ?? { properties: {} }
    if (!isObject(below['properties'])) return
    at.properties[name] = below
    at = below as unknown as Tree
  }
  if (!Object.hasOwn(at.properties, last)) at.properties[last] = type
}

function childOf(mapping: JsonObject | undefined, name: string): JsonObject | undefined {
  const properties = mapping?.['properties']
  const child = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  return isObject(child) ? child : undefined
}

/** Returns the type of a field. Undefined: the mapping does not have it. */
export function typeAt(mapping: JsonObject, path: string): string | undefined {
  let at: JsonObject | undefined = mapping
  for (const name of path.split('.')) at = childOf(at, name)
  if (at === undefined) return undefined
  return typeof at['type'] === 'string' ? at['type'] : 'object'
}

const numbers: readonly ShapeKind[] = ['long', 'double', 'a whole number as text', 'a number as text']

const objects: readonly ShapeKind[] = ['object', 'geo_point', 'GeoJSON point', 'GeoJSON shape']

/** Kinds that a type takes, of those types that are plain. */
const taken: Readonly<Record<string, readonly ShapeKind[]>> = {
  long: numbers,
  integer: numbers,
  short: numbers,
  byte: numbers,
  double: numbers,
  float: numbers,
  half_float: numbers,
  scaled_float: numbers,
  unsigned_long: numbers,
  boolean: ['boolean', 'true or false as text'],
  object: objects,
  nested: objects,
}

const scalars: readonly string[] = ['text', 'keyword', 'date', 'ip']

/** Returns whether a field of this type certainly refuses such a value. */
export function refuses(type: string, kind: ShapeKind): boolean {
  if (scalars.includes(type)) return objects.includes(kind)
  return taken[type]?.includes(kind) === false
}
