import { createHash } from 'node:crypto'
import type { Lines } from '../../base/flow.js'
import {
  bulkFormOf,
  type ConditionFields,
  DEFAULT_SEPARATOR,
  type FieldIds,
  type Ids,
  type Operation,
  type Script,
} from '../../base/operation.js'
import { MAX_ID_BYTES } from '../../base/json/strict/layout.js'
import { conditionForm, conditionKindOf, type ConditionNumber, numberIn } from '../../base/text/condition.js'
import { fieldsIn, unicodeProblem } from '../../base/text/shown.js'
import { type IndexPattern, nameOf } from '../../base/text/index-pattern.js'
import { hasOffsets, ownNumber, type OwnPlace } from './own-number.js'
import { nestedField } from './nested-field.js'

export interface ActionOptions extends ConditionFields {
  readonly operation: Operation
  readonly ids: Ids
  /** Path of the field whose value becomes the routing. */
  readonly routingField?: string
  /** Set if the document holds the parameters of a script. */
  readonly script?: Script
  readonly retryOnConflict?: number
  /** Set if fields of each document name its index. */
  readonly indexPattern?: IndexPattern
}

/** How the id of a document is made from its fields. */
interface IdRule {
  /** Paths. */
  readonly fields: readonly string[]
  readonly separator: string
  readonly isHashed: boolean
}

export function idRule({ from, field, separator = DEFAULT_SEPARATOR }: FieldIds): IdRule {
  return { fields: fieldsIn(field), separator, isHashed: from === 'hash' }
}

/** Text before and after each document on its line: an update needs `{"doc":` and `}`. */
export interface Around {
  readonly opening: string
  readonly closing: string
}

/**
 * The texts around each document of one input. Its action line: `opening` of the index and its name, `before`, the id, `between`, the
 * routing, the numbers of a condition, `after`.
 */
export interface ActionTemplate extends Around {
  readonly index: { readonly opening: string; readonly pattern: IndexPattern } | undefined
  readonly before: string
  /** `number`: that of the document. `offset`: that of its line. */
  readonly id: 'none' | 'number' | 'offset' | IdRule
  readonly between: string
  readonly routing: { readonly field: string } | undefined
  /** Empty without a condition. */
  readonly numbers: readonly ConditionNumber[]
  /** Ends with the line feed. */
  readonly after: string
}

/** How the documents of a run stand in a bulk request. */
export type ActionForm = ReturnType<typeof bulkFormOf>

/** `token` is the input's own part of the ids of a run. `kind`: that of its lines. `form`: that of the options. */
export function actionTemplate(
  options: ActionOptions,
  token: string,
  kind: Lines['kind'] = 'lines',
  form: ActionForm = actionForm(options),
): ActionTemplate {
  const { ids, routingField, indexPattern: pattern } = options
  const routing = routingField === undefined ? undefined : { field: routingField }
  const { action, opening, closing } = form
  const index = pattern === undefined ? undefined : { opening: `${action}"_index":"`, pattern }
  const around = { index, opening, closing, numbers: [] }
  // The text before the next field, and at the end.
  const start = index === undefined ? action : '",'
  if (ids.from === 'cluster') {
    const end = index === undefined ? '}}\n' : '"}}\n'
    if (routing === undefined)
      return { before: index === undefined ? action : '', id: 'none', between: '', routing, after: end, ...around }
    return { before: `${start}"routing":"`, id: 'none', between: '', routing, after: '"}}\n', ...around }
  }
  const condition = conditionForm(options)
  const numbers = condition?.numbers.map((number, at) =>
    at === 0 ? { ...number, opening: `",${number.opening}` } : number,
  )
  return {
    ...around,
    before: ids.from === 'run' ? `${start}"_id":"${token}-` : `${start}"_id":"`,
    id: ids.from !== 'run' ? idRule(ids) : ids.by === 'offset' && hasOffsets(kind) ? 'offset' : 'number',
    between: routing === undefined ? '' : '","routing":"',
    routing,
    ...(numbers === undefined ? {} : { numbers }),
    after: condition === undefined ? '"}}\n' : `${condition.closing}}}\n`,
  }
}

/** Returns how the documents of a run stand in a bulk request. */
export function actionForm(options: ActionOptions): ActionForm {
  return bulkFormOf(options.operation, { ...options, condition: conditionKindOf(options) })
}

/** The id of Sluice's own that a document gets, whatever it holds. */
export function ownId(template: ActionTemplate, place: OwnPlace): string | undefined {
  const start = ownIdStart(template)
  return start === undefined ? undefined : start + ownNumber(place, template.id === 'offset')
}

