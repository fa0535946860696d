import { ended, judgeRoot, questionOf } from '../../cluster/preflight.js'
import { isManaged as seeManaged } from '../../cluster/managed-endpoint.js'
import { askForMix } from '../../cluster/ask-connections.js'
import { explain, type Failure } from '../../../base/failure/failure.js'
import type { Route } from '../../proxy/route.js'
import type { Context, Probe } from '../context.js'
import type { FilterSeen } from '../facts.js'
import { noteDate } from '../means.js'
import { pathProblem } from '../obstacles.js'
import { percent } from '../../../base/text/shown.js'
import { missChance } from '../../proxy/fresh-connections.js'

/** Sends GET / on fresh connections, like a preflight, but on all of them, so that the refused share is known. */
export const filter: Probe = {
  name: 'IP filter',
  leaveOut: (_, facts) => pathProblem(facts),
  look: async context => {
    const seen = await seeFilter(context)
    return {
      detail: tell(seen, Object.keys(context.headers).length > 0),
      failed: seen.refused > 0 || seen.failure !== undefined,
      facts: { filter: seen },
    }
  },
}

type Judged = ReturnType<typeof judgeRoot> & { readonly rejected?: Failure | undefined }

async function seeFilter(context: Context): Promise<FilterSeen> {
  const { connections, greet, limitMs, clock, signal, cluster } = context
  await using route = context.openRoute()
  const { url } = context.way
  const isManaged = await seeManaged(route, { url, headers: context.headers, timeoutMs: limitMs, signal })
  const asking = {
    most: connections,
    isWhole: true,
    ask: async (number: number, soFar: readonly Judged[]) => {
      // Refused credentials have shown all that they can: any answer of the cluster shows that it accepted the connection.
      const headers = soFar.some(({ rejected }) => rejected !== undefined) ? {} : context.headers
      return await judge(context, route, { isManaged, headers, number })
    },
    greet,
    longestWaitMs: limitMs,
    clock,
    signal,
  } as const
  const mix = { cluster, proxy: route.proxy, isForwarded: route.form === 'forward' }
  const { ends, named } = await askForMix<Judged>(asking, mix)
  const { failure, warning } = named
  const refusals = ends.filter(({ end }) => end === 'filtered')
  const { observed, status, requestId } = refusals[0]?.failure?.evidence ?? {}
  const [allowed, refused] = [ends.filter(({ end }) => end === 'accepted').length, refusals.length]
  const isRefusal = refused > 0 && failure !== undefined && explain(failure.code).stage === 'egress'
  return {
    probes: ends.length,
    allowed,
    refused,
    broken: ends.length - allowed - refused,
    missChance: missChance(route.proxy, Math.max(allowed, refused)),
    observed: typeof observed === 'string' ? observed : undefined,
    status: typeof status === 'number' ? status : undefined,
    requestId: typeof requestId === 'string' ? requestId : undefined,
    // A refusal of the filter is named together with what the nodes show.
    failure: isRefusal ? undefined : failure && (await context.nameTlsTarget(failure)),
    warning,
    rejected: ends.find(one => one.rejected !== undefined)?.rejected,
    info: ends.find(one => one.info !== undefined)?.info,
    ...(isManaged ? { isManaged } : {}),
  }
}

interface Asking {
  readonly isManaged: boolean
  readonly headers: Readonly<Record<string, string>>
  readonly number: number
}

async function judge(context: Context, route: Route, { isManaged, headers, number }: Asking): Promise<Judged> {
  const asked = isManaged ? { method: 'GET', path: context.prefix } : questionOf(route, context.prefix, number)
  const answer = await context.askOnce(route, { ...asked, headers })
  if ('code' in answer) return ended(answer)
  noteDate(context, answer.headers['date'], 'the cluster')
  const judged = judgeRoot(answer, route, context.cluster, { isPost: asked.method === 'POST', isManaged })
  if (judged.end !== 'credentials' || judged.isPastFilter !== true) return judged
  return { end: 'accepted', rejected: judged.failure }
}

function tell(seen: FilterSeen, hasCredentials: boolean): string {
  const { probes, allowed, refused, failure, rejected, info, isManaged, missChance } = seen
  const isAgreed = failure === undefined && (refused === 0 || allowed === 0) && missChance > 0
  const other = refused === 0 ? 'blocked' : 'allowed'
  return [
    refused > 0 ? `${refused} of ${probes} connections refused` : `${allowed} of ${probes} connections accepted`,
    ...(info === undefined ? [] : [`Elasticsearch ${info.flavor === 'serverless' ? 'serverless' : info.version}`]),
    ...(isManaged === true ? ['Managed ingest endpoint'] : []),
    ...(isAgreed ? [`Chance that one address is still ${other}: ${percent(missChance)}`] : []),
    ...(rejected === undefined
      ? []
      : [hasCredentials ? 'The cluster refuses the credentials (401)' : 'The cluster asks for credentials (401)']),
    ...(failure === undefined ? [] : [failure.message]),
  ].join('. ')
}
