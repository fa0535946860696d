import { fail } from '../failure/fail.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { isObject } from './call.js'
import { inquire } from './inquire.js'
import type { Cluster } from './open-cluster.js'

/**
 * Whether documents of an index may be searched and deleted, as far as the cluster tells: one without security does not.
 * `isNamed`: it is the name of an index, or of none yet; of an alias the answer would be about the alias alone.
 * Throws SluiceError CLUSTER_PRIVILEGE_MISSING where it says that they may not.
 */
export async function mayDelete(
  cluster: Pick<Cluster, 'client' | 'display' | 'bounds'>,
  index: string,
  { isNamed }: { readonly isNamed: boolean },
): Promise<void> {
  if (!isNamed) return
  const has = await askPrivileges(cluster, index)
  if (has === undefined) return
  const missing = [
    ...(has['read'] === false ? ['read'] : []),
    ...(has['delete'] === false && has['write'] === false ? ['delete'] : []),
  ]
  if (missing.length === 0) return
  const reason = `deleted rows cannot be followed without ${missing.join(' and ')} on ${index}`
  throw fail('CLUSTER_PRIVILEGE_MISSING', { cluster: cluster.display, status: 403, reason, missing, index })
}

async function askPrivileges(
  cluster: Pick<Cluster, 'client' | 'bounds'>,
  index: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const path = '/_security/user/_has_privileges'
  const body = { index: [{ names: [index], privileges: ['read', 'delete', 'write'] }] }
  try {
    const answer = await inquire(cluster, { method: 'POST', path, body, maxAnswerBytes: 1 << 16 })
    if (answer.statusCode !== 200) return undefined
    const told: unknown = JSON.parse(answer.body.toString('utf8'))
    const indices = isObject(told) && isObject(told['index']) ? told['index'][index] : undefined
    return isObject(indices) ? indices : undefined
  } catch (error) {
    if (isSluiceError(error)) throw error
    // Whether it may, the deletion itself will tell.
    return undefined
  }
}
