/**
 * Builds one connection like a load does, and closes it: reports how far it came, the time of each layer, and the
 * certificate it met.
 */
import { X509Certificate } from 'node:crypto'
import { TLSSocket } from 'node:tls'
import { type Failure, failure } from '../../base/failure/failure.js'
import { Connector, type ConnectProgress } from './connector.js'
import { type Phase, RouteError } from './route-error.js'
import { type RouteOptions, routeFormOf, layersOf } from './route.js'
import { authoritiesOf, certificatesIn } from './tls-layer.js'
import { TrafficMeter } from './proxy-url.js'

export interface Trace {
  /** The layers in the order of building, with the time of each. With a `fault`, the last one failed. */
  readonly layers: readonly { readonly phase: Phase; readonly ms: number }[]
  readonly fault?: RouteError | undefined
  /** The target's own certificate, if the connection was open and uses TLS to the target. */
  readonly certificate?: X509Certificate | undefined
  /** Those who signed it, and so on, as far as the server sent them or this machine knows them. */
  readonly authorities?: readonly X509Certificate[] | undefined
}

/**
 * Sends no request. Only the proxy receives credentials. `now`: milliseconds, monotonic.
 * @throws SluiceError OPTION_INVALID for TLS options that cannot be read
 */
export async function traceConnection(
  options: Omit<RouteOptions, 'connections'>,
  now: () => number,
  signal?: AbortSignal,
): Promise<Trace> {
  const { target, proxy, connectTimeoutMs = 10_000 } = options
  const way = { target, connectTimeoutMs, proxy }
  const connector = new Connector(way, routeFormOf(target, proxy), layersOf(options), new TrafficMeter())
  const stopwatch = new Stopwatch(now)
  const onAbort = (): void => connector.destroyAll()
  signal?.addEventListener('abort', onAbort)
  try {
    const { socket } = await connector.open(stopwatch)
    stopwatch.stop()
    const secure = target.protocol === 'https:' && socket instanceof TLSSocket ? socket : undefined
    return {
      layers: stopwatch.layers,
      certificate: secure?.getPeerX509Certificate(),
      authorities: secure && authoritiesOf(secure),
    }
  } catch (error) {
    if (!(error instanceof RouteError)) throw error
    stopwatch.stop()
    return { layers: stopwatch.layers, fault: error }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    connector.destroyAll()
  }
}

/**
 * Returns the reason if an http:// target did not answer, or the proxy cannot reach it, because its port expects TLS. Else returns the
 * failure as it is. Sends nothing but a greeting. `onAsk` is called before that.
 */
export async function nameTlsTarget(
  known: Failure,
  options: Omit<RouteOptions, 'connections'>,
  onAsk: () => void = () => {},
): Promise<Failure> {
  const { target, connectTimeoutMs = 3_000 } = options
  const isSilent = known.code === 'CLUSTER_UNAVAILABLE' && known.evidence['status'] === undefined
  if (target.protocol !== 'http:' || !(isSilent || known.code === 'PROXY_TARGET_UNREACHABLE')) return known
  const { hostname, port } = target
  const greeting = {
    ...options,
    target: new URL(`https://${hostname}:${port === '' ? 80 : port}`),
    // Any certificate is enough, because nothing is sent or trusted.
    targetTls: { rejectUnauthorized: false },
    connectTimeoutMs: Math.min(connectTimeoutMs, 3_000),
  }
  onAsk()
  const { fault } = await traceConnection(greeting, () => performance.now())
  if (fault !== undefined && fault.failure.code !== 'CLUSTER_CLIENT_CERT') return known
  const observed = 'the port expects TLS, but the URL says http://'
  return failure('CLUSTER_TLS_MISMATCH', { cluster: target.origin, observed })
}

/** Returns the authority of `ca` above what the server sent. TLS does not look for one that has expired. */
export function knownAbove(
  certificate: X509Certificate,
  sent: readonly X509Certificate[] = [],
  ca: string | Buffer = '',
): X509Certificate[] {
  const last = sent.at(-1) ?? certificate
  return certificatesIn(ca)
    .map(pem => new X509Certificate(pem))
    .filter(one => last.checkIssued(one) && !last.checkIssued(last))
}

/** Records each layer as the connection is built. */
class Stopwatch implements ConnectProgress {
  giveUp?: () => void
  readonly layers: { readonly phase: Phase; readonly ms: number }[] = []
  #phase: Phase | undefined
  #since = 0

  constructor(private readonly now: () => number) {}

  get phase(): Phase {
    return this.#phase ?? 'exchange'
  }

  set phase(next: Phase) {
    this.stop()
    // A connection that only learnt a certificate is followed by the one that counts.
    const before = this.layers.findIndex(({ phase }) => phase === next)
    if (before >= 0) this.layers.splice(before)
    this.#phase = next
    this.#since = this.now()
  }

  stop(): void {
    if (this.#phase !== undefined) this.layers.push({ phase: this.#phase, ms: this.now() - this.#since })
    this.#phase = undefined
  }
}
