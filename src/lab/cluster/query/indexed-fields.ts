import { JsonCursor } from '../json-cursor.js'
import { type Field, type Mapping, fieldAt } from '../mapping.js'

/** The single values of a document by path, as written. Values of arrays follow each other, and null is no value. */
export type FieldTexts = ReadonlyMap<string, readonly string[]>

/** A field that queries can name. */
export interface Searched {
  /** Where its values are in a document. */
  readonly path: string
  readonly type: string
  /** Longer texts are not indexed. */
  readonly longest: number
  /** `format` of a date. */
  readonly format: string | undefined
}

/** Reads a document that was accepted. Numbers keep all their digits. */
export function fieldTexts(document: Buffer): FieldTexts {
  const texts = new Map<string, string[]>()
  const cursor = new JsonCursor(document, 0, document.length)
  read('')
  return texts

  function read(path: string): void {
    const first = cursor.peek()
    if (first === 0x7b) return readObject(path)
    if (first === 0x5b) return readArray(path)
    const from = cursor.at
    if (first === 0x22) {
      cursor.string()
      keep(path, JSON.parse(cursor.raw(from, cursor.at)) as string)
    } else if (first === 0x2d || (first >= 0x30 && first <= 0x39)) {
      cursor.number()
      keep(path, cursor.raw(from, cursor.at))
    } else {
      const literal = cursor.literal()
      if (literal !== 'null') keep(path, literal)
    }
  }

  function readObject(path: string): void {
    cursor.skip()
    if (cursor.peek() === 0x7d) return cursor.skip()
    do read(path === '' ? cursor.name() : `${path}.${cursor.name()}`)
    while (!cursor.isLast(0x7d))
  }

  function readArray(path: string): void {
    cursor.skip()
    if (cursor.peek() === 0x5d) return cursor.skip()
    do read(path)
    while (!cursor.isLast(0x5d))
  }

  function keep(path: string, text: string): void {
    const known = texts.get(path)
    if (known === undefined) texts.set(path, [text])
    else known.push(text)
  }
}

/** Finds the field of a path, or the further field of a text: `name.keyword`. */
export function searchedField(mapping: Mapping, path: string): Searched | undefined {
  const field = fieldAt(mapping, path)
  if (field !== undefined && isLeaf(field)) return searchedAs(path, { type: field.type, ...field.declared })
  const dot = path.lastIndexOf('.')
  const parent = dot < 0 ? undefined : fieldAt(mapping, path.slice(0, dot))
  const below = parent === undefined ? undefined : further(parent)[path.slice(dot + 1)]
  return below === undefined ? undefined : searchedAs(path.slice(0, dot), below)
}

/** Every path that queries can name. */
export function searchedPaths({ root }: Mapping): readonly string[] {
  const paths: string[] = []
  const walk = (field: Field): void => {
    for (const child of field.children.values()) {
      if (isLeaf(child)) paths.push(child.path, ...Object.keys(further(child)).map(name => `${child.path}.${name}`))
      else walk(child)
    }
  }
  walk(root)
  return [...new Set(paths)]
}

function isLeaf({ type }: Field): boolean {
  return type !== 'object' && type !== 'ignored' && type !== 'unmapped'
}

type Parameters = Readonly<Record<string, unknown>>

/** A text that a document made has a keyword beside it. */
function further({ type, declared }: Field): Readonly<Record<string, Parameters>> {
  if (declared !== undefined) return (declared['fields'] ?? {}) as Record<string, Parameters>
  return type === 'text' ? { keyword: { type: 'keyword', ignore_above: 256 } } : {}
}

function searchedAs(path: string, { type, ignore_above: longest, format }: Parameters): Searched {
  return {
    path,
    type: String(type),
    longest: longest === undefined ? Infinity : Number(longest),
    format: typeof format === 'string' ? format : undefined,
  }
}
