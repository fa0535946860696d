import type { X509Certificate } from 'node:crypto'
import type { Failure } from '../../failure/failure.js'
import { BROKEN_AGAIN, isBroken } from '../../cluster/preflight.js'
import { proxyRefusal } from '../../proxy/proxy-answer.js'
import { type Trace, traceConnection } from '../../proxy/trace.js'
import { addressOf, authorityOf } from '../../proxy/way.js'
import { BREAKS_WITHIN_MS, askAgain } from '../ask-again.js'
import { describeCertificate, problemWith, tellCertificate } from '../certificate.js'
import type { Context } from '../context.js'
import type { ConnectionSeen, Facts } from '../facts.js'
import type { Probe, Seen } from '../probe.js'
import type { Step } from '../report.js'
import { proxyProblem } from '../way-so-far.js'

/** One connection as a load builds it: the proxy's certificate, its login, CONNECT, and the cluster's certificate. */
export const connection: Probe = {
  name: 'connection',
  leaveOut: (_, facts) => proxyProblem(facts),
  look: async (context, facts) => {
    const { broken, ...trace } = await traceUnlessBroken(context)
    const failed = trace.fault?.failure ?? (await refusedLogin(context))
    const certificate = await seeCertificate(context, trace, facts)
    const seen: ConnectionSeen = {
      layers: trace.layers.map(({ phase, ms }) => ({ phase, ms: Math.round(ms) })),
      broken,
      ...certificate,
      ...(failed === undefined ? {} : { failure: failed }),
      ...(trace.fault === undefined ? {} : { failedIn: trace.fault.phase }),
    }
    return tell(context, seen)
  },
}

/** One connection that breaks is no finding: a node of the pair may just have gone. */
async function traceUnlessBroken(context: Context): Promise<Trace & { readonly broken: number }> {
  const { clock, signal } = context
  const until = clock.now() + BREAKS_WITHIN_MS
  for (let broken = 0; ; broken += 1) {
    context.countOne()
    const trace = await traceConnection(context.routeOptions(), () => clock.now(), signal)
    signal?.throwIfAborted()
    const again = trace.fault !== undefined && isBroken(trace.fault.failure) && trace.fault.code !== 'ECONNREFUSED'
    if (!again || broken >= BROKEN_AGAIN || clock.now() >= until) return { ...trace, broken }
  }
}

/** A proxy that forwards plain http takes credentials with each request, and there is no CONNECT: so one is sent. */
async function refusedLogin(context: Context): Promise<Failure | undefined> {
  await using route = context.openRoute()
  if (route.form !== 'forward') return undefined
  const { answer } = await askAgain(context, route, { path: `${context.prefix}/` })
  return 'code' in answer ? answer : proxyRefusal(answer, route)
}

/** Of a certificate that was refused, another look without a request: whose it is. */
async function seeCertificate(
  context: Context,
  { certificate, fault }: Trace,
  { port }: Facts,
): Promise<Pick<ConnectionSeen, 'certificate' | 'certificateProblem'>> {
  const found = certificate ?? (fault?.failure.code === 'CLUSTER_CERT_INVALID' ? await lookAgain(context) : undefined)
  const own = found === undefined ? {} : { certificate: describeCertificate(found) }
  if (fault === undefined || !fault.failure.code.endsWith('_CERT_INVALID')) return own
  const { proxy, url } = context.way
  if (fault.failure.code === 'PROXY_CERT_INVALID') {
    const hosts = { cluster: proxy?.host ?? '' }
    const shown = port?.certificate === undefined ? {} : { certificate: port.certificate }
    return { ...shown, certificateProblem: problemWith(fault.code, undefined, hosts) }
  }
  const hosts = {
    cluster: addressOf(url).host,
    ...(proxy === undefined ? {} : { proxy: proxy.host }),
    ...(port?.certificate === undefined ? {} : { proxyFingerprint: port.certificate.fingerprint }),
  }
  return { ...own, certificateProblem: problemWith(fault.code, found, hosts) }
}

/** With nothing verified, and nothing sent. */
async function lookAgain({ routeOptions, clock, signal, countOne }: Context): Promise<X509Certificate | undefined> {
  const { targetTls: _, ...options } = routeOptions()
  countOne()
  const unverified = { ...options, targetTls: { rejectUnauthorized: false } }
  return (await traceConnection(unverified, () => clock.now(), signal)).certificate
}

function tell({ way, today }: Context, seen: ConnectionSeen): Seen {
  const { layers, failure, failedIn, certificate, certificateProblem } = seen
  const spent = (isTarget: boolean) =>
    layers.filter(({ phase }) => (phase === 'target-tls') === isTarget).reduce((sum, { ms }) => sum + ms, 0)
  const inCertificate = failedIn === 'target-tls'
  const destination = authorityOf(way.url)
  const reached =
    way.proxy === undefined
      ? `${destination} takes connections`
      : `the proxy takes the login and leads to ${destination}`
  const steps: Step[] = layers.some(({ phase }) => phase === 'target-tls')
    ? [
        {
          name: 'TLS to the cluster',
          ok: !inCertificate,
          ms: spent(true),
          detail: inCertificate
            ? [
                failure?.message ?? '',
                ...(certificate && certificateProblem ? [tellCertificate(certificateProblem, certificate)] : []),
              ].join('; ')
            : tellGood(certificate, today()),
        },
      ]
    : []
  return {
    detail: failure === undefined || inCertificate ? reached : failure.message,
    failed: failure !== undefined && !inCertificate,
    // The rest of the time is that of the certificate's own step.
    ...(steps.length === 0 ? {} : { ms: spent(false) }),
    facts: { connection: seen },
    more: steps,
  }
}

function tellGood(certificate: ConnectionSeen['certificate'], today: number): string {
  if (certificate === undefined) return 'it stands'
  const days = Math.floor((Date.parse(certificate.validTo) - today) / 86_400_000)
  return `${certificate.subject}, issued by ${certificate.issuer}, ${days} days left`
}
