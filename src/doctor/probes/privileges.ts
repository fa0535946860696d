import { isObject } from '../../cluster/call.js'
import { nameRefusal } from '../../cluster/name-refusal.js'
import { type Answer, whoAnswered } from '../../cluster/who-answered.js'
import type { Failure } from '../../failure/failure.js'
import type { Route } from '../../proxy/route.js'
import type { Asked, Context } from '../context.js'
import type { IdentitySeen, IndexSeen } from '../facts.js'
import type { Probe } from '../probe.js'
import { clusterProblem } from '../way-so-far.js'

/** Who the credentials are, and what they may do with the index. */
export const privileges: Probe = {
  name: 'credentials and privileges',
  leaveOut: ({ way }, facts) => (way.credentials === undefined ? 'no credentials are set' : clusterProblem(facts)),
  look: async context => {
    await using route = context.openRoute()
    const identity = await seeIdentity(context, route)
    const { index } = context.options
    const seen =
      identity.failure === undefined && index !== undefined ? await seeIndex(context, route, index) : undefined
    const told = [tellIdentity(identity), seen === undefined ? undefined : tellIndex(seen)]
    return {
      detail: [
        ...told.filter(text => text !== undefined),
        ...(index === undefined ? ['no index is named (--index)'] : []),
      ].join('; '),
      failed:
        [identity.failure, seen?.failure].some(Boolean) ||
        (seen?.missing ?? []).length + (seen?.blocks ?? []).length > 0,
      facts: { identity, ...(seen === undefined ? {} : { index: seen }) },
    }
  },
}

/** An answer of Elasticsearch's, or why there is none. */
async function call(
  { ask, prefix, headers, cluster }: Context,
  route: Route,
  asked: Asked,
): Promise<{ status: number; json: Readonly<Record<string, unknown>>; refusal?: Failure } | { failure: Failure }> {
  const json = asked.body === undefined ? {} : { 'content-type': 'application/json' }
  const answer = await ask(route, { ...asked, path: prefix + asked.path, headers: { ...headers, ...json } })
  if ('code' in answer) return { failure: answer }
  const answered = whoAnswered(answer, route)
  const { statusCode: status } = answer
  if (answered.by !== 'elasticsearch' && status !== 404 && status !== 405 && status !== 400)
    return { failure: nameRefusal(answer, answered, cluster) }
  return { status, json: parse(answer), ...(status < 300 ? {} : { refusal: nameRefusal(answer, answered, cluster) }) }
}

async function seeIdentity(context: Context, route: Route): Promise<IdentitySeen> {
  const answer = await call(context, route, { path: '/_security/_authenticate' })
  if ('failure' in answer) return answer
  if (answer.status === 401 && answer.refusal !== undefined) return { failure: answer.refusal }
  const { username, authentication_type: kind } = answer.json
  return {
    ...(typeof username === 'string' ? { username } : {}),
    ...(typeof kind === 'string' ? { kind } : {}),
  }
}

async function seeIndex(context: Context, route: Route, index: string): Promise<IndexSeen> {
  const [needs, settings] = await Promise.all([
    askPrivileges(context, route, index),
    call(context, route, { path: `/${encodeURIComponent(index)}/_settings?flat_settings=true` }),
  ])
  if ('failure' in needs) return { index, failure: needs.failure }
  const state = 'failure' in settings ? {} : readSettings(settings.status, settings.json)
  return { index, ...missingOf(needs.has, context.options.op ?? 'create', state.exists), ...state }
}

/** What a load into the index may need, and the write check besides. */
const asked = ['create_doc', 'create', 'index', 'write', 'auto_configure', 'create_index', 'read', 'delete'] as const

type Privileges = Readonly<Partial<Record<(typeof asked)[number], boolean>>>

/** Undefined where the cluster does not tell: one without security. */
async function askPrivileges(
  context: Context,
  route: Route,
  index: string,
): Promise<{ has: Privileges | undefined } | { failure: Failure }> {
  const body = JSON.stringify({ index: [{ names: [index], privileges: asked }] })
  const answer = await call(context, route, { method: 'POST', path: '/_security/user/_has_privileges', body })
  if ('failure' in answer) return answer
  const indices = answer.json['index']
  const has = isObject(indices) ? indices[index] : undefined
  return { has: isObject(has) ? has : undefined }
}

function missingOf(
  has: Privileges | undefined,
  op: 'create' | 'index',
  exists: boolean | undefined,
): Pick<IndexSeen, 'missing' | 'mayCheckWrites'> {
  if (has === undefined) return {}
  const may = (...names: (typeof asked)[number][]) => names.some(name => has[name] === true)
  const missing = [
    ...(op === 'create' && !may('create_doc', 'create', 'index', 'write') ? ['create_doc'] : []),
    ...(op === 'index' && !may('index', 'write') ? ['index'] : []),
    // Where it is not known whether the index exists, nobody would miss it.
    ...(exists === false && !may('auto_configure', 'create_index') ? ['auto_configure'] : []),
  ]
  return { missing, mayCheckWrites: missing.length === 0 && may('read') && may('delete', 'write') }
}

/** Credentials that may not see the settings (403) tell nothing. Of several indices behind one name any may be the one written to. */
function readSettings(status: number, json: Readonly<Record<string, unknown>>): Partial<IndexSeen> {
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

function parse({ body }: Answer): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function tellIdentity({ username, kind, failure }: IdentitySeen): string {
  if (failure !== undefined) return failure.message
  if (username === undefined) return 'the cluster does not tell who asks'
  return kind === 'api_key' ? `an API key of ${username}` : username
}

function tellIndex({ index, exists, missing, blocks, failure }: IndexSeen): string {
  if (failure !== undefined) return failure.message
  const there = exists === undefined ? '' : exists ? ', which exists' : ', which does not exist yet'
  const lacks =
    missing === undefined
      ? 'nobody tells what they may do with'
      : missing.length > 0
        ? `lack ${missing.join(', ')} on`
        : 'may load into'
  return [`${lacks} ${index}${there}`, ...(blocks === undefined ? [] : [`blocked by ${blocks.join(', ')}`])].join('; ')
}
