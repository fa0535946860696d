/** Asks which privileges the credentials have, before Sluice needs them. */
import { fail, isSluiceError, type SluiceError } from '../../base/failure/failure.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import { jsonIn } from './answers.js'
import { type ReachedCluster, inquire } from './request.js'

/**
 * Checks that the credentials may search and delete documents of an index. A cluster without security does not say. For an alias
 * the answer would be about the alias only. Throws SluiceError CLUSTER_PRIVILEGE_MISSING if they may not.
 */
export async function mayDelete(cluster: ReachedCluster, index: string): Promise<void> {
  const has = await askPrivileges(cluster, index, ['read', 'delete', 'write'])
  if (has === undefined) return
  const missing = [
    ...(has['read'] === false ? ['read'] : []),
    ...(has['delete'] === false && has['write'] === false ? ['delete'] : []),
  ]
  if (missing.length === 0) return
  throw lacks(cluster, index, missing, 'Sluice cannot delete the documents of deleted rows')
}

/**
 * Checks that the credentials may change settings and mapping of an index. A cluster without security does not say. `what`: what
 * Sluice cannot do. Throws SluiceError CLUSTER_PRIVILEGE_MISSING if they may not.
 */
export async function mayManage(cluster: ReachedCluster, index: string, what: string): Promise<void> {
  const has = await askPrivileges(cluster, index, ['manage'])
  if (has?.['manage'] === false) throw lacks(cluster, index, ['manage'], what)
}

/**
 * Checks that the credentials may search indices. A search through a list of names shows nothing of those that they may not read, and
 * does not say so. A cluster without security does not answer. `what`: what Sluice cannot do. Throws SluiceError CLUSTER_PRIVILEGE_MISSING.
 */
export async function mayRead(cluster: ReachedCluster, indices: readonly string[], what: string): Promise<void> {
  for (let at = 0; at < indices.length; at += NAMES_AT_ONCE) {
    const has = await askPrivilegesOn(cluster, indices.slice(at, at + NAMES_AT_ONCE), ['read'])
    for (const [index, privileges] of has ?? [])
      if (privileges['read'] === false) throw lacks(cluster, index, ['read'], what)
  }
}

const NAMES_AT_ONCE = 500
const ANSWER_BYTES = 1 << 18

function lacks(cluster: ReachedCluster, index: string, missing: readonly string[], what: string): SluiceError {
  const reason = `${what} without ${missing.join(' and ')} on ${index}`
  return fail('CLUSTER_PRIVILEGE_MISSING', { cluster: cluster.display, status: 403, reason, missing, index })
}

async function askPrivileges(
  cluster: ReachedCluster,
  index: string,
  privileges: readonly string[],
): Promise<JsonObject | undefined> {
  return (await askPrivilegesOn(cluster, [index], privileges))?.get(index)
}

/** Returns the privileges by index. Undefined if the cluster does not say. */
async function askPrivilegesOn(
  cluster: ReachedCluster,
  names: readonly string[],
  privileges: readonly string[],
): Promise<ReadonlyMap<string, JsonObject> | undefined> {
  const path = '/_security/user/_has_privileges'
  const body = { index: [{ names, privileges }] }
  try {
    const answer = await inquire(cluster, { method: 'POST', path, body, maxAnswerBytes: ANSWER_BYTES })
    if (answer.statusCode !== 200) return undefined
    const { index: of } = jsonIn(answer)
    if (!isObject(of)) return undefined
    return new Map(Object.entries(of).flatMap(([name, has]) => (isObject(has) ? [[name, has] as const] : [])))
  } catch (error) {
    if (isSluiceError(error)) throw error
    // The request itself will show it.
    return undefined
  }
}
