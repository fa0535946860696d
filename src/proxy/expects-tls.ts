import { connect } from 'node:tls'
import type { ProxyUrl } from './proxy-url.js'

/**
 * Whether the proxy's port completes a TLS handshake. Asked when a plain scheme met a port that closes without a word, because
 * only the other side of TLS tells a TLS port from a proxy that is down. Sends nothing, least of all credentials.
 */
export async function expectsTls(proxy: ProxyUrl, limitMs = 3000): Promise<boolean> {
  return await new Promise(resolve => {
    // Nothing is trusted and nothing is said: any certificate will do as an answer.
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
