import { authorization } from '../cluster/credentials.js'
import { ask } from '../cluster/request.js'
import { manyListeners } from '../proxy/fresh-connections.js'
import { refusePlaintext } from '../cluster/open-cluster.js'
import type { Failure } from '../failure/failure.js'
import { isSluiceError } from '../failure/sluice-error.js'
import { targetTls, type ResolvedTarget } from '../connect/open-target.js'
import { openRoute } from '../proxy/route.js'
import { counted } from './ask.js'
import type { DoctorSection } from './doctor-options.js'
import { connectionsFor, openInstanceContext } from './open-instance-context.js'
import type { Context, Ways } from './context.js'

/** A load may wait for minutes. Here a person waits, so a longer delay is a finding. */
const PATIENCE_MS = 4_000

export function openContext(
  options: DoctorSection,
  { way, hasCluster, instance }: Ways,
  { clock, today, ...given }: Pick<Context, 'clock' | 'today' | 'signal'>,
): Context {
  const { target, timeoutMs } = options.connecting
  const proxyTls = { ca: options.connecting.proxy.ca }
  const signal = given.signal === undefined ? undefined : manyListeners(given.signal)
  const limitMs = Math.min(timeoutMs, PATIENCE_MS)
  const plaintext = plaintextProblem(way, target.allowPlaintext === true)
  let sent = 0
  const countOne = (): void => void (sent += 1)
  const { cert: _, key: __, ...withoutOwn } = targetTls(target)
  const routeOptions: Context['routeOptions'] = (to = {}) => {
    const proxy = to.proxy === 'none' ? undefined : (to.proxy ?? way.proxy)
    return {
      target: to.target ?? way.url,
      connections: 1,
      connectTimeoutMs: limitMs,
      // A client certificate is a credential, so it is not shown past the proxy.
      targetTls: to.target !== undefined ? undefined : to.proxy === 'none' ? withoutOwn : targetTls(target),
      proxy,
      proxyTls,
    }
  }
  const context: Context = {
    options,
    way,
    cluster: hasCluster ? way.url.origin + prefixOf(way.url) : '',
    prefix: prefixOf(way.url),
    headers: plaintext === undefined ? authorization(way.credentials) : {},
    plaintext,
    connections: connectionsFor(way.proxy, options),
    limitMs,
    clock,
    today,
    signal,
    sent: () => sent,
    countOne,
    dates: [],
    proxyTls,
    routeOptions,
    openRoute: to => counted(openRoute(routeOptions(to)), countOne),
    ask: async (route, { isToTheEnd, ...asked }) =>
      await ask(route, { ...asked, timeoutMs: limitMs, signal: isToTheEnd === true ? undefined : signal }),
  }
  return instance === undefined
    ? context
    : { ...context, instance: openInstanceContext(context, instance, options.table) }
}

function prefixOf(url: URL): string {
  return url.pathname.replace(/\/$/, '')
}

function plaintextProblem(way: ResolvedTarget, allowPlaintext: boolean): Failure | undefined {
  try {
    refusePlaintext({ ...way, allowPlaintext })
    return undefined
  } catch (error) {
    if (isSluiceError(error)) return error.failure
    throw error
  }
}
