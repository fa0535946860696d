import { connect } from 'node:tls'
import { type Failure, fail, failure, isSluiceError } from '../../base/failure/failure.js'
import type { ProxyUrl } from './proxy-url.js'
import type { RouteOptions } from './route.js'
import { traceConnection } from './trace.js'

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

/** Returns the error that names the reason if a silent port expects TLS. A proxy that is down behaves the same. */
export async function nameSilentPort(error: unknown, proxy: ProxyUrl | undefined): Promise<unknown> {
  if (!isSluiceError(error) || !silent.has(error.code)) return error
  if (proxy === undefined || (proxy.scheme !== 'http' && proxy.scheme !== 'socks5')) return error
  if (!(await expectsTls(proxy))) return error
  const observed = `its port expects TLS, but the URL says ${proxy.scheme}://`
  return fail('PROXY_TLS_MISMATCH', { proxy: proxy.display, observed }, { cause: error })
}

const silent = new Set<string>(['PROXY_UNREACHABLE', 'CLUSTER_UNAVAILABLE', 'SERVICENOW_UNREACHABLE'])

/**
 * Returns whether the proxy's port completes a TLS handshake. Needed if a plain scheme met a port that closes
 * silently: only a handshake tells a TLS port from a proxy that is down. Sends nothing, least of all credentials.
 */
async function expectsTls(proxy: ProxyUrl, limitMs = 3000): Promise<boolean> {
  return await new Promise(resolve => {
    // Any certificate is enough, because nothing is sent or trusted.
    const socket = connect({ host: proxy.host, port: proxy.port, rejectUnauthorized: false, timeout: limitMs })
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('secureConnect', () => settle(true))
    socket.once('timeout', () => settle(false))
    socket.once('error', () => settle(false))
    socket.once('close', () => settle(false))
  })
}
