/** Writes the fields of rows, as the schema of a Parquet file nests them. */
import type { SchemaElement, SchemaTree } from 'hyparquet'
import { leafWriter } from './leaf-writer.js'
import { Unwritable, type Write } from './values.js'

/** Takes the first value of a row that cannot be written: where it is, and why. */
export interface RowRefusal {
  reason: string | undefined
}

/** Returns the JSON of a value that is not null. Undefined: its field is left out. In a list or a map it is null. */
type WriteField = (value: unknown, refusal: RowRefusal) => string | undefined

export interface ParquetField {
  readonly name: string
  /** The name as JSON, and a colon. */
  readonly key: string
  readonly write: WriteField
}

/** What becomes of values that are none. */
export interface MissingValues {
  /** Nulls are written. Otherwise their fields are left out. */
  readonly writesNull: boolean
  /** What NaN and infinite numbers become. */
  readonly nan: 'reject' | 'null' | 'omit'
}

interface FieldOptions extends MissingValues {
  /** Bytes without a type are bytes, not text. */
  readonly hasBinary: boolean
}

/** A column that Sluice cannot read without changing its values. */
export class UnreadableColumn extends Error {}

/**
 * Returns the writers of the columns. Changes the schema, so that the decoder makes neither numbers nor dates of values that are more
 * exact than these, and keeps each entry of a map.
 */
export function parquetFields(children: readonly SchemaTree[], options: FieldOptions): ParquetField[] {
  const names = new Set<string>()
  return children.map(child => {
    const { name } = child.element
    if (names.has(name)) throw new UnreadableColumn(`has two columns of the name ${name}`)
    // The decoder makes objects with these names.
    if (name === '__proto__') throw new UnreadableColumn('has a column of the name __proto__')
    names.add(name)
    return { name, key: `${JSON.stringify(name)}:`, write: writerOf(child, options) }
  })
}

function writerOf(node: SchemaTree, options: FieldOptions): WriteField {
  const { element, children } = node
  const write = children.length === 0 ? ofLeaf(node, options) : ofGroup(node, options)
  return element.repetition_type === 'REPEATED' ? listWriter(write) : write
}

function ofLeaf({ element, path }: SchemaTree, { hasBinary, nan }: FieldOptions): WriteField {
  const found = leafWriter(element, hasBinary)
  if (typeof found === 'string')
    throw new UnreadableColumn(`has the type ${found} in column ${path.join('.')}, which Sluice does not read`)
  setType(element, found.isText === true ? 'UTF8' : undefined)
  return leafField(path.join('.'), found.write, nan)
}

function leafField(path: string, write: Write, nan: MissingValues['nan']): WriteField {
  return (value, refusal) => {
    const text = write(value)
    if (!(text instanceof Unwritable)) return text
    if (text.isNoNumber && nan !== 'reject') return nan === 'null' ? 'null' : undefined
    refusal.reason ??= `column ${path} ${text.reason}`
    return text.text
  }
}

function ofGroup(node: SchemaTree, options: FieldOptions): WriteField {
  const { element, children, path } = node
  const name = element.logical_type?.type ?? element.converted_type
  if (name === 'VARIANT')
    throw new UnreadableColumn(`has the type VARIANT in column ${path.join('.')}, which Sluice does not read`)
  const [repeated] = children
  const isWrapper = children.length === 1 && repeated?.element.repetition_type === 'REPEATED'
  if (isWrapper && name === 'LIST') return ofList(node, repeated, options)
  if (isWrapper && (name === 'MAP' || name === 'MAP_KEY_VALUE') && repeated.children.length === 2)
    return ofMap(element, repeated, options)
  setType(element, undefined)
  return objectWriter(parquetFields(children, options), options)
}

/** Source: LogicalTypes.md, "Lists", with the rules for older files. */
function ofList({ element }: SchemaTree, repeated: SchemaTree, options: FieldOptions): WriteField {
  const [item, ...others] = repeated.children
  const { name } = repeated.element
  const isOfItems = item !== undefined && others.length === 0 && name !== 'array' && name !== `${element.name}_tuple`
  if (isOfItems && item.element.repetition_type !== 'REPEATED') {
    setType(element, 'LIST')
    setType(repeated.element, undefined)
    return listWriter(writerOf(item, options))
  }
  if (item === undefined) {
    setType(element, 'LIST')
    return listWriter(ofLeaf(repeated, options))
  }
  setType(element, undefined)
  const write = writerOf(repeated, options)
  return (value, refusal) => write((value as Record<string, unknown>)[name] ?? [], refusal)
}

function ofMap(element: SchemaElement, repeated: SchemaTree, options: FieldOptions): WriteField {
  const [key, value] = repeated.children as [SchemaTree, SchemaTree]
  setType(element, undefined)
  setType(repeated.element, undefined)
  const { name } = repeated.element
  // Two keys must not become the same.
  const [writeKey, writeValue] = [writerOf(key, { ...options, nan: 'reject' }), writerOf(value, options)]
  return (map, refusal) => {
    const entries = ((map as Record<string, unknown>)[name] ?? []) as Record<string, unknown>[]
    const written = new Map<string, string>()
    for (const entry of entries) {
      const of = entry[value.element.name]
      const text = writeKey(entry[key.element.name], refusal) ?? 'null'
      const named = text.startsWith('"') ? text : JSON.stringify(text)
      if (written.has(named)) refusal.reason ??= `a map has two entries for ${named}`
      written.set(named, of === null || of === undefined ? 'null' : (writeValue(of, refusal) ?? 'null'))
    }
    return `{${[...written].map(([named, text]) => `${named}:${text}`).join(',')}}`
  }
}

function objectWriter(fields: readonly ParquetField[], { writesNull }: FieldOptions): WriteField {
  return (value, refusal) => {
    const object = value as Record<string, unknown>
    let text = ''
    for (const { name, key, write } of fields) {
      const of = object[name]
      const isNull = of === null || of === undefined
      const json = isNull ? (writesNull ? 'null' : undefined) : write(of, refusal)
      if (json !== undefined) text += `${text === '' ? '' : ','}${key}${json}`
    }
    return `{${text}}`
  }
}

function listWriter(write: WriteField): WriteField {
  return (value, refusal) => {
    const items = value as ArrayLike<unknown>
    let text = ''
    for (let at = 0; at < items.length; at += 1) {
      const item = items[at]
      text += `${at === 0 ? '' : ','}${item === null || item === undefined ? 'null' : (write(item, refusal) ?? 'null')}`
    }
    return `[${text}]`
  }
}

function setType(element: SchemaElement, converted: SchemaElement['converted_type']): void {
  if (converted === undefined) delete element.converted_type
  else element.converted_type = converted
  delete element.logical_type
}
