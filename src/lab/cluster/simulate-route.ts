import { answer } from './answers.js'
import { readDocument } from './document.js'
import { type Exchange, parseBody, permit } from './exchange.js'
import { declaredMapping, describeMapping, extendMapping, type Mapping } from './mapping.js'
import { checkMapping } from './known-mapping.js'
import { permissions } from './permissions.js'
import { asObject } from './templates.js'

/** `POST /_ingest/_simulate`: compares each document with the mapping of its index, by itself, and stores nothing. */
export function answerSimulation(exchange: Exchange, target: string | undefined): void {
  const { response, body } = exchange
  const { docs, mapping_addition: addition } = parseBody(body)
  const asked = (Array.isArray(docs) ? (docs as unknown[]) : []).map(asObject)
  const named = asked.map(({ _index: index }) => (typeof index === 'string' ? index : (target ?? '')))
  if (!maySimulate(exchange, named[0])) return
  const answers = asked.map(({ _id: given, _source: source }, at) => {
    const [id, index] = [typeof given === 'string' ? given : '', named[at] ?? '']
    const mapping = mappingOf(exchange, index)
    if (addition !== undefined) {
      checkMapping(addition)
      extendMapping(mapping, addition)
    }
    return { doc: { _id: id, _index: index, _version: -3, _source: source, ...errorOf(mapping, source, id) } }
  })
  answer(response, 200, JSON.stringify({ docs: answers }))
}

/** The cluster asks whether the principal may simulate at all, and not on which index. */
function maySimulate(exchange: Exchange, index: string | undefined): boolean {
  const { indexPrivileges: own } = exchange.principal
  const { simulate } = permissions
  if (own !== undefined && simulate.index.some(privilege => own.privileges.has(privilege))) return true
  return permit(exchange, simulate, index)
}

/** A copy. Nothing knows the mapping of an index that is missing, except for its template. */
function mappingOf({ cluster }: Exchange, index: string): Mapping {
  const found = cluster.writable(index)
  if (found !== undefined && found !== 'no-write-index') return declaredMapping(describeMapping(found.mapping))
  return declaredMapping(asObject(cluster.templates.of(index)?.['template'])['mappings'])
}

function errorOf(mapping: Mapping, source: unknown, id: string): { readonly error?: object } {
  const bytes = Buffer.from(JSON.stringify(source))
  const fault = readDocument(mapping, bytes, 0, bytes.length, { id, quoteSource: true, isUtf8: true })
  if (fault === undefined) return {}
  const { type, reason, causedBy } = fault
  return { error: { type, reason, ...(causedBy === undefined ? {} : { caused_by: causedBy }) } }
}
