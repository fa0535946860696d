/** Builds one connection to a target like a load does, layer by layer, and records the certificates. */
import { mayBeOneOfMany } from '../../cluster/ask-connections.js'
import type { Failure } from '../../../base/failure/failure.js'
import type { RouteError } from '../../proxy/route-error.js'
import type { RouteOptions } from '../../proxy/route.js'
import { lookAtPort } from '../../proxy/port-speaks.js'
import { knownAbove, type Trace, traceConnection } from '../../proxy/trace.js'
import { addressOf, authorityOf } from '../../../base/addresses.js'
import { caOptionFor, type ConnectionSeen, type Facts, type Step, tellCertificate } from '../facts.js'
import { describeCertificate, problemWith } from '../certificate.js'
import { checkedInstance, type Context, type Probe, type ProbeResult } from '../context.js'
import { askOthers, routeTo } from '../means.js'
import { instanceWayProblem, proxyProblem } from '../obstacles.js'
import { judgeLost } from '../../servicenow/calls/instance-http.js'

interface Leg {
  readonly options: RouteOptions
  /** The name of the target in steps: `cluster`. */
  readonly target: string
  nameFault(fault: RouteError): Failure
  /** Tests a login that the connection itself does not need. */
  login?(): Promise<Failure | undefined>
}

async function seeConnection(context: Context, leg: Leg, facts: Facts): Promise<ConnectionSeen> {
  const traced = await askOthers(
    context,
    async until => await trace(context, leg.options, until),
    ({ fault }) => fault !== undefined && mayBeOneOfMany(fault.failure, leg.options.proxy),
  )
  const { layers, fault } = traced
  const failure = fault === undefined ? await leg.login?.() : leg.nameFault(fault)
  return {
    layers: layers.map(({ phase, ms }) => ({ phase, ms: Math.round(ms) })),
    ...(await seeCertificate(context, leg.options, traced, facts)),
    failure,
    failedIn: fault?.phase,
  }
}

async function trace({ clock, signal, requests }: Context, options: RouteOptions, until = signal): Promise<Trace> {
  requests.sent += 1
  const traced = await traceConnection(options, () => clock.now(), until)
  signal?.throwIfAborted()
  return traced
}

/** Looks again at a refused certificate, to find its owner. Verifies nothing and sends nothing. */
async function seeCertificate(
  context: Context,
  options: RouteOptions,
  { certificate, authorities: sent, fault }: Trace,
  { port }: Facts,
): Promise<Pick<ConnectionSeen, 'certificate' | 'certificateProblem'>> {
  const { target, proxy } = options
  const code = fault?.failure.code
  if (fault !== undefined && code === 'PROXY_CERT_INVALID')
    return await seeProxyCertificate(context, options, fault, port)
  const { caFingerprint: _, ...tls } = options.targetTls ?? {}
  const unverified = { ...options, targetTls: { ...tls, rejectUnauthorized: false } }
  const shown =
    certificate === undefined && code === 'CLUSTER_CERT_INVALID'
      ? await trace(context, unverified)
      : { certificate, authorities: sent }
  const { own, chain } = describeChain(context, shown, tls.ca)
  if (fault === undefined || code?.endsWith('_CERT_INVALID') !== true) return { certificate: own }
  const hosts = {
    cluster: addressOf(target).host,
    proxy: proxy?.host,
    proxyFingerprint: port?.certificate?.fingerprint,
  }
  const problem = problemWith(fault.code, shown.certificate, hosts, chain)
  const issuerElsewhere =
    problem === 'authority' || problem === 'incomplete' ? await otherIssuer(context, unverified, own) : undefined
  if (own === undefined || issuerElsewhere === undefined) return { certificate: own, certificateProblem: problem }
  return { certificate: { ...own, issuerElsewhere }, certificateProblem: 'intercepted' }
}

