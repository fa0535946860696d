/** Opens connections through the proxy that carry any bytes. The caller adds TLS with the target, if it needs TLS. */
import type { Socket } from 'node:net'
import { Connector, type ConnectProgress } from './connector.js'
import { type RouteOptions, layersOf } from './route.js'
import { type Traffic, TrafficMeter } from './proxy-url.js'

export interface RawTunnels {
  /** So far. */
  readonly traffic: Traffic
  /**
   * Rejects with RouteError. The caller reads from the socket as soon as the promise resolves, or loses bytes. The socket may be half open.
   */
  open(signal?: AbortSignal): Promise<Socket>
  /** Makes so many attempts in a row to build a connection over a proxy that works half. */
  adapt(to: { readonly attempts: number }): void
  /** Ends every connection, also those that are being built. */
  destroy(): void
}

/** @throws SluiceError OPTION_INVALID for TLS options that cannot be read */
export function openRawTunnels(
  options: Pick<RouteOptions, 'target' | 'proxy' | 'proxyTls' | 'connectTimeoutMs'>,
): RawTunnels {
  const { target, proxy, connectTimeoutMs = 10_000 } = options
  const { proxy: secure } = layersOf(options)
  const meter = new TrafficMeter()
  const form = proxy === undefined ? 'direct' : 'tunnel'
  const layers = secure === undefined ? {} : { proxy: secure }
  const connector = new Connector({ target, proxy, connectTimeoutMs }, form, layers, meter)
  return {
    get traffic() {
      const { connections, bytesSent, bytesReceived } = meter
      return { connections, bytesSent, bytesReceived }
    },
    async open(signal) {
      const progress: ConnectProgress = { phase: 'exchange' }
      const giveUp = (): void => progress.giveUp?.()
      signal?.addEventListener('abort', giveUp)
      try {
        const { socket } = await connector.open(progress)
        socket.allowHalfOpen = true
        if (signal?.aborted === true) socket.destroy()
        return socket
      } finally {
        signal?.removeEventListener('abort', giveUp)
      }
    },
    adapt: ({ attempts }) => void (connector.attempts = attempts),
    destroy: () => connector.destroyAll(),
  }
}
