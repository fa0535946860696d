import { type Operation, bulkFormOf } from '../operation.js'
import { MAX_ID_BYTES } from '../strict-json/layout.js'
import { topLevelField } from './top-level-field.js'

/**
 * The source of a document's `_id`. `run`: a token and the document's number, so that a resend doubles nothing and
 * the ids of a run can be listed. `field`: a top-level field. `cluster`: Elasticsearch makes it, and an unknown
 * outcome stays unknown.
 */
export type Ids =
  | { readonly from: 'run' }
  | { readonly from: 'field'; readonly field: string }
  | { readonly from: 'cluster' }

export interface ActionOptions {
  readonly operation: Operation
  readonly ids: Ids
  /** Top-level field whose value becomes the routing. */
  readonly routingField?: string
}

/** Text before and after each document on its line: an update needs `{"doc":` and `}`. */
export interface Around {
  readonly opening: string
  readonly closing: string
}

/**
 * The texts around each document of one input. Its action line: `before`, the id, `between`, the routing, `after`.
 */
export interface ActionTemplate extends Around {
  readonly before: string
  /** `number`: that of the document. */
  readonly id: 'none' | 'number' | { readonly field: string }
  readonly between: string
  readonly routing: { readonly field: string } | undefined
  /** Ends with the line feed. */
  readonly after: string
}

/** `token` is the input's own part of the ids of a run. */
export function actionTemplate(options: ActionOptions, token: string): ActionTemplate {
  const { operation, ids, routingField } = options
  const routing = routingField === undefined ? undefined : { field: routingField }
  const { action, opening, closing } = bulkFormOf(operation)
  const around = { opening, closing }
  if (ids.from === 'cluster') {
    if (routing === undefined) return { before: action, id: 'none', between: '', routing, after: '}}\n', ...around }
    return { before: `${action}"routing":"`, id: 'none', between: '', routing, after: '"}}\n', ...around }
  }
  return {
    before: ids.from === 'run' ? `${action}"_id":"${token}-` : `${action}"_id":"`,
    id: ids.from === 'run' ? 'number' : { field: ids.field },
    between: routing === undefined ? '' : '","routing":"',
    routing,
    after: '"}}\n',
    ...around,
  }
}

/** The id of Sluice's own that a document gets, whatever it holds. */
export function ownId({ id, before }: ActionTemplate, document: number): string | undefined {
  return id === 'number' ? before.slice(before.lastIndexOf('"') + 1) + document : undefined
}

/** The reason not to send a document. */
export interface ActionProblem {
  readonly problem: string
  readonly field: string
}

/** A document's action line with its line end, or its problem. `text`: gives the document, a valid object. */
export function actionLine(
  { before, id, between, routing, after }: ActionTemplate,
  document: number,
  text: () => string,
): string | ActionProblem {
  if (id === 'none' && routing === undefined) return before + after
  if (id === 'number' && routing === undefined) return before + document + after
  const json = text()
  let line = before
  if (id === 'number') line += document
  else if (id !== 'none') {
    const value = idIn(json, id.field)
    if (typeof value !== 'string') return value
    line += escaped(value)
  }
  if (routing !== undefined) {
    const value = scalar(json, routing.field)
    if (typeof value !== 'string') return value
    line += between + escaped(value)
  }
  return line + after
}

/** The id that a document holds. */
export function idIn(json: string, field: string): string | ActionProblem {
  const value = scalar(json, field)
  const problem = typeof value === 'string' ? idProblem(value) : undefined
  return problem === undefined ? value : { problem, field }
}

export function idProblem(id: string): string | undefined {
  return Buffer.byteLength(id) > MAX_ID_BYTES ? `has more than ${MAX_ID_BYTES} bytes` : undefined
}

/** A string's value or a number's digits. */
export function scalar(json: string, field: string): string | ActionProblem {
  const raw = topLevelField(json, field)
  if (raw === undefined) return { problem: 'is missing', field }
  if (raw.startsWith('"')) {
    const value = JSON.parse(raw) as string
    return value === '' ? { problem: 'is empty', field } : value
  }
  return /^[-\d]/.test(raw) ? raw : { problem: 'is neither a string nor a number', field }
}

/** Returns the text as it stands between the quotes of a JSON string. */
function escaped(value: string): string {
  return JSON.stringify(value).slice(1, -1)
}
