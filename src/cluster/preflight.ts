/**
 * Checks access to the cluster on fresh connections. The proxy chooses the egress address for each connection: if only one of two
 * addresses is registered, half of the requests pass.
 */
import { fail } from '../failure/fail.js'
import { type Failure, failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { Route } from '../proxy/route.js'
import { type ClusterInfo, readClusterInfo } from './version.js'
import { type ClusterAnswer, nameRefusal, nameRootRefusal, whoAnswered } from './answers.js'
import { ask } from './request.js'
import { askInWaves, askUnbroken, manyListeners, missChance } from '../proxy/fresh-connections.js'

export interface Preflight {
  /** Absent: the credentials may not ask GET / (needs the cluster privilege `monitor`). */
  readonly info?: ClusterInfo
  /** Fresh connections that were judged, and how many of them the IP filter allowed. */
  readonly probes: number
  readonly allowed: number
  /** Chance that one of two addresses is still refused, if each connection chooses one at random. */
  readonly missChance: number
}

export interface PreflightOptions {
  /** Connections that have to agree. 1 asks once. */
  readonly connections: number
  /** Path of the cluster URL, if it has one, without a slash at its end. */
  readonly prefix: string
  readonly headers: Record<string, string>
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

type Judged =
  | { readonly verdict: 'allowed'; readonly info?: ClusterInfo }
  | { readonly verdict: 'refused'; readonly failure: Failure }
  | { readonly verdict: 'failed'; readonly failure: Failure; readonly passedFilter: boolean }

/**
 * Sends waves of probes until both verdicts of the IP filter were seen or `connections` of them agree.
 * Throws SluiceError: EGRESS_PARTLY_ALLOWED, EGRESS_NOT_ALLOWED, or another failure of the route.
 */
export async function preflight(route: Route, cluster: string, given: PreflightOptions): Promise<Preflight> {
  const options = given.signal === undefined ? given : { ...given, signal: manyListeners(given.signal) }
  const judged = await askInWaves<Judged>({
    most: options.connections,
    ask: async number => await judge(route, cluster, options, number),
    isSettled: answers => failureOf(answers, cluster) !== undefined,
  })
  const found = failureOf(judged, cluster)
  if (found !== undefined) throw new SluiceError(found)
  const refused = judged.find(one => one.verdict === 'refused')
  if (refused !== undefined) {
    throw fail('EGRESS_NOT_ALLOWED', {
      cluster,
      observed: 'it refuses every connection',
      ...refused.failure.evidence,
      refused: judged.length,
      probes: judged.length,
    })
  }
  const info = judged.find(one => one.verdict === 'allowed')?.info
  return {
    ...(info === undefined ? {} : { info }),
    probes: judged.length,
    allowed: judged.length,
    missChance: missChance(route.proxy, judged.length),
  }
}

function failureOf(judged: readonly Judged[], cluster: string): Failure | undefined {
  const refused = judged.filter(one => one.verdict === 'refused')
  const failed = judged.find(one => one.verdict === 'failed')
  const passed = judged.some(one => one.verdict === 'allowed' || (one.verdict === 'failed' && one.passedFilter))
  const first = refused[0]
  if (first !== undefined && passed) {
    const evidence = { ...first.failure.evidence, cluster, refused: refused.length, probes: judged.length }
    return failure('EGRESS_PARTLY_ALLOWED', evidence)
  }
  return failed?.failure
}

export function isBroken(answer: ClusterAnswer | Failure): boolean {
  return 'code' in answer && (answer.code === 'PROXY_UNREACHABLE' || answer.code === 'CLUSTER_UNAVAILABLE')
}

/**
 * Returns the request of a probe. If the target is http, a forwarding proxy may choose the address for each request with a body. So
 * all probes but the first have a body.
 */
export function questionOf(route: Route, prefix: string, number: number) {
  return route.form === 'forward' && number > 0
    ? { method: 'POST', path: `${prefix}/_security/user/_has_privileges`, body: '{"cluster":["monitor"]}' }
    : { method: 'GET', path: `${prefix}/` }
}

async function judge(route: Route, cluster: string, options: PreflightOptions, number: number): Promise<Judged> {
  const asked = questionOf(route, options.prefix, number)
  const post = asked.method === 'POST'
  const question = {
    ...asked,
    headers: options.headers,
    timeoutMs: options.timeoutMs,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  }
  const { answer } = await askUnbroken(async () => await ask(route, question), isBroken)
  if ('code' in answer) return { verdict: 'failed', failure: answer, passedFilter: false }
  const answered = whoAnswered(answer, route)
  const { statusCode } = answer
  if (answered.by === 'filter') return { verdict: 'refused', failure: nameRefusal(answer, answered, cluster) }
  if (answered.by !== 'elasticsearch') {
    return { verdict: 'failed', failure: nameRefusal(answer, answered, cluster), passedFilter: false }
  }
  if (statusCode === 401)
    return { verdict: 'failed', failure: nameRefusal(answer, answered, cluster), passedFilter: true }
  // A cluster without security has no such endpoint, and a key with few privileges may not ask GET /. The filter allowed both.
  if (post || statusCode === 403) return { verdict: 'allowed' }
  if (statusCode !== 200)
    return { verdict: 'failed', failure: nameRootRefusal(answer, answered, cluster), passedFilter: true }
  const info = readClusterInfo(answer.body.toString('utf8'), cluster)
  return 'code' in info ? { verdict: 'failed', failure: info, passedFilter: true } : { verdict: 'allowed', info }
}
