/** What is asked of a loaded index before an alias leads to it. */
import { call, isObject } from './call.js'
import type { Cluster } from './open-cluster.js'

/** Makes all documents visible. Throws SluiceError: see `call`. */
export async function makeVisible(cluster: Cluster, index: string): Promise<void> {
  await call(cluster, { method: 'POST', path: `/${encodeURIComponent(index)}/_refresh` })
}

export interface Counted {
  readonly documents: number
  /** Shards that did not answer: their documents are not counted. */
  readonly failedShards: number
}

/** Documents in an index, those alone that match a query where one is given. Throws SluiceError: see `call`. */
export async function countDocuments(cluster: Cluster, index: string, query?: object): Promise<Counted> {
  const path = `/${encodeURIComponent(index)}/_count`
  const { json } = await call(cluster, { method: 'POST', path, ...(query === undefined ? {} : { body: { query } }) })
  const { count, _shards: shards } = json
  const failed = isObject(shards) ? shards['failed'] : undefined
  return {
    documents: typeof count === 'number' ? count : 0,
    failedShards: typeof failed === 'number' ? failed : 0,
  }
}

/** How its copies stand. `unknown`: the credentials may not ask (needs the cluster privilege `monitor`). */
export type Health = 'green' | 'yellow' | 'red' | 'unknown'

/** Waits up to `seconds` on the cluster's side for every copy. Does not wait for copies that have no node to be on. */
export async function waitForCopies(cluster: Cluster, index: string, seconds: number): Promise<Health> {
  const path = `/_cluster/health/${encodeURIComponent(index)}`
  const now = await askHealth(cluster, path, {})
  if (now.health !== 'yellow' || now.dataNodes < 2) return now.health
  return (await askHealth(cluster, path, { wait_for_status: 'green', timeout: `${seconds}s` })).health
}

async function askHealth(
  cluster: Cluster,
  path: string,
  query: Readonly<Record<string, string>>,
): Promise<{ health: Health; dataNodes: number }> {
  // 408: the time was over first. The answer tells how it stands all the same.
  const { json } = await call(cluster, { method: 'GET', path, query, expects: [408, 'security_exception'] })
  const { status: health, number_of_data_nodes: dataNodes } = json
  if (health !== 'green' && health !== 'yellow' && health !== 'red') return { health: 'unknown', dataNodes: 0 }
  return { health, dataNodes: typeof dataNodes === 'number' ? dataNodes : 0 }
}
