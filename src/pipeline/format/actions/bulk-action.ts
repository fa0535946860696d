import { type Range, addressProblem } from './action-writer.js'
import { isVerb, rowOf, type Verb } from '../../../base/operation.js'
import { isOfAction } from '../look-alike.js'
import { type Condition, kindOfCondition } from '../../../base/text/condition.js'
import type { IndexPattern } from '../../../base/text/index-pattern.js'
import type { ObjectFields } from '../../../base/json/parse-json.js'
import { indexBeside } from './index-beside.js'

/** An action line. */
export interface Action {
  readonly operation: Verb
  /** A JSON string or number. */
  readonly id: Range | undefined
  readonly routing: Range | undefined
  /** The name that the pattern of the run makes of its index. */
  readonly index: string | undefined
  /** The condition that the stored document must meet. An action with a condition has an id. */
  readonly condition: Condition | undefined
  /** Why Sluice cannot send it. */
  readonly problem: string | undefined
  /** Whether it holds nothing but what Elasticsearch knows of an action: then it is no document. */
  readonly isKnown: boolean
  /** The whole line. */
  readonly line: Range
}

const OPEN_OBJECT = 0x7b
const LETTER_F = 0x66
const LETTER_N = 0x6e

/** Reads an action line. Returns undefined if the object is none. `number`: that of the line. */
export function readAction(
  line: Range,
  fields: ObjectFields,
  number: number | undefined,
  pattern: IndexPattern | undefined,
): Action | undefined {
  const { bytes } = line
  fields.read(bytes, line.from)
  if (fields.count !== 1) return undefined
  const operation = fields.name(bytes, 0)
  const from = fields.from[0] as number
  if (!isVerb(operation) || bytes[from] !== OPEN_OBJECT) return undefined
  fields.read(bytes, from)
  const address = readAddress(bytes, fields)
  const { id, routing, beside, conditions, isKnown } = address
  let { problem } = address
  if (id === undefined && rowOf(operation).changes) problem ??= 'its action has no _id'
  const condition = conditions === undefined ? undefined : conditionOf(conditions, operation, id !== undefined)
  if (typeof condition === 'string') problem ??= condition
  problem ??= addressProblem('_id', id) ?? addressProblem('routing', routing)
  const index = pattern && indexBeside(beside, pattern)
  if (typeof index === 'object') problem ??= index.problem
  if (problem !== undefined && number !== undefined) problem = `line ${number}: ${problem}`
  return {
    operation,
    id,
    routing,
    index: typeof index === 'string' ? index : undefined,
    condition: typeof condition === 'string' ? undefined : condition,
    problem,
    isKnown,
    line,
  }
}

/** Reads the fields of an action, as `fields` found them. */
function readAddress(bytes: Buffer, fields: ObjectFields) {
  let id: Range | undefined
  let routing: Range | undefined
  let beside: Range | undefined
  let conditions: Record<string, string> | undefined
  let problem: string | undefined
  let isKnown = true
  for (let field = 0; field < fields.count; field += 1) {
    const name = fields.name(bytes, field)
    const value = { bytes, from: fields.from[field] as number, to: fields.to[field] as number }
    const first = bytes[value.from]
    isKnown &&= isOfAction(name)
    if (first === LETTER_N) continue
    if (name === '_id') id = value
    else if (name === 'routing' || name === '_routing') routing = value
    else if (name === '_index') beside = value
    else if (OF_CONDITION.has(name))
      conditions = { ...conditions, [name]: bytes.toString('latin1', value.from, value.to).replaceAll('"', '') }
    else if (!IGNORED.has(name) && !(first === LETTER_F && OFF.has(name)))
      problem ??= `its action has ${name}, which Sluice cannot keep`
  }
  return { id, routing, beside, conditions, problem, isKnown }
}

const OF_CONDITION = new Set(['version', 'version_type', 'if_seq_no', 'if_primary_term'])

/** Returns the condition of an action, or why Elasticsearch would refuse the whole request because of it. */
function conditionOf(
  { version, version_type: type, if_seq_no: sequence, if_primary_term: term }: Record<string, string>,
  operation: Verb,
  hasId: boolean,
): Condition | string | undefined {
  const isVersioned = version !== undefined || (type !== undefined && type !== 'internal')
  const isSequenced = sequence !== undefined || term !== undefined
  if (!isVersioned && !isSequenced) return undefined
  const text = isVersioned
    ? `"version":${version},"version_type":"${type}"`
    : `"if_seq_no":${sequence},"if_primary_term":${term}`
  const kind = kindOfCondition(text)
  if (kind === undefined || (isVersioned && isSequenced))
    return 'its condition is neither version with version_type external or external_gte, nor if_seq_no with if_primary_term'
  if (!hasId) return 'its action has a condition, but no _id'
  if (!rowOf(operation).takes.includes(kind))
    return `its action has ${isVersioned ? 'a version' : 'if_seq_no'}, which Elasticsearch does not compare for ${operation}`
  return { kind, text }
}

/** Types are gone, and Sluice itself repeats updates that collide. */
const IGNORED = new Set(['_type', 'retry_on_conflict', '_retry_on_conflict'])
/** Without effect if they are false. */
const OFF = new Set(['require_alias', 'require_data_stream', 'list_executed_pipelines'])
