import { inquire } from './inquire.js'
import type { Cluster } from './open-cluster.js'

/** Makes all that is stored in an index findable. Resolves to whether that was allowed. Never throws: a search works without. */
export async function refresh(cluster: Pick<Cluster, 'client' | 'bounds'>, index: string): Promise<boolean> {
  try {
    const path = `/${encodeURIComponent(index)}/_refresh`
    return (await inquire(cluster, { method: 'POST', path, maxAnswerBytes: 1 << 16 })).statusCode === 200
  } catch {
    return false
  }
}
