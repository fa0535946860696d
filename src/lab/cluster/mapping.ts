/**
 * The type of a field. `unmapped`: its name was seen, but no value yet. `ignored`: below `dynamic: false` or
 * `enabled: false`. Types that the lab does not know take any value.
 */
export type FieldType = 'unmapped' | 'ignored' | 'object' | (string & {})
export type Dynamic = 'true' | 'false' | 'strict'

/** A field of a mapping. Objects have children. The root is an object without a name. */
export class Field {
  readonly path: string
  readonly parent: Field | undefined
  type: FieldType
  dynamic: Dynamic
  /** What a mapping says of it besides its type. Absent: a document made it. */
  declared?: Readonly<Record<string, unknown>>
  /** Children by their names in documents, also dotted names, which mean a field further down. */
  readonly children = new Map<string, Field>()
  /** The object, by its number among all that were read, that held this name last: finds duplicate names. */
  seenIn = 0

  constructor(path: string, parent: Field | undefined, type: FieldType, dynamic: Dynamic) {
    this.path = path
    this.parent = parent
    this.type = type
    this.dynamic = dynamic
  }

  get name(): string {
    return this.path.slice(this.parent?.path ? this.parent.path.length + 1 : 0)
  }

  /** How many names lead to this field. */
  get depth(): number {
    return this.parent ? this.parent.depth + 1 : 0
  }

  /** Returns the child of a plain name. Makes a new one if needed. */
  child(name: string): Field {
    let child = this.children.get(name)
    if (!child) {
      const path = this.path === '' ? name : `${this.path}.${name}`
      child = new Field(path, this, this.type === 'ignored' ? 'ignored' : 'unmapped', this.dynamic)
      this.children.set(name, child)
    }
    return child
  }
}

/** The mapping of an index. Fields that a document adds stay pending until the document is accepted. */
export class Mapping {
  readonly root: Field
  /** `_meta`: whatever its users want to remember. */
  meta: Readonly<Record<string, unknown>> | undefined
  /** False: a dot in a name is a character like others, and fields stand in no objects. */
  hasSubobjects = true
  /** The setting `index.mapping.total_fields.limit`. */
  maxFields = MAX_FIELDS
  #count = 0
  #pending: Field[] = []
  #pendingCount = 0

  constructor(dynamic: Dynamic = 'true') {
    this.root = new Field('', undefined, 'object', dynamic)
  }