/** Returns what the ids of Sluice's own begin with. The rest is the number of the document, or the offset of its line. */
export function ownIdStart({ id, before }: ActionTemplate): string | undefined {
  return isOwn(id) ? before.slice(before.lastIndexOf('"') + 1) : undefined
}

function isOwn(id: ActionTemplate['id']): id is 'number' | 'offset' {
  return id === 'number' || id === 'offset'
}

/** The reason not to send a document. */
export interface ActionProblem {
  readonly problem: string
  readonly field: string
  /** The wanted value of the field. Default: the id. */
  readonly of?: 'index' | 'version'
}

/**
 * A document's action line with its line end, or its problem. `number`: what an id of Sluice's own ends with. `text`: gives the document, a
 * valid object.
 */
export function actionLine(
  { index, before, id, between, routing, numbers, after }: ActionTemplate,
  number: number | string,
  text: () => string,
): string | ActionProblem {
  if (id === 'none' && routing === undefined && index === undefined) return before + after
  if (isOwn(id) && routing === undefined && index === undefined) return before + number + after
  const json = text()
  let line = before
  if (index !== undefined) {
    const name = indexIn(json, index.pattern)
    if (typeof name !== 'string') return name
    line = index.opening + name + before
  }
  if (isOwn(id)) line += number
  else if (id !== 'none') {
    const value = idOfFields(json, id)
    if (typeof value !== 'string') return value
    line += escaped(value)
  }
  if (routing !== undefined) {
    const value = scalar(json, routing.field)
    if (typeof value !== 'string') return value
    line += between + escaped(value)
  }
  for (const demanded of numbers) {
    const value = numberOf(json, demanded)
    if (typeof value !== 'string') return value
    line += demanded.opening + value
  }
  return line + after
}

/** Returns the digits of a number that an action line takes from the document. */
export function numberOf(json: string, { field, mayBeDate }: ConditionNumber): string | ActionProblem {
  const value = scalar(json, field)
  const number = typeof value === 'string' ? numberIn(value, mayBeDate) : value
  return typeof number === 'string' ? number : { ...number, field, of: 'version' }
}

/** Returns the name of its index that the fields of a document make. */
export function indexIn(json: string, pattern: IndexPattern): string | ActionProblem {
  const values: string[] = []
  for (const { field } of pattern.fields) {
    const value = scalar(json, field)
    if (typeof value !== 'string') return { ...value, of: 'index' }
    values.push(value)
  }
  const name = nameOf(pattern, values)
  return typeof name === 'string' ? name : { ...name, of: 'index' }
}

/** Returns the name of the index in an action line that has one. */
export function namedIndex(line: string, { opening }: NonNullable<ActionTemplate['index']>): string {
  return line.slice(opening.length, line.indexOf('"', opening.length))
}

/** The id that the fields of a document make. */
export function idOfFields(json: string, { fields, separator, isHashed }: IdRule): string | ActionProblem {
  const values: string[] = []
  for (const field of fields) {
    const value = scalar(json, field)
    if (typeof value !== 'string') return value
    values.push(value)
  }
  const text = joined(values, separator)
  const problem = isHashed ? undefined : idProblem(text)
  if (problem !== undefined) return { problem, field: fields.join(',') }
  return isHashed ? createHash('sha256').update(text).digest('hex') : text
}

/** Several values never make the text of other values: a separator inside a value gets a backslash, as does a backslash. */
function joined(values: readonly string[], separator: string): string {
  const [first = '', ...others] = values
  if (others.length === 0) return first
  const part = (value: string) => value.replaceAll('\\', '\\\\').replaceAll(separator, () => `\\${separator}`)
  return values.map(part).join(separator)
}

export function idProblem(id: string): string | undefined {
  return unicodeProblem(id) ?? tooLong(id)
}

function tooLong(id: string): string | undefined {
  return Buffer.byteLength(id) > MAX_ID_BYTES ? `has more than ${MAX_ID_BYTES} bytes` : undefined
}

/**
 * A string's value or a number's digits. Elasticsearch takes each half of a surrogate pair for the same character, so different ids
 * would become one.
 */
export function scalar(json: string, field: string): string | ActionProblem {
  const raw = nestedField(json, field)
  if (raw === undefined) return { problem: 'is missing', field }
  if (raw.startsWith('"')) {
    const value = JSON.parse(raw) as string
    const problem = value === '' ? 'is empty' : unicodeProblem(value)
    return problem === undefined ? value : { problem, field }
  }
  return /^[-\d]/.test(raw) ? raw : { problem: 'is neither a string nor a number', field }
}

/** Returns the text as it stands between the quotes of a JSON string. */
function escaped(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}
