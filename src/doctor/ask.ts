import type { Refusal } from '../servicenow/calls/judge-refusal.js'
import { isBroken } from '../cluster/preflight.js'
import { type ClusterAnswer, nameRefusal, whoAnswered } from '../cluster/answers.js'
import type { Failure } from '../failure/failure.js'
import { askUnbroken } from '../proxy/fresh-connections.js'
import type { Route } from '../proxy/route.js'
import type { Asked, Context, DoctorLine } from './context.js'
import type { InstanceAnswer } from '../servicenow/calls/answer.js'
import { parseObject } from '../text/parse-json.js'

/** A connection that took longer to break will not be better a second time, and a person waits. */
export const BREAKS_WITHIN_MS = 1_000

/**
 * Asks on fresh connections until one does not break, like a preflight. One broken connection among many is no
 * finding.
 */
export async function askAgain(
  { ask, clock }: Context,
  route: Route,
  asked: Asked,
): Promise<{ readonly answer: ClusterAnswer | Failure; readonly broken: number }> {
  const until = clock.now() + BREAKS_WITHIN_MS
  return await askUnbroken(
    async () => await ask(route, asked),
    answer => isBroken(answer) && clock.now() < until,
  )
}

/** An answer of Elasticsearch's, or why there is none. */
export async function callCluster(
  { ask, prefix, headers, cluster }: Context,
  route: Route,
  asked: Asked,
): Promise<
  { status: number; json: Readonly<Record<string, unknown>>; refusal?: Failure | undefined } | { failure: Failure }
> {
  const answer = await ask(route, { ...asked, path: prefix + asked.path, headers })
  if ('code' in answer) return { failure: answer }
  const answered = whoAnswered(answer, route)
  const { statusCode: status } = answer
  const refusal = status < 300 ? undefined : nameRefusal(answer, answered, cluster)
  const isOthers = answered.by !== 'elasticsearch' && ![400, 404, 405].includes(status)
  return isOthers
    ? { failure: refusal ?? nameRefusal(answer, answered, cluster) }
    : { status, json: parseObject(answer.body) ?? {}, refusal }
}

/** Asks until a connection does not break. One broken connection among many is no finding. */
export async function askInstance(
  { clock, dates, today }: Context,
  line: DoctorLine,
  { method = 'GET', path, headers = {} }: Asked,
): Promise<{ readonly answer: InstanceAnswer | Refusal; readonly broken: number }> {
  const until = clock.now() + BREAKS_WITHIN_MS
  const asked = await askUnbroken(
    async () => await line.ask({ method, path, headers }),
    answer => 'is' in answer && isCut(answer.failure) && clock.now() < until,
  )
  const date = 'is' in asked.answer ? undefined : asked.answer.headers.date
  if (date !== undefined) dates.push({ header: date, at: today(), from: 'the instance' })
  return asked
}

/** A closed connection is no answer. A status is one. */
export function isCut({ code, evidence }: Failure): boolean {
  return (code === 'SERVICENOW_UNREACHABLE' && evidence['status'] === undefined) || code === 'PROXY_UNREACHABLE'
}

/** Returns the same route, with every request counted. */
export function counted(route: Route, count: () => void): Route {
  return {
    target: route.target,
    form: route.form,
    proxy: route.proxy,
    get traffic() {
      return route.traffic
    },
    request: async request => {
      count()
      return await route.request(request)
    },
    once: async request => {
      count()
      return await route.once(request)
    },
    renewProxy: proxy => route.renewProxy(proxy),
    close: async () => await route.close(),
    destroy: async error => await route.destroy(error),
    [Symbol.asyncDispose]: async () => await route[Symbol.asyncDispose](),
  }
}
