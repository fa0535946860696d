/** A local proxy for programs that know proxies. It leads only to the destinations, and only callers with the token may use it. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Failure } from '../../base/failure/failure.js'
import { httpTimes, type Passage } from './entrance.js'
import { joinSockets } from './join-sockets.js'
import { listenOnLoopback, type LoopbackPort } from './loopback-port.js'
import { failureOf, type OpenDestination } from '../../route/destination/destination.js'
import { passRequest } from './pass-request.js'
import { type CallerRefusal, gatewayRefusal, refuse, refuseTunnel } from './refusals.js'

interface ProxyPassage extends Passage {
  /** Somebody with the token wanted to go elsewhere. */
  onForeign(address: string): void
}

export async function openForwardProxy(
  destinations: readonly OpenDestination[],
  passage: ProxyPassage,
): Promise<LoopbackPort> {
  const server = createServer(httpTimes, (request, response) => forward(request, response))
  server.on('connect', (request: IncomingMessage, caller: Socket, head: Buffer) => void tunnel(request, caller, head))
  server.setTimeout(passage.idleMs)
  return await listenOnLoopback(server, 0, '--to')

  function find(address: URL | undefined, asked: string): OpenDestination | CallerRefusal {
    if (address === undefined) return { status: 400, type: 'not_an_address', reason: 'the request names no HOST:PORT' }
    const found = destinations.find(({ target }) => addressOf(target) === addressOf(address))
    if (found !== undefined) return found
    passage.onForeign(asked)
    const reason = `${asked} is not a target of this tunnel`
    return { status: 403, type: 'not_a_target', reason, fixes: [`Add --to ${asked} to the command.`] }
  }

  async function tunnel(request: IncomingMessage, caller: Socket, head: Buffer): Promise<void> {
    const gone = new AbortController()
    caller.on('error', () => caller.destroy())
    caller.once('close', () => gone.abort())
    const { url = '' } = request
    const found = passage.isKnown(request.headers['proxy-authorization'])
      ? find(/:\d{1,5}$/.test(url) ? addressIn(`http://${url}`) : undefined, url)
      : tokenNeeded
    if ('status' in found) return refuseTunnel(caller, found)
    try {
      const upstream = await found.tunnels.open(gone.signal)
      if (caller.destroyed) return void upstream.destroy()
      caller.write('HTTP/1.1 200 Connection established\r\n\r\n')
      if (head.length > 0) caller.unshift(head)
      joinSockets(caller, upstream, passage.idleMs)
    } catch (error) {
      if (gone.signal.aborted) return
      refuseTunnel(caller, gatewayRefusal(passage.onRefusal(found, failureOf(error))))
    }
  }

  function forward(request: IncomingMessage, response: ServerResponse): void {
    for (const stream of [request, response]) stream.on('error', () => undefined)
    const { url = '', headers } = request
    const address = /^http:\/\//i.test(url) ? addressIn(url) : undefined
    const found = passage.isKnown(headers['proxy-authorization'])
      ? find(address, address === undefined ? url : addressOf(address))
      : tokenNeeded
    if ('status' in found) {
      refuse(response, found)
      return void response.end()
    }
    const requests = found.plain()
    if (requests === undefined) {
      const reason = `${found.target.host} expects https, but the request says http`
      refuse(response, { status: 400, type: 'https_needed', reason })
      return void response.end()
    }
    const path = `${address?.pathname}${address?.search}`
    const onRefusal = (known: Failure) => passage.onRefusal(found, known)
    // The URL of the request holds the destination's whole path already.
    const hasLogin = passage.hasLogin && headers.authorization === undefined
    void passRequest(request, response, { ...requests, prefix: '' }, { ...passage, path, hasLogin, onRefusal })
  }
}

const tokenNeeded: CallerRefusal = {
  status: 407,
  type: 'token_needed',
  reason: 'this proxy belongs to one command of sluice run, and only that command knows its token',
  headers: { 'proxy-authenticate': 'Basic realm="sluice"' },
}

function addressIn(url: string): URL | undefined {
  const address = URL.canParse(url) ? new URL(url) : undefined
  return address?.username === '' && address.password === '' ? address : undefined
}

function addressOf({ protocol, hostname, port }: URL): string {
  const usual = protocol === 'https:' ? '443' : '80'
  return `${hostname.toLowerCase().replace(/\.$/, '')}:${port === '' ? usual : port}`
}
