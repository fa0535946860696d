/** Builds one connection to a target like a load does, layer by layer, and records the certificates. */
import type { X509Certificate } from 'node:crypto'
import { isBroken } from '../../../cluster/preflight.js'
import type { Failure } from '../../../failure/failure.js'
import type { ProxyUrl } from '../../../proxy/proxy-url.js'
import type { RouteError } from '../../../proxy/route-error.js'
import type { RouteOptions } from '../../../proxy/route.js'
import { type Trace, traceConnection } from '../../../proxy/trace.js'
import { addressOf, authorityOf } from '../../../proxy/destination.js'
import { askAgain, BREAKS_WITHIN_MS } from '../../ask.js'
import { describeCertificate, problemWith, tellCertificate } from '../../certificate.js'
import { checkedInstance, type Context, type Probe, type ProbeResult } from '../../context.js'
import type { ConnectionSeen } from '../../way-facts.js'
import { type Facts, instanceWayProblem, proxyProblem } from '../../facts.js'
import type { Step } from '../../report.js'
import { proxyRefusal } from '../../../proxy/proxy-answer.js'
import { judgeLost } from '../../../servicenow/calls/instance-http.js'
import { askUnbroken } from '../../../proxy/fresh-connections.js'

/** The target of the connection, and how to name it. */
interface Leg {
  readonly url: URL
  readonly proxy?: ProxyUrl | undefined
  readonly options: RouteOptions
  /** The name of the target in steps: `cluster`. */
  readonly target: string
  /** Names a fault as one of this target. */
  nameFault(fault: RouteError): Failure
  /** Tests a login that the connection itself does not need. */
  login?(): Promise<Failure | undefined>
}

async function seeConnection(context: Context, leg: Leg, facts: Facts): Promise<ConnectionSeen> {
  const { broken, ...trace } = await traceUnlessBroken(context, leg.options)
  const { fault } = trace
  const failed = fault === undefined ? await leg.login?.() : leg.nameFault(fault)
  const certificate = await seeCertificate(context, leg, trace, facts)
  return {
    layers: trace.layers.map(({ phase, ms }) => ({ phase, ms: Math.round(ms) })),
    broken,
    ...certificate,
    failure: failed,
    failedIn: fault?.phase,
  }
}

/** One broken connection is no finding: a node of the pair may just have gone. */
async function traceUnlessBroken(
  { clock, signal, countOne }: Context,
  options: RouteOptions,
): Promise<Trace & { readonly broken: number }> {
  const until = clock.now() + BREAKS_WITHIN_MS
  const { answer, broken } = await askUnbroken(
    async () => {
      countOne()
      const trace = await traceConnection(options, () => clock.now(), signal)
      signal?.throwIfAborted()
      return trace
    },
    ({ fault }) =>
      fault !== undefined && isBroken(fault.failure) && fault.code !== 'ECONNREFUSED' && clock.now() < until,
  )
  return { ...answer, broken }
}

/** Looks again at a refused certificate, without a request, to find its owner. */
async function seeCertificate(
  context: Context,
  leg: Leg,
  { certificate, fault }: Trace,
  { port }: Facts,
): Promise<Pick<ConnectionSeen, 'certificate' | 'certificateProblem'>> {
  const isOfTarget = fault?.failure.code === 'CLUSTER_CERT_INVALID'
  const found = certificate ?? (isOfTarget ? await lookAgain(context, leg.options) : undefined)
  const own = found && describeCertificate(found)
  if (fault === undefined || !fault.failure.code.endsWith('_CERT_INVALID')) return { certificate: own }
  const { proxy, url } = leg
  if (fault.failure.code === 'PROXY_CERT_INVALID') {
    const hosts = { cluster: proxy?.host ?? '' }
    return { certificate: port?.certificate, certificateProblem: problemWith(fault.code, undefined, hosts) }
  }
  const hosts = {
    cluster: addressOf(url).host,
    proxy: proxy?.host,
    proxyFingerprint: port?.certificate?.fingerprint,
  }
  return { certificate: own, certificateProblem: problemWith(fault.code, found, hosts) }
}

