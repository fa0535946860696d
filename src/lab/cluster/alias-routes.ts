import { type Fault, RequestRefused, answer, illegalArgument, noSuchIndex } from './answers.js'
import type { Cluster } from './cluster.js'
import { type Exchange, findIndices, parseBody, permit } from './exchange.js'
import { permissions } from './permissions.js'
import type { AliasProperties, Index } from './store.js'

/** `/_alias/{alias}` and `/{index}/_alias`. */
export function answerAlias(exchange: Exchange, expression: string, alias: string | undefined): void {
  if (!permit(exchange, permissions.view, alias ?? expression)) return
  const { response } = exchange
  const found = findIndices(exchange, expression).filter(({ aliases }) => alias === undefined || aliases.has(alias))
  if (alias !== undefined && found.length === 0) {
    return answer(response, 404, JSON.stringify({ error: `alias [${alias}] missing`, status: 404 }))
  }
  const described = found.map(index => [index.name, { aliases: describeAliases(index, alias) }])
  answer(response, 200, JSON.stringify(Object.fromEntries(described)))
}

interface Action {
  readonly kind: 'add' | 'remove'
  readonly index: Index
  readonly alias: string
  readonly properties: AliasProperties
  readonly mustExist: boolean
}

/** `POST /_aliases`: all of its actions, or none. */
export function answerAliases(exchange: Exchange): void {
  const { cluster, response, body } = exchange
  const { actions } = parseBody(body)
  const asked = (Array.isArray(actions) ? (actions as unknown[]) : []).map(action => readAction(cluster, action))
  if (asked.length === 0) throw new RequestRefused(illegalArgument('No action specified'))
  for (const { index, alias } of asked) {
    if (!permit(exchange, permissions.aliases, index.name) || !permit(exchange, permissions.aliases, alias)) return
  }
  const missing = asked.find(({ kind, index, alias, mustExist }) => {
    return kind === 'remove' && mustExist && !index.aliases.has(alias)
  })
  if (missing !== undefined) throw new RequestRefused(noSuchAlias(missing.alias))
  const before = new Map([...cluster.indices.values()].map(index => [index, new Map(index.aliases)]))
  for (const { kind, index, alias, properties } of asked) {
    if (kind === 'add') index.aliases.set(alias, properties)
    else index.aliases.delete(alias)
  }
  const fault = asked.map(({ alias }) => writersFault(cluster, alias)).find(one => one !== undefined)
  if (fault !== undefined) {
    for (const [index, aliases] of before) {
      index.aliases.clear()
      for (const [alias, properties] of aliases) index.aliases.set(alias, properties)
    }
    throw new RequestRefused(fault)
  }
  answer(response, 200, '{"acknowledged":true,"errors":false}')
}

export function describeAliases({ aliases }: Index, only?: string): Record<string, AliasProperties> {
  return Object.fromEntries([...aliases].filter(([name]) => only === undefined || name === only))
}

/** The `aliases` of an index creation. */
export function declaredAliases(aliases: unknown): [string, AliasProperties][] {
  return Object.entries((aliases ?? {}) as Record<string, AliasProperties>)
}

function readAction(cluster: Cluster, action: unknown): Action {
  const [kind, asked] = Object.entries((action ?? {}) as Record<string, Record<string, unknown>>)[0] ?? ['', {}]
  if (kind !== 'add' && kind !== 'remove') throw new RequestRefused(illegalArgument(`not part of the lab: [${kind}]`))
  const { index: name = '', alias = '', must_exist: mustExist, ...properties } = asked
  const index = cluster.indices.get(String(name))
  if (index === undefined) throw new RequestRefused(noSuchIndex(String(name)))
  if (kind === 'add' && cluster.indices.has(String(alias))) throw new RequestRefused(takenByIndex(String(alias)))
  return { kind, index, alias: String(alias), properties, mustExist: mustExist === true }
}

function writersFault(cluster: Cluster, alias: string): Fault | undefined {
  const writers = cluster.behind(alias).filter(({ properties }) => properties['is_write_index'] === true)
  if (writers.length < 2) return undefined
  const names = writers.map(({ index }) => index.name).join(',')
  const reason = `alias [${alias}] has more than one write index [${names}]`
  return { status: 500, type: 'illegal_state_exception', reason }
}

function takenByIndex(alias: string): Fault {
  const reason = `Invalid alias name [${alias}]: an index or data stream exists with the same name as the alias`
  return { status: 400, type: 'invalid_alias_name_exception', reason }
}

function noSuchAlias(alias: string): Fault {
  const more = { 'resource.type': 'aliases', 'resource.id': alias }
  return { status: 404, type: 'aliases_not_found_exception', reason: `aliases [${alias}] missing`, more }
}
