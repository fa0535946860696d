import type { Failure } from '../failure/failure.js'
import { inquire } from './inquire.js'
import { whyUnanswered } from './lost-answer.js'
import { nameRefusal } from './name-refusal.js'
import type { Cluster } from './open-cluster.js'
import { whoAnswered } from './who-answered.js'

/** Makes all that is stored in an index findable. Resolves to why it was not, if so. Never throws: a search works without. */
export async function refresh(
  cluster: Pick<Cluster, 'client' | 'display' | 'route' | 'bounds'>,
  index: string,
): Promise<Failure | undefined> {
  try {
    const path = `/${encodeURIComponent(index)}/_refresh`
    const answer = await inquire(cluster, { method: 'POST', path, maxAnswerBytes: 1 << 16 })
    if (answer.statusCode === 200) return undefined
    return nameRefusal(answer, whoAnswered(answer, cluster.route), cluster.display)
  } catch (error) {
    return whyUnanswered(error, cluster.display)
  }
}
