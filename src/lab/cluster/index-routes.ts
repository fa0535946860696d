import { describeAliases, declaredAliases } from './alias-routes.js'
import { RequestRefused, answer, illegalArgument } from './answers.js'
import { indexNameFault } from './index-names.js'
import { changeSettings, describeSettings, FIELD_LIMIT, flat } from './index-settings.js'
import {
  declaredMapping,
  describeMapping,
  extendMapping,
  mappingConflict,
  fieldAt,
  fieldDefaults,
  MAX_FIELDS,
} from './mapping.js'
import { type Exchange, findIndices, parseBody, permit } from './exchange.js'
import { checkMapping } from './known-mapping.js'
import { permissions } from './permissions.js'
import type { Index } from './store.js'

/** `/{index}`: create, read, delete. */
export function answerIndex(exchange: Exchange, method: string, name: string): void {
  const { cluster, response } = exchange
  if (method === 'PUT') return createIndex(exchange, name)
  if (method === 'DELETE') {
    if (!permit(exchange, permissions.delete, name)) return
    if (!cluster.indices.has(name) && cluster.behind(name).length > 0) throw new RequestRefused(deletesAlias(name))
    const found = findIndices(exchange, name)
    for (const index of found) refuseWriteIndex(cluster, index)
    for (const index of found) cluster.delete(index)
    return answer(response, 200, '{"acknowledged":true}')
  }
  if (!permit(exchange, permissions.view, name)) return
  const described = findIndices(exchange, name).map(index => [
    index.name,
    {
      aliases: describeAliases(index),
      mappings: describeMapping(index.mapping),
      settings: describeSettings(index, asksFlat(exchange)),
      ...streamOf(cluster, index),
    },
  ])
  answer(response, 200, JSON.stringify(Object.fromEntries(described)))
}

function refuseWriteIndex({ streams }: Exchange['cluster'], { name }: Index): void {
  for (const [stream, behind] of streams)
    if (behind.at(-1)?.name === name) {
      const reason = `index [${name}] is the write index for data stream [${stream}] and cannot be deleted`
      throw new RequestRefused(illegalArgument(reason))
    }
}

function streamOf({ streams }: Exchange['cluster'], index: Index): { data_stream?: string } {
  const named = [...streams].find(([, behind]) => behind.includes(index))
  return named === undefined ? {} : { data_stream: named[0] }
}

function createIndex(exchange: Exchange, name: string): void {
  if (!permit(exchange, permissions.create, name)) return
  const { cluster, response, body } = exchange
  const badName = indexNameFault(name)
  if (badName) throw new RequestRefused(badName)
  const existing = cluster.indices.get(name)
  if (existing) throw alreadyExists(existing)
  if (cluster.behind(name).length > 0) throw new RequestRefused(existsAsAlias(name))
  const { mappings, settings, aliases, ...unknown } = parseBody(body)
  const [first] = Object.keys(unknown)
  if (first !== undefined) {
    const reason = `unknown key [${first}] for create index`
    throw new RequestRefused({ status: 400, type: 'parse_exception', reason })
  }
  const template = cluster.templates.of(name)
  if (template?.['data_stream'] !== undefined)
    throw new RequestRefused(illegalArgument(streamOnly(name, cluster.templates.nameOf(name))))
  checkMapping(mappings)
  const changes = flat(settings)
  const limit = Number(changes[FIELD_LIMIT] ?? MAX_FIELDS)
  if (declaredMapping(mappings).fields > limit)
    throw new RequestRefused(illegalArgument(`Limit of total fields [${limit}] has been exceeded`))
  const index = cluster.create(name)
  changeSettings(index, changes)
  extendMapping(index.mapping, mappings)
  for (const [alias, properties] of declaredAliases(aliases)) index.aliases.set(alias, properties)
  answer(response, 200, JSON.stringify({ acknowledged: true, shards_acknowledged: true, index: name }))
}