/** Returns who issued the certificate that the target shows without the proxy, if that is another authority. Sends nothing but a greeting. */
async function otherIssuer(
  context: Context,
  { proxy, targetTls, ...options }: RouteOptions,
  seen: ConnectionSeen['certificate'],
): Promise<string | undefined> {
  if (proxy === undefined || !context.options.directCheck) return undefined
  const { cert: _, key: __, ...tls } = targetTls ?? {}
  const { certificate } = await trace(context, { ...options, targetTls: tls })
  const issuer = certificate && describeCertificate(certificate).issuer
  return issuer === seen?.issuer ? undefined : issuer
}

/** Greets the proxy again, because an unverified proxy may not get the login. */
async function seeProxyCertificate(
  context: Context,
  { proxy, proxyTls }: RouteOptions,
  { code }: RouteError,
  port: Facts['port'],
): Promise<Pick<ConnectionSeen, 'certificate' | 'certificateProblem'>> {
  if (proxy === undefined) throw new Error('looked at the certificate of no proxy')
  const { limitMs, signal, requests } = context
  const shown = await lookAtPort(proxy, { limitMs, onAsk: () => void (requests.sent += 1), signal })
  const { own = port?.certificate, chain } = describeChain(context, shown, proxyTls?.ca)
  return { certificate: own, certificateProblem: problemWith(code, shown.certificate, { cluster: proxy.host }, chain) }
}

function describeChain(
  context: Context,
  { certificate, authorities: sent }: Pick<Trace, 'certificate' | 'authorities'>,
  ca: string | Buffer | undefined,
) {
  const authorities = certificate && [...(sent ?? []), ...knownAbove(certificate, sent, ca)]
  const chain = { authorities, today: context.today(), hasCa: ca !== undefined }
  return { chain, own: certificate && describeCertificate(certificate, authorities, chain.today) }
}

/** The connection in one step, and TLS to the target in another. */
function tellConnection({ today }: Context, { options, target }: Leg, seen: ConnectionSeen): ProbeResult {
  const { layers, failure, failedIn, certificate, certificateProblem } = seen
  const spent = (isTarget: boolean) =>
    layers.filter(({ phase }) => (phase === 'target-tls') === isTarget).reduce((sum, { ms }) => sum + ms, 0)
  const inCertificate = failedIn === 'target-tls'
  const destination = authorityOf(options.target)
  const reached =
    options.proxy === undefined
      ? `${destination} accepts connections`
      : `the proxy accepts the login and connects to ${destination}`
  const whose =
    certificate && certificateProblem
      ? `. ${tellCertificate(certificateProblem, certificate, caOptionFor(failure))}`
      : ''
  const tls: Step = {
    name: `TLS to the ${target}`,
    ok: !inCertificate,
    ms: spent(true),
    detail: inCertificate ? (failure?.message ?? '') + whose : tellGood(certificate, today()),
  }
  const steps = layers.some(({ phase }) => phase === 'target-tls') ? [tls] : []
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
    const leg: Leg = {
      options: context.routeOptions(),
      target: 'cluster',
      nameFault: fault => fault.failure,
      login: async () => await refusedLogin(context),
    }
    const first = await seeConnection(context, leg, facts)
    const seen = { ...first, failure: first.failure && (await context.nameTlsTarget(first.failure)) }
    return { ...tellConnection(context, leg, seen), facts: { connection: seen } }
  },
}

/** A proxy that forwards plain http takes credentials with each request, and there is no CONNECT: so one is sent. */
async function refusedLogin(context: Context): Promise<Failure | undefined> {
  await using route = context.openRoute()
  if (route.form !== 'forward') return undefined
  const answer = await context.ask(route, { path: `${context.prefix}/` })
  return 'code' in answer ? answer : route.refusal(answer)
}

/** Builds a connection like a reading: through the same proxy to the instance with its own certificate. */
export const instanceConnection: Probe = {
  name: 'connection to the instance',
  leaveOut: (_, facts) => instanceWayProblem(facts),
  look: async (context, facts) => {
    const instance = checkedInstance(context)
    const leg: Leg = {
      options: routeTo(context, instance.way),
      target: 'instance',
      nameFault: fault => judgeLost(fault, instance.display).failure,
    }
    const seen = await seeConnection(context, leg, facts)
    return { ...tellConnection(context, leg, seen), facts: { instanceConnection: seen } }
  },
}
