import type { Operation } from '../flow.js'
import { topLevelField } from './top-level-field.js'

/** Elasticsearch refuses a whole request for one longer id. */
const MAX_ID_BYTES = 512

/**
 * Where a document's `_id` comes from. `run`: a token and the document's number, so that a resend cannot double it and the ids of
 * a run can be listed. `field`: a top-level field. `cluster`: Elasticsearch makes one, and an unknown outcome stays unknown.
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

/** Writes action lines: the line with its line end, or the problem that keeps the document from being sent. */
export interface ActionWriter {
  /** Whether `write` looks at the document's text. */
  readonly reads: boolean
  write(document: number, text: string): string | { readonly problem: string; readonly field: string }
}

/** The writer for one input. `token` is the input's own part of the ids of a run. */
export function actionWriter({ operation, ids, routingField }: ActionOptions, token: string): ActionWriter {
  if (ids.from !== 'field' && routingField === undefined) {
    const head = ids.from === 'run' ? `{"${operation}":{"_id":"${token}-` : `{"${operation}":{}}\n`
    return { reads: false, write: document => (ids.from === 'run' ? `${head}${document}"}}\n` : head) }
  }
  return {
    reads: true,
    write(document, text) {
      const parts: string[] = []
      if (ids.from === 'run') parts.push(`"_id":"${token}-${document}"`)
      if (ids.from === 'field') {
        const id = scalar(text, ids.field)
        if (typeof id !== 'string') return { ...id, field: ids.field }
        if (Buffer.byteLength(id) > MAX_ID_BYTES)
          return { problem: `has more than ${MAX_ID_BYTES} bytes`, field: ids.field }
        parts.push(`"_id":${JSON.stringify(id)}`)
      }
      if (routingField !== undefined) {
        const routing = scalar(text, routingField)
        if (typeof routing !== 'string') return { ...routing, field: routingField }
        parts.push(`"routing":${JSON.stringify(routing)}`)
      }
      return `{"${operation}":{${parts.join(',')}}}\n`
    },
  }
}

/** A string's value or a number's digits. */
function scalar(text: string, field: string): string | { problem: string } {
  const raw = topLevelField(text, field)
  if (raw === undefined) return { problem: 'is missing' }
  if (raw.startsWith('"')) {
    const value = JSON.parse(raw) as string
    return value === '' ? { problem: 'is empty' } : value
  }
  return /^[-\d]/.test(raw) ? raw : { problem: 'is neither a string nor a number' }
}