/** `/{index}/_settings`, also for some of them: `/_settings/index.uuid`. */
export function answerSettings(exchange: Exchange, method: string, name: string): void {
  const { response, body } = exchange
  if (method === 'PUT') {
    if (!permit(exchange, permissions.settings, name)) return
    const changes = flat(parseBody(body))
    const fixed = Object.keys(changes).find(one => one === 'number_of_shards' || one.startsWith('analysis.'))
    const found = findIndices(exchange, name)
    if (fixed !== undefined) throw new RequestRefused(illegalArgument(finalSetting(fixed, found)))
    for (const index of found) changeSettings(index, changes)
    return answer(response, 200, '{"acknowledged":true}')
  }
  if (!permit(exchange, permissions.view, name)) return
  const names = decodeURIComponent(exchange.path.split('/')[3] ?? '')
    .split(',')
    .filter(Boolean)
  const described = findIndices(exchange, name).map(index => [
    index.name,
    { settings: describeSettings(index, asksFlat(exchange), names) },
  ])
  answer(response, 200, JSON.stringify(Object.fromEntries(described)))
}

/** `/{index}/_mapping/field/{fields}`, with defaults. */
function answerFields(exchange: Exchange, name: string): void {
  if (!permit(exchange, permissions.view, name)) return
  const asked = decodeURIComponent(exchange.path.split('/')[4] ?? '').split(',')
  const described = findIndices(exchange, name).map(({ name: index, mapping }) => {
    const mappings = asked.flatMap(path => {
      const field = fieldAt(mapping, path)
      if (field === undefined || field.type === 'object') return []
      return [
        [
          path,
          { full_name: path, mapping: { [field.name]: { type: field.type, ...fieldDefaults, ...field.declared } } },
        ],
      ]
    })
    return [index, { mappings: Object.fromEntries(mappings) as unknown }]
  })
  answer(exchange.response, 200, JSON.stringify(Object.fromEntries(described)))
}

/** `/{index}/_mapping` */
export function answerMapping(exchange: Exchange, method: string, name: string): void {
  const { response, body } = exchange
  if (method === 'GET' && exchange.path.split('/')[3] === 'field') return answerFields(exchange, name)
  if (method !== 'GET') {
    if (!permit(exchange, permissions.mapping, name)) return
    const [indices, mappings] = [findIndices(exchange, name), parseBody(body)]
    checkMapping(mappings)
    const conflict = indices.map(index => mappingConflict(index.mapping.root, mappings)).find(one => one !== undefined)
    if (conflict !== undefined) throw new RequestRefused(illegalArgument(conflict))
    for (const index of indices) extendMapping(index.mapping, mappings)
    return answer(response, 200, '{"acknowledged":true}')
  }
  if (!permit(exchange, permissions.view, name)) return
  const mappings = findIndices(exchange, name).map(index => [index.name, { mappings: describeMapping(index.mapping) }])
  answer(response, 200, JSON.stringify(Object.fromEntries(mappings)))
}

function asksFlat({ request }: Exchange): boolean {
  const asked = new URL(request.url ?? '/', 'http://lab').searchParams.get('flat_settings')
  return asked === '' || asked === 'true'
}

function alreadyExists({ name, uuid }: Index): RequestRefused {
  const more = { index_uuid: uuid, index: name }
  const reason = `index [${name}/${uuid}] already exists`
  return new RequestRefused({ status: 400, type: 'resource_already_exists_exception', reason, more })
}

function existsAsAlias(name: string) {
  const reason = `Invalid index name [${name}], already exists as alias`
  const more = { index_uuid: '_na_', index: name }
  return { status: 400, type: 'invalid_index_name_exception', reason, more }
}

function deletesAlias(name: string) {
  return illegalArgument(
    `The provided expression [${name}] matches an alias, specify the corresponding concrete indices instead.`,
  )
}

function streamOnly(name: string, template: string): string {
  return `cannot create index with name [${name}], because it matches with template [${template}] that creates data streams only, use create data stream api instead`
}

function finalSetting(setting: string, found: readonly Index[]): string {
  const [index] = found
  return `Can't update non dynamic settings [[index.${setting}]] for open indices [[${index?.name}/${index?.uuid}]]`
}
