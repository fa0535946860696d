import { connect } from 'node:tls'
import { fail, isSluiceError } from '../../base/failure/failure.js'
import type { ProxyUrl } from './proxy-url.js'

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