  /** Sets a field's type. Returns false if the index would have too many fields. */
  add(field: Field, type: FieldType): boolean {
    this.#pendingCount += fieldCost(type)
    if (this.#count + this.#pendingCount > this.maxFields) return false
    field.type = type
    this.#pending.push(field)
    return true
  }

  get fields(): number {
    return this.#count
  }

  /** The number of fields that the current document adds. */
  get pending(): number {
    return this.#pendingCount
  }

  /** Keeps the pending fields. */
  accept(): void {
    if (this.#pending.length === 0) return
    this.#count += this.#pendingCount
    this.#forget()
  }

  /** Takes the pending fields back. */
  reject(): void {
    for (const field of this.#pending) {
      field.type = 'unmapped'
      delete field.declared
    }
    this.#forget()
  }

  #forget(): void {
    this.#pending = []
    this.#pendingCount = 0
  }
}

export const MAX_FIELDS = 1000
export const maxDepth = 20

/** Dynamic text has a keyword beside it. */
function fieldCost(type: FieldType): number {
  return type === 'text' ? 2 : 1
}

type Declared = { type?: unknown; dynamic?: unknown; enabled?: unknown; properties?: unknown }

/** A mapping from the `mappings` of an index creation, however many fields it has. */
export function declaredMapping(mappings: unknown): Mapping {
  const mapping = new Mapping()
  mapping.maxFields = Infinity
  extendMapping(mapping, mappings)
  mapping.maxFields = MAX_FIELDS
  return mapping
}

/** Does the work of `PUT _mapping`: adds fields, and replaces `_meta` if given. */
export function extendMapping(mapping: Mapping, mappings: unknown): void {
  const declared = asObject(mappings)
  mapping.root.dynamic = dynamicOf(declared['dynamic'], mapping.root.dynamic)
  const { subobjects } = declared
  if (subobjects !== undefined) mapping.hasSubobjects = subobjects !== false && subobjects !== 'false'
  if (declared['_meta'] !== undefined) mapping.meta = asObject(declared['_meta'])
  declare(mapping, mapping.root, declared)
  mapping.accept()
}

/** Returns why a mapping cannot be put, or undefined: the type of a field stays what it is. */
export function mappingConflict(field: Field, mappings: unknown): string | undefined {
  for (const [name, value] of Object.entries(asObject(asObject(mappings)['properties']))) {
    const child = field.children.get(name)
    if (child === undefined || child.type === 'unmapped' || child.type === 'ignored') continue
    const { type = 'object' } = asObject(value)
    if (type !== child.type && !(type === 'nested' && child.type === 'object'))
      return `mapper [${child.path}] cannot be changed from type [${child.type}] to [${String(type)}]`
    const below = mappingConflict(child, value)
    if (below !== undefined) return below
  }
  return undefined
}

function declare(mapping: Mapping, parent: Field, { properties }: Declared): void {
  for (const [name, value] of Object.entries(asObject(properties))) {
    const declared: Declared = asObject(value)
    const [first = '', ...below] = name.split('.')
    if (below.length > 0 && mapping.hasSubobjects) {
      declare(mapping, objectIn(mapping, parent, first), { properties: { [below.join('.')]: value } })
      continue
    }
    const field = parent.child(name)
    const type = typeof declared.type === 'string' ? declared.type : 'object'
    const isObject = type === 'object' || type === 'nested'
    const { type: _, properties: __, ...parameters } = asObject(value)
    field.declared = parameters
    field.dynamic = dynamicOf(declared.dynamic, parent.dynamic)
    mapping.add(field, isObject ? (declared.enabled === false ? 'ignored' : 'object') : type)
    if (isObject) declare(mapping, field, declared)
  }
}

function objectIn(mapping: Mapping, parent: Field, name: string): Field {
  const field = parent.child(name)
  if (field.type === 'unmapped') mapping.add(field, 'object')
  return field
}

/** The `mappings` that describe a mapping. */
export function describeMapping({ root, meta, hasSubobjects }: Mapping): Record<string, unknown> {
  return {
    ...(root.dynamic !== 'true' && { dynamic: root.dynamic }),
    ...(!hasSubobjects && { subobjects: false }),
    ...(meta !== undefined && { _meta: meta }),
    ...describeChildren(root),
  }
}

function describeChildren(field: Field): Record<string, unknown> {
  const properties: Record<string, unknown> = {}
  for (const [name, child] of [...field.children].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (child.parent !== field || child.type === 'unmapped') continue
    if (child.type === 'object')
      properties[name] = child.children.size > 0 ? describeChildren(child) : { type: 'object' }
    else if (child.type === 'ignored') properties[name] = { type: 'object', enabled: false }
    else if (child.declared !== undefined) properties[name] = { type: child.type, ...parametersOf(child.declared) }
    else if (child.type === 'text') properties[name] = { type: 'text', fields: keywordBeside }
    else properties[name] = { type: child.type }
  }
  return Object.keys(properties).length > 0 ? { properties } : {}
}

/** Parameters as the cluster shows them: without those that say the default. */
function parametersOf(declared: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(declared).filter(([name, value]) => value !== fieldDefaults[name]))
}

/** Defaults that all types of the lab share. */
export const fieldDefaults: Readonly<Record<string, unknown>> = {
  index: true,
  store: false,
  doc_values: true,
  format: 'strict_date_optional_time||epoch_millis',
}

/** Finds a field by its path. */
export function fieldAt({ root, hasSubobjects }: Mapping, path: string): Field | undefined {
  if (!hasSubobjects) return root.children.get(path)
  return path.split('.').reduce<Field | undefined>((field, name) => field?.children.get(name), root)
}

const keywordBeside = { keyword: { type: 'keyword', ignore_above: 256 } }

function dynamicOf(value: unknown, inherited: Dynamic): Dynamic {
  if (value === undefined) return inherited
  if (value === 'strict') return 'strict'
  return value === false || value === 'false' || value === 'runtime' ? 'false' : 'true'
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
