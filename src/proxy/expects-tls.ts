import { connect } from 'node:tls'
import type { ProxyUrl } from './proxy-url.js'

/**
 * Returns whether the proxy's port completes a TLS handshake. Needed if a plain scheme met a port that closes
 * silently: only a handshake tells a TLS port from a proxy that is down. Sends nothing, least of all credentials.
 */
export async function expectsTls(proxy: ProxyUrl, limitMs = 3000): Promise<boolean> {
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
