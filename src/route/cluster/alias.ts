import { fail, SluiceError } from '../../base/failure/failure.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import type { AliasFacts, IndexFacts } from './indices.js'
import { type ReachedCluster, call } from './request.js'

/** Reads the indices behind a name. Returns none if nothing has the name. Throws SluiceError: see `call`. */
export async function indicesBehind(cluster: ReachedCluster, name: string): Promise<readonly IndexFacts[]> {
  const path = `/${encodeURIComponent(name)}`
  const expects = ['index_not_found_exception']
  const { status, json } = await call(cluster, { method: 'GET', path, query: { flat_settings: 'true' }, expects })
  if (status === 404) return []
  return Object.entries(json).map(([index, described]): IndexFacts => {
    const { settings, mappings, aliases, data_stream: stream } = objectIn(described)
    const properties = Object.entries(objectIn(aliases)).map(([alias, of]) => [alias, objectIn(of)] as const)
    return {
      name: index,
      settings: objectIn(settings),
      mappings: objectIn(mappings),
      aliases: Object.fromEntries(properties),
      ...(typeof stream === 'string' ? { stream } : {}),
    }
  })
}

function objectIn(value: unknown): JsonObject {
  return isObject(value) ? value : {}
}

/** Reads an alias. Throws SluiceError ALIAS_CONFLICT if the name is no alias of exactly one index, and as `call` does. */
export async function readAlias(cluster: ReachedCluster, alias: string): Promise<AliasFacts> {
  const found = await indicesBehind(cluster, alias)
  const [on] = found
  if (on === undefined) return { name: alias }
  if (found.some(({ name }) => name === alias)) throw conflict(alias, 'an index has this name')
  if (found.some(({ aliases }) => aliases[alias] === undefined)) throw conflict(alias, 'a data stream has this name')
  const names = found.map(({ name }) => name).join(', ')
  if (found.length > 1) throw conflict(alias, `it is on ${found.length} indices: ${names}`)
  return { name: alias, on }
}

/**
 * Moves an alias to an index in one step, with its filter and routing. Before that, it must be on `from`.
 * Throws SluiceError ALIAS_CONFLICT if it is on another index, and as `call` does. May be repeated.
 */
export async function switchAlias(
  cluster: ReachedCluster,
  { name: alias, on: from }: AliasFacts,
  to: string,
): Promise<void> {
  const properties = { ...from?.aliases[alias], is_write_index: true }
  const actions = [
    ...(from === undefined ? [] : [{ remove: { index: from.name, alias, must_exist: true } }]),
    { add: { index: to, alias, ...properties } },
  ]
  // The alias has moved, or another index takes its writes by now.
  const expects = ['aliases_not_found_exception', 'illegal_state_exception']
  const { type, reason } = await call(cluster, { method: 'POST', path: '/_aliases', body: { actions }, expects })
  const now = await readAlias(cluster, alias)
  if (now.on?.name === to) return
  const observed = `it was on ${from?.name ?? 'no index'} but is now on ${now.on?.name ?? 'no index'}`
  throw conflict(alias, type === '' ? observed : `${observed} (${type}: ${reason})`)
}

/** Removes an alias from one index. Throws SluiceError: see `call`. */
export async function removeAlias(cluster: ReachedCluster, alias: string, index: string): Promise<void> {
  const body = { actions: [{ remove: { index, alias } }] }
  await call(cluster, { method: 'POST', path: '/_aliases', body, expects: ['aliases_not_found_exception'] })
}

function conflict(alias: string, observed: string): SluiceError {
  return fail('ALIAS_CONFLICT', { alias, observed })
}
