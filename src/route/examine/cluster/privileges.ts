import { jsonIn, nameRefusal, whoAnswered } from '../../cluster/answers.js'
import { type Failure, failure } from '../../../base/failure/failure.js'
import { type Operation, rowOf } from '../../../base/operation.js'
import type { Route } from '../../proxy/route.js'
import { isObject, type JsonObject } from '../../../base/json/parse-json.js'
import type { Context, Probe } from '../context.js'
import type { CheckedIndex, IdentitySeen } from '../facts.js'
import { clusterProblem } from '../obstacles.js'

/** Finds out who the credentials belong to, and what they may do with the index. */
export const privileges: Probe = {
  name: 'credentials and privileges',
  leaveOut: ({ way }, facts) => (way.credentials === undefined ? 'no credentials are set' : clusterProblem(facts)),
  look: async context => {
    await using route = context.openRoute()
    const identity = await seeIdentity(context, route)
    const { index } = context.options
    const seen =
      identity.failure === undefined && index !== undefined ? await lookAtIndex(context, route, index) : undefined
    const told = index === undefined ? 'no index is named (--index)' : seen && tellIndex(seen)
    const problems = [identity.failure, seen?.failure, ...(seen?.missing ?? []), ...(seen?.blocks ?? [])]
    return {
      detail: [tellIdentity(identity), ...(told === undefined ? [] : [told])].join(', '),
      failed: problems.some(Boolean),
      facts: { identity, index: seen },
    }
  },
}

async function seeIdentity(context: Context, route: Route): Promise<IdentitySeen> {
  const answer = await ask(context, route, '/_security/_authenticate')
  if ('failure' in answer) return answer
  if (answer.status === 401 && answer.refusal !== undefined) return { failure: answer.refusal }
  const { username, authentication_type: kind } = answer.json
  return {
    username: typeof username === 'string' ? username : undefined,
    kind: typeof kind === 'string' ? kind : undefined,
  }
}

/** Returns an answer of Elasticsearch's, or why there is none. */
async function ask(
  context: Context,
  route: Route,
  path: string,
  body?: string,
): Promise<{ status: number; json: JsonObject; refusal?: Failure | undefined } | { failure: Failure }> {
  const { prefix, headers, cluster } = context
  const method = body === undefined ? 'GET' : 'POST'
  const answer = await context.ask(route, { method, path: prefix + path, headers, body })
  if ('code' in answer) return { failure: answer }
  const answered = whoAnswered(answer, route)
  const { statusCode: status } = answer
  const isOthers = answered.by !== 'elasticsearch' && ![400, 404, 405].includes(status)
  const refusal = isOthers || status >= 300 ? nameRefusal(answer, answered, cluster) : undefined
  const isCause = isOthers || refusal?.code === 'CLUSTER_LICENSE_ENDED'
  return isCause && refusal !== undefined ? { failure: refusal } : { status, json: jsonIn(answer), refusal }
}

function tellIdentity({ username, kind, failure }: IdentitySeen): string {
  if (failure !== undefined) return failure.message
  if (username === undefined) return 'the cluster does not show the user'
  return kind === 'api_key' ? `an API key that belongs to ${username}` : username
}

function tellIndex({ index, exists, missing, blocks, failure }: CheckedIndex): string {
  if (failure !== undefined) return failure.message
  const there = exists === undefined ? '' : exists ? ', which exists' : ', which does not exist yet'
  const lacks =
    missing === undefined
      ? 'unknown privileges on'
      : missing.length > 0
        ? `lack ${missing.join(', ')} on`
        : 'may load into'
  return [`${lacks} ${index}${there}`, ...(blocks === undefined ? [] : [`blocked by ${blocks.join(', ')}`])].join(', ')
}

async function lookAtIndex(context: Context, route: Route, index: string): Promise<CheckedIndex> {
  const [needs, settings] = await Promise.all([
    askPrivileges(context, route, index),
    ask(context, route, `/${encodeURIComponent(index)}/_settings?flat_settings=true`),
  ])
  if ('failure' in needs) return { index, failure: needs.failure }
  const state = 'failure' in settings ? {} : readSettings(settings.status, settings.json)
  // Documents may name indices that do not exist yet.
  if (index.includes('*')) return { index, ...missingOf(needs.has, context.options.op, false), blocks: state.blocks }
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
  const body = JSON.stringify({ index: [{ names: [index], privileges: asked }] }) + fullPackets
  const answer = await ask(context, route, '/_security/user/_has_privileges', body)
  if ('failure' in answer) return { failure: await withoutFullPackets(context, index, answer.failure) }
  const indices = answer.json['index']
  const has = isObject(indices) ? indices[index] : undefined
  return { has: isObject(has) ? has : undefined }
}

/** Makes a request fill packets, as a bulk request does: a VPN with a wrong MTU loses these, and lets small ones pass. */
const fullPackets = ' '.repeat(8 * 1024)

/** Says if the same question is answered when it is small. The identity was answered already, over the same connection. */
async function withoutFullPackets(context: Context, index: string, failed: Failure): Promise<Failure> {
  if (failed.code !== 'CLUSTER_TIMEOUT' && failed.code !== 'PROXY_TIMEOUT') return failed
  await using route = context.openRoute()
  const body = JSON.stringify({ index: [{ names: [index], privileges: asked }] })
  const answer = await ask(context, route, '/_security/user/_has_privileges', body)
  if ('failure' in answer) return failed
  const limitMs = Number(failed.evidence['limitMs'])
  return failure('CLUSTER_TIMEOUT', { cluster: context.cluster, limitMs, lost: 'full packets' })
}

function missingOf(
  has: Privileges | undefined,
  op: Operation,
  exists: boolean | undefined,
): Pick<CheckedIndex, 'missing' | 'mayCheckWrites'> {
  if (has === undefined) return {}
  const { privileges } = rowOf(op)
  const may = (...names: (typeof asked)[number][]) => names.some(name => has[name] === true)
  const missing = [
    ...(may(...privileges) ? [] : [privileges[0]]),
    // If it is unknown whether the index exists, the privilege may not be needed.
    ...(exists === false && !may('auto_configure', 'create_index') ? ['auto_configure'] : []),
  ]
  return { missing, mayCheckWrites: missing.length === 0 && may('read') && may('delete', 'write') }
}

/**
 * Without permission for the settings (403), nothing is known. If a name stands for several indices, any may be the
 * one written to.
 */
function readSettings(status: number, json: JsonObject): Partial<CheckedIndex> {
  if (status === 404) return { exists: false }
  if (status !== 200) return {}
  const indices = Object.entries(json)
  const blocked = indices.map(([, described]) => (isObject(described) ? blocksIn(described['settings']) : []))
  const isBlocked = blocked.length > 0 && blocked.every(blocks => blocks.length > 0)
  return {
    exists: true,
    isDataStream: indices.some(([name]) => name.startsWith('.ds-')),
    blocks: isBlocked ? [...new Set(blocked.flat())] : undefined,
  }
}

function blocksIn(settings: unknown): string[] {
  if (!isObject(settings)) return []
  return ['write', 'read_only', 'read_only_allow_delete']
    .map(name => `index.blocks.${name}`)
    .filter(name => String(settings[name]) === 'true')
}
