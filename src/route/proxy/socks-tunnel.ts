import type { Socket } from 'node:net'
import { notSocksFault, proxyClosedFault, socksRefusedFault } from './tunnel-fault.js'
import { addressOf } from '../../base/addresses.js'
import type { ProxyUrl } from './proxy-url.js'
import { errorCodeOf, isClientCertAlert, type RouteError } from './route-error.js'
import type { RouteTarget } from './destination.js'

/**
 * Requests a tunnel to the target from a SOCKS5 proxy over a connected socket, raw or TLS. The proxy resolves the
 * host name. Rejects with a RouteError. The caller limits the time.
 */
export async function openSocksTunnel(socket: Socket, way: RouteTarget, proxy: ProxyUrl): Promise<void> {
  // The package keeps only the text of an error.
  let failed: Error | undefined
  const onError = (error: Error): void => {
    failed = error
  }
  socket.once('error', onError)
  // Loaded here, because other routes do not need it.
  const { SocksClient } = await import('socks')
  // The socket may have ended meanwhile without a listener.
  if (socket.destroyed) throw proxyClosedFault(way, HANDSHAKE, failed ?? socket.errored ?? undefined)
  let first: Buffer | undefined
  const onFirst = (bytes: Buffer): void => {
    first = bytes
  }
  socket.once('data', onFirst)
  const lineEnd = setTimeout(() => {
    if (first === undefined) socket.write('\r\n\r\n')
  }, way.connectTimeoutMs * lastResort)
  try {
    await SocksClient.createConnection({
      proxy: {
        host: proxy.host,
        port: proxy.port,
        type: 5,
        ...(proxy.username === undefined ? {} : { userId: proxy.username, password: proxy.password ?? '' }),
      },
      command: 'connect',
      destination: addressOf(way.target),
      existing_socket: socket,
      // Never the first to fire: the caller's own limit destroys the socket.
      timeout: way.connectTimeoutMs * 2,
    })
  } catch (error) {
    if (isClientCertAlert(errorCodeOf(failed))) throw proxyClosedFault(way, HANDSHAKE, failed)
    throw nameSocksError(way, error instanceof Error ? error.message : String(error), first)
  } finally {
    clearTimeout(lineEnd)
    socket.off('data', onFirst).off('error', onError)
  }
}

/**
 * An HTTP proxy waits for a line end, so it stays silent after a SOCKS5 greeting. After this share of the time limit
 * without one byte, the connection is lost anyway. A line end then makes such a port show what it is.
 */
const lastResort = 0.8

const HANDSHAKE = 'during the SOCKS5 handshake'

/** The package has no codes, and its error object holds the credentials. So only its text is used, never as a cause. */
function nameSocksError(way: RouteTarget, text: string, first: Buffer | undefined): RouteError {
  if (/Authentication failed/i.test(text)) return socksRefusedFault(way, { code: 'SOCKS_AUTH_FAILED' })
  if (/no accepted authentication type/i.test(text)) return socksRefusedFault(way, { code: 'SOCKS_NO_METHOD' })
  const reply = /rejected connection - (\w+)/i.exec(text)?.[1]
  if (reply !== undefined) return socksRefusedFault(way, { reply: replies[reply] ?? 1, text: reply })
  if (first !== undefined && first[0] !== 5) return notSocksFault(way, first)
  const code = /\b(E[A-Z]{3,})\b/.exec(text)?.[1]
  const cause = code === undefined ? undefined : Object.assign(new Error(text), { code })
  return proxyClosedFault(way, HANDSHAKE, cause)
}

/** RFC 1928 §6, by the names that the package gives them. */
const replies: Readonly<Record<string, number>> = {
  Failure: 1,
  NotAllowed: 2,
  NetworkUnreachable: 3,
  HostUnreachable: 4,
  ConnectionRefused: 5,
  TTLExpired: 6,
  CommandNotSupported: 7,
  AddressNotSupported: 8,
}
