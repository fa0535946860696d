import { questionOf } from '../../../cluster/preflight.js'
import { type ClusterAnswer, nameRefusal, nameRootRefusal, whoAnswered } from '../../../cluster/answers.js'
import { type ClusterInfo, readClusterInfo } from '../../../cluster/version.js'
import type { Failure } from '../../../failure/failure.js'
import type { Route } from '../../../proxy/route.js'
import { askAgain } from '../../ask.js'
import type { Context, Probe } from '../../context.js'
import { type FilterSeen, pathProblem } from '../../facts.js'
import { percent } from '../../report.js'
import { askInWaves, countVerdicts, type FreshAnswer } from '../../../proxy/fresh-connections.js'

/**
 * Sends GET / on fresh connections, like a load's preflight, but asks all of them, so that the refused share is
 * known.
 */
export const filter: Probe = {
  name: 'IP filter',
  leaveOut: (_, facts) => pathProblem(facts),
  look: async context => {
    const seen = await seeFilter(context)
    return { detail: tell(seen), failed: seen.refused > 0 || seen.failure !== undefined, facts: { filter: seen } }
  },
}

interface Judged extends FreshAnswer {
  readonly failure?: Failure | undefined
  readonly rejected?: Failure | undefined
  readonly info?: ClusterInfo | undefined
}

async function seeFilter(context: Context): Promise<FilterSeen> {
  await using route = context.openRoute()
  const judged = await askInWaves<Judged>({
    most: context.connections,
    ask: async (number, soFar) => {
      // Refused credentials have shown all that they can: any answer of the cluster shows that it accepted the connection.
      const headers = soFar.some(({ rejected }) => rejected !== undefined) ? {} : context.headers
      return await judge(context, route, headers, number)
    },
    isSettled: answers => answers.some(({ verdict }) => verdict === 'failed'),
  })
  const { observed, status, requestId } = judged.find(({ verdict }) => verdict === 'refused')?.failure?.evidence ?? {}
  const failed = judged.find(one => one.verdict !== 'refused' && one.failure !== undefined)?.failure
  const rejected = judged.find(one => one.rejected !== undefined)?.rejected
  const info = judged.find(one => one.info !== undefined)?.info
  return {
    ...countVerdicts(judged, route.proxy),
    observed: typeof observed === 'string' ? observed : undefined,
    status: typeof status === 'number' ? status : undefined,
    requestId: typeof requestId === 'string' ? requestId : undefined,
    failure: failed,
    rejected,
    info,
  }
}

async function judge(
  context: Context,
  route: Route,
  headers: Readonly<Record<string, string>>,
  number: number,
): Promise<Judged> {
  const question = { ...questionOf(route, context.prefix, number), headers }
  const { answer, broken } = await askAgain(context, route, question)
  if ('code' in answer) return { verdict: 'failed', broken, failure: answer }
  noteDate(context, answer)
  return { broken, ...judgeAnswer(answer, route, context.cluster, question.method === 'POST') }
}

function judgeAnswer(answer: ClusterAnswer, route: Route, cluster: string, isPost: boolean): Omit<Judged, 'broken'> {
  const answered = whoAnswered(answer, route)
  const { statusCode } = answer
  const refusal = (): Failure => nameRefusal(answer, answered, cluster)
  if (answered.by === 'filter') return { verdict: 'refused', failure: refusal() }
  if (answered.by !== 'elasticsearch') return { verdict: 'failed', failure: refusal() }
  if (statusCode === 401) return { verdict: 'allowed', rejected: refusal() }
  // A cluster without security has no such endpoint, and a least-privilege key may not ask GET /: both were let through.
  if (isPost || statusCode === 403) return { verdict: 'allowed' }
  if (statusCode !== 200) return { verdict: 'allowed', failure: nameRootRefusal(answer, answered, cluster) }
  const info = readClusterInfo(answer.body.toString('utf8'), cluster)
  return 'code' in info ? { verdict: 'allowed', failure: info } : { verdict: 'allowed', info }
}

function noteDate({ dates, today }: Context, { headers }: ClusterAnswer): void {
  const { date } = headers
  if (typeof date === 'string') dates.push({ header: date, at: today(), from: 'the cluster' })
}

function tell({ probes, allowed, refused, failure, rejected, info, missChance }: FilterSeen): string {
  const isAgreed = failure === undefined && (refused === 0 || allowed === 0) && missChance > 0
  const other = refused === 0 ? 'blocked' : 'allowed'
  return [
    refused > 0 ? `${refused} of ${probes} connections refused` : `${allowed} of ${probes} connections accepted`,
    ...(info === undefined ? [] : [`Elasticsearch ${info.flavor === 'serverless' ? 'serverless' : info.version}`]),
    ...(isAgreed ? [`Chance that one address is still ${other}: ${percent(missChance)}`] : []),
    ...(rejected === undefined ? [] : ['The cluster refuses the credentials (401)']),
    ...(failure === undefined ? [] : [failure.message]),
  ].join('. ')
}
