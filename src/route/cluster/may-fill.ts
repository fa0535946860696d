/** Asks before a load whether its credentials may create the indices of a pattern, and write to them. */
import { rowOf } from '../../base/operation.js'
import { isObject } from '../../base/json/parse-json.js'
import { jsonIn } from './answers.js'
import type { Filling } from './indices.js'
import { type ReachedCluster, inquire } from './request.js'

const MAKING = ['auto_configure', 'create_index']

/** Returns warnings. Returns none if the cluster does not say. Never throws. */
export async function mayFill(cluster: ReachedCluster, { wildcard, op, signal }: Filling): Promise<readonly string[]> {
  const { privileges } = rowOf(op)
  const [has, allowed] = await Promise.all([
    askHas(cluster, wildcard, privileges, signal),
    askAutoCreate(cluster, signal),
  ])
  const warnings: string[] = []
  if (has !== undefined && !privileges.some(name => has[name] === true))
    warnings.push(`the credentials may not write to all indices ${wildcard}: they lack ${privileges[0]}`)
  if (!rowOf(op).makesIndex) return warnings
  if (has !== undefined && !MAKING.some(name => has[name] === true))
    warnings.push(
      `the credentials may not create all indices ${wildcard}: they lack ${MAKING.join(' or ')}. An index must exist before its documents`,
    )
  if (allowed === false)
    warnings.push(
      'the cluster creates no index for a document (action.auto_create_index is false), unless a template of a data stream matches',
    )
  return warnings
}

async function askHas(cluster: ReachedCluster, wildcard: string, names: readonly string[], signal?: AbortSignal) {
  const path = '/_security/user/_has_privileges'
  const body = { index: [{ names: [wildcard], privileges: [...names, ...MAKING] }] }
  const json = await ask(cluster, { method: 'POST', path, body }, signal)
  const of = json?.['index']
  const has = isObject(of) ? of[wildcard] : undefined
  return isObject(has) ? has : undefined
}

/** Returns undefined if the setting is a list of patterns, or not shown. */
async function askAutoCreate(cluster: ReachedCluster, signal?: AbortSignal): Promise<boolean | undefined> {
  const path = '/_cluster/settings'
  const query = { include_defaults: 'true', flat_settings: 'true', filter_path: '*.action.auto_create_index' }
  const json = await ask(cluster, { method: 'GET', path, query }, signal)
  for (const layer of ['transient', 'persistent', 'defaults']) {
    const of = json?.[layer]
    const value = isObject(of) ? of['action.auto_create_index'] : undefined
    if (value === 'false' || value === 'true') return value === 'true'
    if (value !== undefined) return undefined
  }
  return undefined
}

async function ask(
  cluster: ReachedCluster,
  question: Omit<Parameters<typeof inquire>[1], 'maxAnswerBytes'>,
  signal?: AbortSignal,
) {
  try {
    const answer = await inquire(cluster, { ...question, maxAnswerBytes: 1 << 16, signal })
    return answer.statusCode === 200 ? jsonIn(answer) : undefined
  } catch {
    // The load itself will show it.
    return undefined
  }
}
