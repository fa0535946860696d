import type { Socket } from 'node:net'
import { connectRefusedFault, notHttpFault, proxyClosedFault } from './tunnel-fault.js'
import { authorityOf } from '../../base/addresses.js'
import type { ProxyUrl } from './proxy-url.js'
import type { RouteTarget } from './destination.js'

/** A proxy's answer to CONNECT has a few hundred bytes. */
const replyLimitBytes = 64 * 1024

/** The reason for a refusal stands at the beginning of the page that comes with it, and the page comes at once. */
const pageLimitBytes = 8 * 1024
const pageLimitMs = 250

/**
 * Requests a tunnel to the target from an HTTP proxy over a connected socket. Resolves on any 2xx. The socket then carries the
 * target's bytes, including those that came with the reply. Rejects with a RouteError. The caller limits the time.
 */
export function openHttpTunnel(socket: Socket, way: RouteTarget, proxy: ProxyUrl): Promise<void> {
  const authority = authorityOf(way.target)
  const credentials = basicCredentials(proxy)
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    let refusal: Reply | undefined
    let page: NodeJS.Timeout | undefined
    const settle = (outcome: () => void): void => {
      clearTimeout(page)
      socket.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onError)
      outcome()
    }
    const refuse = (answer: Reply): void => settle(() => reject(connectRefusedFault(way, withoutLengths(answer))))
    const onReadable = (): void => {
      for (let chunk = read(socket); chunk !== null; chunk = read(socket)) received = Buffer.concat([received, chunk])
      const reply = readReply(received)
      if (reply === 'incomplete') return
      if (reply === 'not-http') return settle(() => reject(notHttpFault(way, received)))
      if (!isTunnel(reply)) {
        refusal = reply
        page ??= setTimeout(onEnd, pageLimitMs)
        if (isWhole(reply)) refuse(reply)
        return
      }
      settle(() => {
        if (reply.body.length > 0) socket.unshift(reply.body)
        resolve()
      })
    }
    const onEnd = (): void => {
      if (refusal !== undefined) return refuse(refusal)
      const after = received.length === 0 ? 'without an answer to CONNECT' : 'in the middle of its answer to CONNECT'
      settle(() => reject(proxyClosedFault(way, after)))
    }
    const onError = (error: Error): void => {
      if (refusal !== undefined) return refuse(refusal)
      settle(() => reject(proxyClosedFault(way, 'instead of answering CONNECT', error)))
    }
    // 'readable', not 'data': a socket that once flowed loses what arrives before the TLS layer takes it over.
    socket.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onError)
    socket.write(
      `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${credentials === undefined ? '' : `Proxy-Authorization: ${credentials}\r\n`}\r\n`,
    )
  })
}

/** The value of Proxy-Authorization, if the proxy URL has credentials. */
export function basicCredentials(proxy: ProxyUrl): string | undefined {
  if (proxy.username === undefined) return undefined
  return `Basic ${Buffer.from(`${proxy.username}:${proxy.password ?? ''}`).toString('base64')}`
}

interface Reply {
  readonly statusCode: number
  readonly reason: string
  readonly headers: Readonly<Record<string, string>>
  /** The page of a refusal so far, or what the target sent already. */
  readonly body: Buffer
}

/** A tunnel has no content. A page comes from somebody who takes CONNECT for any other request. */
function isTunnel({ statusCode, headers }: Reply): boolean {
  return statusCode >= 200 && statusCode <= 299 && !/text\/html/i.test(headers['content-type'] ?? '')
}

function isWhole({ headers, body }: Reply): boolean {
  if (isChunked(headers) && body.toString('latin1').endsWith('0\r\n\r\n')) return true
  return body.length >= Math.min(Number(headers['content-length'] ?? Infinity), pageLimitBytes)
}

function isChunked(headers: Reply['headers']): boolean {
  return /chunked/i.test(headers['transfer-encoding'] ?? '')
}

/** Removes the lengths from a chunked page. Sluice only quotes the rest. */
function withoutLengths(reply: Reply): Reply {
  if (!isChunked(reply.headers)) return reply
  const text = reply.body.toString('latin1').replace(/(^|\r\n)[\da-f]+(?:;[^\r\n]*)?\r\n/gi, '$1')
  return { ...reply, body: Buffer.from(text, 'latin1') }
}

function readReply(bytes: Buffer): Reply | 'incomplete' | 'not-http' {
  // A 1xx only announces the answer.
  for (let from = 0; from <= replyLimitBytes;) {
    const unread = bytes.subarray(from)
    if (!'HTTP/1.'.startsWith(unread.subarray(0, 7).toString('latin1'))) return 'not-http'
    const end = unread.indexOf('\r\n\r\n')
    if (end < 0) return bytes.length > replyLimitBytes ? 'not-http' : 'incomplete'
    const [statusLine = '', ...lines] = unread.subarray(0, end).toString('latin1').split('\r\n')
    const [, status, reason = ''] = /^HTTP\/1\.[01] (\d{3})(?: (.*)|$)/.exec(statusLine) ?? []
    if (status === undefined) return 'not-http'
    from += end + 4
    const statusCode = Number(status)
    if (statusCode >= 200) return { statusCode, reason, headers: readHeaders(lines), body: bytes.subarray(from) }
  }
  return 'not-http'
}

function readHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}

function read(socket: Socket): Buffer | null {
  const chunk: unknown = socket.read()
  return Buffer.isBuffer(chunk) ? chunk : null
}
