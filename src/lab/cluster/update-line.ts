import { RequestRefused } from './answers.js'
import type { UpdateScript } from './scripts.js'
import { JsonCursor, NotJson } from './json-cursor.js'

/** A JSON value whose numbers and strings keep the digits and escapes that they came with. */
type Raw = string | { readonly members: Map<string, Raw> }

/** The contents of an update. */
export interface Update {
  readonly doc: Raw | undefined
  readonly upsert: Raw | undefined
  readonly docAsUpsert: boolean
  readonly detectNoop: boolean
  readonly script: UpdateScript | undefined
  readonly scriptedUpsert: boolean
}

const known = new Set([
  'doc',
  'upsert',
  'doc_as_upsert',
  'detect_noop',
  'scripted_upsert',
  '_source',
  'script',
  'if_seq_no',
  'if_primary_term',
])

/**
 * Reads the line after the action line of an update. Throws RequestRefused, because a bad line refuses the whole request.
 */
export function readUpdate(bytes: Buffer, from: number, to: number): Update {
  const members = readTree(bytes, from, to)
  if (typeof members === 'string')
    throw refused('x_content_parse_exception', '[1:1] [UpdateRequest] Expected START_OBJECT')
  for (const name of members.members.keys()) {
    if (!known.has(name)) throw refused('x_content_parse_exception', `[1:2] [UpdateRequest] unknown field [${name}]`)
  }
  const doc = objectOf(members.members, 'doc')
  if (!doc && !members.members.has('script')) {
    throw refused('action_request_validation_exception', 'Validation Failed: 1: script or doc is missing;')
  }
  return {
    doc,
    upsert: objectOf(members.members, 'upsert'),
    docAsUpsert: members.members.get('doc_as_upsert') === 'true',
    detectNoop: members.members.get('detect_noop') !== 'false',
    script: scriptIn(members.members),
    scriptedUpsert: members.members.get('scripted_upsert') === 'true',
  }
}

function scriptIn(members: Map<string, Raw>): UpdateScript | undefined {
  const script = objectOf(members, 'script')
  if (script === undefined || typeof script === 'string') return undefined
  const text = (name: string) => {
    const value = script.members.get(name)
    return typeof value === 'string' ? (JSON.parse(value) as string) : undefined
  }
  const params = script.members.get('params')
  return { source: text('source'), id: text('id'), params: params === undefined ? '{}' : writeTree(params) }
}

/** The text of a value, without white space. */
export function writeTree(value: Raw): string {
  if (typeof value === 'string') return value
  const members = [...value.members].map(([name, member]) => `${JSON.stringify(name)}:${writeTree(member)}`)
  return `{${members.join(',')}}`
}

/** A document with the partial document merged into it, and whether that changed anything. */
export function mergeUpdate(stored: Buffer, doc: Raw): { text: string; changed: boolean } {
  const before = readTree(stored, 0, stored.length)
  const after = merge(before, doc)
  const text = writeTree(after)
  return { text, changed: text !== writeTree(before) }
}

function merge(into: Raw, from: Raw): Raw {
  if (typeof into === 'string' || typeof from === 'string') return from
  const members = new Map(into.members)
  for (const [name, value] of from.members) {
    const before = members.get(name)
    members.set(name, before === undefined ? value : merge(before, value))
  }
  return { members }
}

function objectOf(members: Map<string, Raw>, name: string): Raw | undefined {
  const value = members.get(name)
  if (typeof value !== 'string') return value
  if (value === 'null') return undefined
  const kind = value.startsWith('"') ? 'STRING' : value.startsWith('[') ? 'START_ARRAY' : 'VALUE_NUMBER'
  throw refused('x_content_parse_exception', `[1:8] [UpdateRequest] ${name} doesn't support values of type: ${kind}`)
}

function readTree(bytes: Buffer, from: number, to: number): Raw {
  const cursor = new JsonCursor(bytes, from, to)
  try {
    return readValue(cursor)
  } catch (error) {
    if (error instanceof NotJson) throw refused('x_content_parse_exception', `[1:${error.column}] ${error.message}`)
    throw error
  }
}

function readValue(cursor: JsonCursor): Raw {
  const first = cursor.peek()
  const from = cursor.at
  if (first === 0x7b) return readObject(cursor)
  if (first === 0x5b) return readArray(cursor)
  if (first === 0x22) cursor.string()
  else if (first === 0x2d || (first >= 0x30 && first <= 0x39)) cursor.number()
  else cursor.literal()
  return cursor.raw(from, cursor.at)
}

function readObject(cursor: JsonCursor): Raw {
  const members = new Map<string, Raw>()
  cursor.skip()
  if (cursor.peek() === 0x7d) {
    cursor.skip()
    return { members }
  }
  do {
    const name = cursor.name()
    if (members.has(name)) cursor.fail(`Duplicate field '${name}'`, cursor.nameEnd)
    members.set(name, readValue(cursor))
  } while (!cursor.isLast(0x7d))
  return { members }
}

function readArray(cursor: JsonCursor): string {
  const elements: string[] = []
  cursor.skip()
  if (cursor.peek() === 0x5d) {
    cursor.skip()
    return '[]'
  }
  do elements.push(writeTree(readValue(cursor)))
  while (!cursor.isLast(0x5d))
  return `[${elements.join(',')}]`
}

function refused(type: string, reason: string): RequestRefused {
  return new RequestRefused({ status: 400, type, reason })
}
