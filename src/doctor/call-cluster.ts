import { nameRefusal, whoAnswered } from '../cluster/answers.js'
import type { Failure } from '../failure/failure.js'
import type { Route } from '../proxy/route.js'
import { parseObject } from '../text/json.js'
import type { Asked, Context } from './context.js'

/** An answer of Elasticsearch's, or why there is none. */
export async function callCluster(
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
  return {
    status,
    json: parseObject(answer.body) ?? {},
    ...(status < 300 ? {} : { refusal: nameRefusal(answer, answered, cluster) }),
  }
}
