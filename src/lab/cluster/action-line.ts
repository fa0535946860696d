import { RequestRefused, illegalArgument } from './answers.js'
import { JsonCursor, NotJson } from './json-cursor.js'

export type Operation = 'index' | 'create' | 'update' | 'delete'

/** An action line. */
export interface Action {
  readonly operation: Operation
  readonly index: string | undefined
  readonly id: string | undefined
  readonly routing: string | undefined
  readonly requireAlias: boolean
  readonly pipeline: string | undefined
  readonly ifSeqNo: number | undefined
  readonly ifPrimaryTerm: number
  readonly retries: boolean
  readonly version: bigint | undefined
  readonly versionType: string | undefined
}

const operations: readonly string[] = ['create', 'delete', 'index', 'update']
const textParameters = new Set(['_index', '_id', 'routing', 'pipeline', 'op_type', 'version_type'])
const otherParameters = new Set(['version', 'if_seq_no', 'if_primary_term', 'retry_on_conflict', 'require_alias',
  'require_data_stream', 'list_executed_pipelines', 'dynamic_templates', '_source']) // prettier-ignore

/** The forms that loaders write. Ids in it are printable ASCII without quotes and backslashes. */
const simple =
  /^\{"(index|create)":\{(?:"_index":"([a-z0-9._-]+)"(?:,"_id":"([ !#-[\]-~]*)")?|"_id":"([ !#-[\]-~]*)")?\}\}\r?$/

/**
 * Reads the action line between `from` and `to`. `line`: its number in the body, from 1. Throws RequestRefused, because a
 * bad action line refuses the whole request. `strictEnd`: refuse members after the action (version 9 does, 8 does not).
 */
export function readAction(bytes: Buffer, from: number, to: number, line: number, strictEnd: boolean): Action {
  const known = simple.exec(bytes.toString('latin1', from, to))
  if (known) {
    const [, operation, index, id, onlyId] = known
    return {
      operation: operation as Operation,
      index,
      id: id ?? onlyId,
      routing: undefined,
      requireAlias: false,
      pipeline: undefined,
      ifSeqNo: undefined,
      ifPrimaryTerm: 0,
      retries: false,
      version: undefined,
      versionType: undefined,
    }
  }
  const cursor = new JsonCursor(bytes, from, to)
  try {
    return readAny(cursor, line, strictEnd)
  } catch (error) {
    if (error instanceof NotJson) throw new RequestRefused(jsonFault(error, cursor))
    throw error
  }
}

function readAny(cursor: JsonCursor, line: number, strictEnd: boolean): Action {
  if (cursor.peek() !== 0x7b) throw malformed(line, `expected START_OBJECT but found [${cursor.kind()}]`)
  cursor.skip()
  if (cursor.peek() === 0x7d) throw malformed(line, 'expected FIELD_NAME but found [END_OBJECT]')
  const operation = cursor.name()
  if (!operations.includes(operation)) {
    throw malformed(line, `expected field [create], [delete], [index] or [update] but found [${operation}]`)
  }
  if (cursor.peek() !== 0x7b) throw malformed(line, `expected START_OBJECT or END_OBJECT but found [${cursor.kind()}]`)
  const parameters = readParameters(cursor, line)
  if (cursor.isLast(0x7d)) {
    if (cursor.peek() !== -1) throw malformed(line + 1, `unexpected data after the closing brace: ${cursor.kind()}`)
  } else if (strictEnd) throw malformed(line, 'expected END_OBJECT but found [FIELD_NAME]')

  const opType = parameters.get('op_type')
  const ifSeqNo = parameters.get('if_seq_no')
  const version = parameters.get('version')
  return {
    operation: operation === 'index' && opType === 'create' ? 'create' : (operation as Operation),
    index: parameters.get('_index'),
    // Elasticsearch stores each half of a surrogate pair as the same character.
    id: parameters.get('_id')?.replaceAll(/\p{Surrogate}/gu, '\ufffd'),
    routing: parameters.get('routing'),
    requireAlias: parameters.get('require_alias') === 'true',
    pipeline: parameters.get('pipeline'),
    ifSeqNo: ifSeqNo === undefined ? undefined : Number(ifSeqNo),
    ifPrimaryTerm: Number(parameters.get('if_primary_term') ?? 0),
    retries: Number(parameters.get('retry_on_conflict') ?? 0) > 0,
    version: version === undefined ? undefined : BigInt(version),
    versionType: parameters.get('version_type'),
  }
}

/** Reads the members of an action. A number or literal counts as its text, and `null` as absent. */
function readParameters(cursor: JsonCursor, line: number): Map<string, string> {
  const parameters = new Map<string, string>()
  const seen = new Set<string>()
  cursor.skip()
  if (cursor.peek() === 0x7d) {
    cursor.skip()
    return parameters
  }
  do {
    const name = cursor.name()
    if (seen.has(name)) cursor.fail(`Duplicate field '${name}'`, cursor.nameEnd)
    seen.add(name)
    const first = cursor.peek()
    if (first === 0x7b || first === 0x5b) {
      const kind = first === 0x7b ? 'START_OBJECT' : 'START_ARRAY'
      throw malformed(line, `expected a simple value for field [${name}] but found [${kind}]`)
    }
    if (!textParameters.has(name) && !otherParameters.has(name)) {
      const reason = `Action/metadata line [${line}] contains an unknown parameter [${name}]`
      throw new RequestRefused(illegalArgument(reason))
    }
    const value = readSimple(cursor, first)
    if (value !== undefined) parameters.set(name, value)
  } while (!cursor.isLast(0x7d))
  return parameters
}

function readSimple(cursor: JsonCursor, first: number): string | undefined {
  if (first === 0x22) {
    cursor.string()
    return cursor.text()
  }
  if (first === 0x2d || (first >= 0x30 && first <= 0x39)) {
    cursor.number()
    return cursor.raw(cursor.token, cursor.at)
  }
  const word = cursor.literal()
  return word === 'null' ? undefined : word
}

function malformed(line: number, problem: string): RequestRefused {
  return new RequestRefused(illegalArgument(`Malformed action/metadata line [${line}], ${problem}`))
}

function jsonFault(error: NotJson, { bytes, from, to }: JsonCursor): RequestRefused['fault'] {
  const tail = `\n at [Source: (byte[])"${bytes.toString('utf8', from, Math.min(to, from + 500))}"; line: 1, column: ${error.column}]`
  return {
    status: 400,
    type: error.isEnd ? 'x_content_e_o_f_exception' : 'x_content_parse_exception',
    reason: error.isEnd ? `[1:${error.column}] Unexpected end of file` : `[1:${error.column}] ${error.message}${tail}`,
    causedBy: {
      type: error.isEnd ? 'json_e_o_f_exception' : 'json_parse_exception',
      reason: `${error.message}${tail}`,
    },
  }
}
