import { RequestRefused, answer } from './answers.js'
import { indexNameFault } from './index-names.js'
import { declaredMapping, describeMapping } from './mapping.js'
import { type Exchange, findIndices, parseBody, permit } from './exchange.js'
import { permissions } from './permissions.js'
import type { Index } from './store.js'

/** `/{index}`: create, read, delete. */
export function answerIndex(exchange: Exchange, method: string, name: string): void {
  const { cluster, response, body } = exchange
  if (method === 'PUT') {
    if (!permit(exchange, permissions.create, name)) return
    const badName = indexNameFault(name)
    if (badName) throw new RequestRefused(badName)
    const existing = cluster.indices.get(name)
    if (existing) throw alreadyExists(existing)
    const { mappings, settings } = parseBody(body)
    const index = cluster.create(name, declaredMapping(mappings), flat(settings))
    index.isWriteBlocked = isTrue(index.settings['blocks.write'])
    return answer(response, 200, JSON.stringify({ acknowledged: true, shards_acknowledged: true, index: name }))
  }
  if (method === 'DELETE') {
    if (!permit(exchange, permissions.delete, name)) return
    for (const index of findIndices(exchange, name)) cluster.indices.delete(index.name)
    return answer(response, 200, '{"acknowledged":true}')
  }
  if (!permit(exchange, permissions.view, name)) return
  const described = findIndices(exchange, name).map(index => [
    index.name,
    { aliases: {}, mappings: describeMapping(index.mapping), settings: { index: describeSettings(index) } },
  ])
  answer(response, 200, JSON.stringify(Object.fromEntries(described)))
}

/** `/{index}/_settings` */
export function answerSettings(exchange: Exchange, method: string, name: string): void {
  const { response, body } = exchange
  if (method === 'PUT') {
    if (!permit(exchange, permissions.settings, name)) return
    const settings = flat(parseBody(body))
    for (const index of findIndices(exchange, name)) {
      Object.assign(index.settings, settings)
      index.isWriteBlocked = isTrue(index.settings['blocks.write'])
    }
    return answer(response, 200, '{"acknowledged":true}')
  }
  if (!permit(exchange, permissions.view, name)) return
  const described = findIndices(exchange, name).map(index => [
    index.name,
    { settings: { index: describeSettings(index) } },
  ])
  answer(response, 200, JSON.stringify(Object.fromEntries(described)))
}

function alreadyExists({ name, uuid }: Index): RequestRefused {
  const more = { index_uuid: uuid, index: name }
  const reason = `index [${name}/${uuid}] already exists`
  return new RequestRefused({ status: 400, type: 'resource_already_exists_exception', reason, more })
}

/** Settings by dotted name without the leading `index.`, values as text: `{"index":{"blocks":{"write":true}}}` too. */
function flat(settings: unknown, prefix = ''): Record<string, unknown> {
  if (typeof settings !== 'object' || settings === null) return {}
  const found: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(settings)) {
    const path = `${prefix}${name}`
    if (typeof value === 'object' && value !== null) Object.assign(found, flat(value, `${path}.`))
    else found[path.replace(/^index\./, '')] = value === null ? undefined : String(value)
  }
  return found
}

function describeSettings(index: Index): Record<string, unknown> {
  const { 'blocks.write': write, ...settings } = index.settings
  return {
    number_of_shards: '1',
    number_of_replicas: '1',
    provided_name: index.name,
    creation_date: String(index.createdAt),
    uuid: index.uuid,
    ...(write !== undefined && { blocks: { write } }),
    ...settings,
  }
}

function isTrue(value: unknown): boolean {
  return value === 'true'
}
