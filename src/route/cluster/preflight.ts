/**
 * Checks access to the cluster on fresh connections. The proxy chooses the egress address for each connection: if only one of two
 * addresses is registered, half of the requests pass.
 */
import type { Clock } from '../../base/flow.js'
import { type Failure, failure, quote, SluiceError } from '../../base/failure/failure.js'
import type { Route } from '../proxy/route.js'
import { type ClusterAnswer, type ClusterInfo, nameRefusal, nameRootRefusal, TARGETS, whoAnswered } from './answers.js'
import { judgeManagedRoot } from './managed-endpoint.js'
import { parseObject } from '../../base/json/parse-json.js'
import { retryAfterMs } from '../../base/time/retry.js'
import { systemClock } from '../../base/time/clock.js'
import { ask } from './request.js'
import { askForMix, type ConnectionsToAsk } from './ask-connections.js'
import { canBeRead, signedRoot } from './read-only.js'
import { connectionEnd, type Ended } from './connection-end.js'
import { manyListeners, missChance } from '../proxy/fresh-connections.js'

export interface Preflight {
  /** Absent: the credentials may not ask GET / (needs the cluster privilege `monitor`). */
  readonly info?: ClusterInfo
  /** Fresh connections that the cluster accepted. */
  readonly probes: number
  /** Chance that one of two addresses is still refused, if each connection chooses one at random. */
  readonly missChance: number
  /** Problems that do not stop a load, and connections that broke by chance. In sentences. */
  readonly warnings: readonly string[]
  /** Present if connections fail at one node of the proxy, or at a limit: how many of them worked at once. */
  readonly half?: { readonly code: Failure['code']; readonly worked: number }
}

export interface PreflightOptions {
  readonly connections: number
  /** Path of the cluster URL, if it has one, without a slash at its end. */
  readonly prefix: string
  readonly headers: Record<string, string>
  /** Whether the URL is that of a managed ingest endpoint. */
  readonly isManaged: boolean
  /** Others bring their own credentials: a cluster that asks for some accepts the connection. */
  readonly isLoginOptional?: boolean | undefined
  /** Whether Sluice only reads the cluster: it may then have an older version, or be OpenSearch. */
  readonly isReadOnly?: boolean | undefined
  readonly timeoutMs: number
  /** The load uses the last of the connections, if all were accepted: it need not wait for another one. */
  readonly keepsLast?: boolean
  readonly signal?: AbortSignal | undefined
  /** Hears of the first connection that ended in any way but silence. */
  heard?: (() => void) | undefined
  /** Returns whether the proxy answers a greeting on a fresh connection. Absent: there is no proxy. */
  greet?: (() => Promise<boolean>) | undefined
  readonly clock?: Clock
}

interface Judged extends Ended {
  readonly info?: ClusterInfo
  /** True if the accepting answer was that of GET /, the only one that can show the version and the uuid. */
  readonly isRoot?: boolean
}

/** Longest wait that an answer may ask for before the next connection. */
const LONGEST_WAIT_MS = 30_000

/**
 * Asks on fresh connections until their ends name the cause, or enough of them were accepted.
 * Throws SluiceError: EGRESS_PARTLY_ALLOWED, EGRESS_NOT_ALLOWED, or another failure of the route.
 */
export async function preflight(route: Route, cluster: string, given: PreflightOptions): Promise<Preflight> {
  const options = { ...given, signal: given.signal && manyListeners(given.signal) }
  const mix = { cluster, proxy: route.proxy, isForwarded: route.form === 'forward' }
  const asking: ConnectionsToAsk<Judged> = {
    most: options.connections,
    ask: async (number, soFar) => {
      const isLast = number === Math.max(1, options.connections) - 1
      const asked = isRootAnswered(soFar) || isForFresh(route, number) ? number : 0
      // Some were not accepted. The next connections are opened one at a time, so no other may be open.
      if (options.keepsLast === true && number >= Math.max(1, options.connections)) route.closeSpare()
      const judged = await judge(route, cluster, options, asked, options.keepsLast === true && isLast)
      if (judged.end !== 'silent' && judged.end !== 'stuck') options.heard?.()
      return judged
    },
    greet: options.greet,
    longestWaitMs: LONGEST_WAIT_MS,
    clock: options.clock ?? systemClock,
    signal: options.signal,
  }
  const { ends, named } = await askForMix(asking, mix)
  if (named.failure !== undefined) throw new SluiceError(named.failure)
  const { warning, note } = named
  const accepted = ends.filter(({ end }) => end === 'accepted')
  const info = accepted.find(one => one.info !== undefined)?.info
  const worked = accepted.filter(({ isAlone }) => isAlone !== true).length
  return {
    ...(info === undefined ? {} : { info }),
    probes: accepted.length,
    missChance: missChance(route.proxy, accepted.length),
    warnings: [warning?.message, note].filter(text => text !== undefined),
    ...(warning === undefined ? {} : { half: { code: warning.code, worked } }),
  }
}

/** A proxy that reads requests sends GET / over a connection that it has already. Only two of six need to see the version. */
function isForFresh({ form }: Route, number: number): boolean {
  return form === 'forward' && number % 6 > 1
}

