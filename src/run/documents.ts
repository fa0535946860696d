/** How documents are read and what is sent of them, as the options say. */
import type { Ids } from '../bulk/action-line.js'
import type { IngestOptions } from '../options/ingest-options.js'

export function formatOf({ format = 'auto', pick }: IngestOptions) {
  return { format, ...(pick === undefined ? {} : { pick }) }
}

export function actionOf({ op = 'create', routingField }: IngestOptions, ids: Ids) {
  return { operation: op, ids, ...(routingField === undefined ? {} : { routingField }) }
}
