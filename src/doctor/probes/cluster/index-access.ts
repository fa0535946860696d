/** Finds out what the credentials may do with an index, and whether it accepts writes. */
import type { Failure } from '../../../failure/failure.js'
import type { Route } from '../../../proxy/route.js'
import { callCluster } from '../../call-cluster.js'
import type { Context } from '../../context.js'
import type { IndexFacts } from '../../facts.js'
import { isObject } from '../../../text/json.js'

export async function lookAtIndex(context: Context, route: Route, index: string): Promise<IndexFacts> {
  const [needs, settings] = await Promise.all([
    askPrivileges(context, route, index),
    callCluster(context, route, { path: `/${encodeURIComponent(index)}/_settings?flat_settings=true` }),
  ])
  if ('failure' in needs) return { index, failure: needs.failure }
  const state = 'failure' in settings ? {} : readSettings(settings.status, settings.json)
  return { index, ...missingOf(needs.has, context.options.op, state.exists), ...state }
}

/** Privileges that a load into the index may need, and those of the write check. */
const asked = ['create_doc', 'create', 'index', 'write', 'auto_configure', 'create_index', 'read', 'delete'] as const

type Privileges = Readonly<Partial<Record<(typeof asked)[number], boolean>>>

/** Returns undefined if the cluster has no security, and so no answer. */
async function askPrivileges(
  context: Context,
  route: Route,
  index: string,
): Promise<{ has: Privileges | undefined } | { failure: Failure }> {
  const body = JSON.stringify({ index: [{ names: [index], privileges: asked }] })
  const answer = await callCluster(context, route, { method: 'POST', path: '/_security/user/_has_privileges', body })
  if ('failure' in answer) return answer
  const indices = answer.json['index']
  const has = isObject(indices) ? indices[index] : undefined
  return { has: isObject(has) ? has : undefined }
}

function missingOf(
  has: Privileges | undefined,
  op: 'create' | 'index',
  exists: boolean | undefined,
): Pick<IndexFacts, 'missing' | 'mayCheckWrites'> {
  if (has === undefined) return {}
  const may = (...names: (typeof asked)[number][]) => names.some(name => has[name] === true)
  const missing = [
    ...(op === 'create' && !may('create_doc', 'create', 'index', 'write') ? ['create_doc'] : []),
    ...(op === 'index' && !may('index', 'write') ? ['index'] : []),
    // If it is unknown whether the index exists, the privilege may not be needed.
    ...(exists === false && !may('auto_configure', 'create_index') ? ['auto_configure'] : []),
  ]
  return { missing, mayCheckWrites: missing.length === 0 && may('read') && may('delete', 'write') }
}

/**
 * Without permission for the settings (403), nothing is known. If a name stands for several indices, any may be the
 * one written to.
 */
function readSettings(status: number, json: Readonly<Record<string, unknown>>): Partial<IndexFacts> {
  if (status === 404) return { exists: false }
  if (status !== 200) return {}
  const indices = Object.entries(json)
  const blocked = indices.map(([, described]) => (isObject(described) ? blocksIn(described['settings']) : []))
  const isBlocked = blocked.length > 0 && blocked.every(blocks => blocks.length > 0)
  return {
    exists: true,
    isDataStream: indices.some(([name]) => name.startsWith('.ds-')),
    ...(isBlocked ? { blocks: [...new Set(blocked.flat())] } : {}),
  }
}

function blocksIn(settings: unknown): string[] {
  if (!isObject(settings)) return []
  return ['write', 'read_only', 'read_only_allow_delete']
    .map(name => `index.blocks.${name}`)
    .filter(name => String(settings[name]) === 'true')
}