function isRootAnswered(ends: readonly Judged[]): boolean {
  return ends.some(({ end, isRoot }) => end === 'accepted' && isRoot === true)
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

async function judge(
  route: Route,
  cluster: string,
  options: PreflightOptions,
  number: number,
  isKept: boolean,
): Promise<Judged> {
  const { prefix, headers, isManaged, isLoginOptional, isReadOnly = false, timeoutMs, signal } = options
  // Only Elasticsearch knows the question with a body.
  const asked = isManaged ? { method: 'GET', path: prefix } : questionOf(route, prefix, isReadOnly ? 0 : number)
  const answer = await ask(route, { ...asked, headers, timeoutMs, signal, isKept })
  if ('code' in answer) return ended(answer)
  const isPost = asked.method === 'POST'
  const signed = isReadOnly ? signedRoot(answer) : answer
  return { ...judgeRoot(signed, route, cluster, { isPost, isManaged, isLoginOptional, isReadOnly }), isRoot: !isPost }
}

/** Says how a connection ended that was answered. `isPost`: to another question than GET /. */
export function judgeRoot(
  answer: ClusterAnswer,
  route: Route,
  cluster: string,
  {
    isPost,
    isManaged,
    isLoginOptional = false,
    isReadOnly,
  }: Pick<PreflightOptions, 'isManaged' | 'isLoginOptional' | 'isReadOnly'> & { readonly isPost: boolean },
): Judged {
  const answered = whoAnswered(answer, route)
  const { statusCode } = answer
  const wait = { retryAfterMs: retryAfterMs(answer.headers, Date.now()) }
  if (isManaged && answered.by !== 'filter') {
    const managed = judgeManagedRoot(answer, answered, cluster)
    return managed === undefined ? { end: 'accepted' } : { ...ended(managed, answered.by !== 'proxy'), ...wait }
  }
  const isPastFilter = answered.by === 'elasticsearch'
  if (isLoginOptional && isPastFilter && statusCode === 401 && answer.isWithLogin === false) return { end: 'accepted' }
  if (!isPastFilter || statusCode === 401 || statusCode === 403) {
    const refusal = nameRefusal(answer, answered, cluster)
    if (!isPastFilter || statusCode === 401 || refusal.code === 'CLUSTER_LICENSE_ENDED')
      return { ...ended(refusal, isPastFilter), ...wait }
  }
  // A cluster without security has no such endpoint, and a key with few privileges may not ask GET /. The filter allowed both.
  if ((isPost && statusCode < 500 && statusCode !== 429) || statusCode === 403) return { end: 'accepted' }
  if (statusCode !== 200) return { ...ended(nameRootRefusal(answer, answered, cluster), isPastFilter), ...wait }
  if (isPost) return { end: 'accepted' }
  const info = readClusterInfo(answer.body.toString('utf8'), cluster, isReadOnly)
  return 'code' in info ? ended(info, isPastFilter) : { end: 'accepted', info }
}

export function ended(failed: Failure, isPastFilter?: boolean): Ended {
  return { end: connectionEnd(failed), failure: failed, isPastFilter }
}

/** Reads the body of GET /. Returns a failure if it is not Elasticsearch 8, 9 or serverless, or if it cannot be read. */
export function readClusterInfo(body: string, cluster: string, isReadOnly = false): ClusterInfo | Failure {
  const info: RootAnswer | undefined = parseObject(body)
  const version = info?.version?.number
  if (info === undefined || typeof version !== 'string') {
    return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed: 'GET / holds no version.number' })
  }
  const { distribution } = info.version ?? {}
  if (distribution !== undefined && !(isReadOnly && canBeRead(version, distribution))) {
    const observed = `it calls itself ${JSON.stringify(distribution).slice(0, 40)}`
    return failure('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed })
  }
  const flavor = info.version?.build_flavor === 'serverless' ? 'serverless' : 'stack'
  const major = Number.parseInt(version, 10)
  const isKnown = isReadOnly ? canBeRead(version, distribution) : major === 8 || major === 9
  if (flavor === 'stack' && !isKnown) {
    const supports = isReadOnly ? 'reads only 7.10 and later, and OpenSearch' : TARGETS
    return failure('CLUSTER_VERSION_UNSUPPORTED', { cluster, version: version.slice(0, 40), supports })
  }
  return {
    name: typeof info.cluster_name === 'string' ? quote(info.cluster_name) : '',
    ...(typeof info.cluster_uuid === 'string' ? { uuid: info.cluster_uuid } : {}),
    version,
    flavor,
  }
}

/** Returns whether the cluster knows `include_source_on_error`. False if its version is not known. */
export function canHideSource(info: ClusterInfo | undefined): boolean {
  if (info === undefined) return false
  const [major = 0, minor = 0] = info.version.split('.', 2).map(Number)
  return info.flavor === 'serverless' || major > 8 || (major === 8 && minor >= 18)
}

interface RootAnswer {
  cluster_name?: unknown
  cluster_uuid?: unknown
  /** Products that were forked from Elasticsearch have a `distribution`. */
  version?: { number?: unknown; build_flavor?: unknown; distribution?: unknown } | null
}