/** Verifies nothing and sends nothing. */
async function lookAgain(
  { clock, signal, countOne }: Context,
  { targetTls: _, ...options }: RouteOptions,
): Promise<X509Certificate | undefined> {
  countOne()
  const unverified = { ...options, targetTls: { rejectUnauthorized: false } }
  return (await traceConnection(unverified, () => clock.now(), signal)).certificate
}

/** The connection in one step, and TLS to the target in another. */
function tellConnection({ today }: Context, { url, proxy, target }: Leg, seen: ConnectionSeen): ProbeResult {
  const { layers, failure, failedIn, certificate, certificateProblem } = seen
  const spent = (isTarget: boolean) =>
    layers.filter(({ phase }) => (phase === 'target-tls') === isTarget).reduce((sum, { ms }) => sum + ms, 0)
  const inCertificate = failedIn === 'target-tls'
  const destination = authorityOf(url)
  const reached =
    proxy === undefined
      ? `${destination} accepts connections`
      : `the proxy accepts the login and connects to ${destination}`
  const steps: Step[] = layers.some(({ phase }) => phase === 'target-tls')
    ? [
        {
          name: `TLS to the ${target}`,
          ok: !inCertificate,
          ms: spent(true),
          detail: inCertificate
            ? [
                failure?.message ?? '',
                ...(certificate && certificateProblem ? [tellCertificate(certificateProblem, certificate)] : []),
              ].join('. ')
            : tellGood(certificate, today()),
        },
      ]
    : []
  return {
    detail: failure === undefined || inCertificate ? reached : failure.message,
    failed: failure !== undefined && !inCertificate,
    // The rest of the time is that of the certificate's own step.
    ms: steps.length === 0 ? undefined : spent(false),
    more: steps,
  }
}

function tellGood(certificate: ConnectionSeen['certificate'], today: number): string {
  if (certificate === undefined) return 'TLS works'
  const days = Math.floor((Date.parse(certificate.validTo) - today) / 86_400_000)
  return `${certificate.subject}, issued by ${certificate.issuer}, ${days} days left`
}

/** Builds a connection like a load: the proxy's certificate, its login, CONNECT, the cluster's certificate. */
export const connection: Probe = {
  name: 'connection',
  leaveOut: (_, facts) => proxyProblem(facts),
  look: async (context, facts) => {
    const { url, proxy } = context.way
    const leg: Leg = {
      url,
      proxy,
      options: context.routeOptions(),
      target: 'cluster',
      nameFault: fault => fault.failure,
      login: async () => await refusedLogin(context),
    }
    const seen = await seeConnection(context, leg, facts)
    return { ...tellConnection(context, leg, seen), facts: { connection: seen } }
  },
}

/** A proxy that forwards plain http takes credentials with each request, and there is no CONNECT: so one is sent. */
async function refusedLogin(context: Context): Promise<Failure | undefined> {
  await using route = context.openRoute()
  if (route.form !== 'forward') return undefined
  const { answer } = await askAgain(context, route, { path: `${context.prefix}/` })
  return 'code' in answer ? answer : proxyRefusal(answer, route)
}

/** Builds a connection like a reading: through the same proxy to the instance with its own certificate. */
export const instanceConnection: Probe = {
  name: 'connection to the instance',
  leaveOut: (_, facts) => instanceWayProblem(facts),
  look: async (context, facts) => {
    const instance = checkedInstance(context)
    const { url, proxy } = instance.way
    const leg: Leg = {
      url,
      proxy,
      options: instance.routeOptions(),
      target: 'instance',
      nameFault: fault => judgeLost(fault, instance.display).failure,
    }
    const seen = await seeConnection(context, leg, facts)
    return { ...tellConnection(context, leg, seen), facts: { instanceConnection: seen } }
  },
}
