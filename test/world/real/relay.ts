/** Stands between the proxy and the IP filter, and spoils what no real server spoils on command. It speaks TLS. */
import { once } from 'node:events'
import { type IncomingMessage, type OutgoingHttpHeaders, request as send, type ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { damagedAnswer } from '../../../src/lab/cluster/damaged-answer.js'
import { FaultPlan } from '../../../src/lab/faults.js'
import type { Certificate } from '../../support/servers/proxy-certificates.js'
import { splitBusy } from './busy-items.js'

export interface FaultyRelay extends AsyncDisposable {
  readonly port: number
  readonly faults: FaultPlan
  /** Ends all connections. Resolves when the cluster has answered everything that it got. */
  settle(): Promise<void>
}

interface RelayOptions {
  /** The IP filter, over http. It sees the addresses of the proxy. */
  readonly target: string
  readonly certificate: Certificate
  closeFilter(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly headers: OutgoingHttpHeaders
  readonly body: Buffer
  /** The length that the head names: of a damaged answer. */
  readonly length?: number
}

export async function startRelay({ target, certificate, closeFilter }: RelayOptions): Promise<FaultyRelay> {
  const faults = new FaultPlan()
  const underWay = new Set<Promise<Answer>>()
  // A request whose client has gone has no address any more.
  const forward = async (request: IncomingMessage, body: Buffer, from = request.socket.remoteAddress) => {
    const answer = forwardTo(target, request, body, from)
    underWay.add(answer)
    return await answer.finally(() => underWay.delete(answer))
  }

  /** Returns undefined if nobody gets an answer. */
  async function answerBulk(request: IncomingMessage, body: Buffer): Promise<Answer | undefined> {
    if (faults.strike('filter')) await closeFilter()
    const hold = faults.strike('hold')
    if (hold) {
      if (hold.stored === true) await forward(request, body)
      const from = request.socket.remoteAddress
      if (hold.stored === 'late')
        request.socket.once('close', () => faults.postpone(() => void forward(request, body, from)))
      return undefined
    }
    const planted = faults.strike('bulk')
    if (planted) {
      if (planted.stored === true) await forward(request, body)
      return { status: planted.status, headers: { 'content-type': 'application/json' }, body: Buffer.alloc(0) }
    }
    const { items } = faults.current
    const split = items === undefined ? undefined : splitBusy(request, body, () => faults.strike('items') !== undefined)
    const damage = faults.strike('damage')
    if (damage) {
      const whole = damage.stored === false ? emptyAnswer : await forward(request, body)
      return { ...whole, ...damagedAnswer(whole.body.toString(), damage.how) }
    }
    const answer = split?.rest.length === 0 ? emptyAnswer : await forward(request, split?.rest ?? body)
    faults.catchUp()
    if (faults.strike('drop')) {
      request.socket.destroy()
      return undefined
    }
    return split === undefined ? answer : { ...answer, body: split.join(answer.body) }
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request)
    const isBulk = /\/_bulk(\?|$)/.test(request.url ?? '')
    const answer = isBulk ? await answerBulk(request, body) : await forward(request, body)
    if (answer === undefined) return
    const { status, headers, length = answer.body.length } = answer
    response.writeHead(status, { ...headers, 'content-length': length })
    if (length === answer.body.length) response.end(answer.body)
    else response.write(answer.body, () => response.destroy())
  }

  const { cert, key } = certificate
  const server = createServer({ cert, key, keepAliveTimeout: 75_000 }, (request, response) => {
    // A client that was killed goes away in the middle of its requests.
    serve(request, response).catch(() => request.socket.destroy())
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    faults,
    settle: async () => {
      server.closeAllConnections()
      await Promise.allSettled(underWay)
      faults.catchUp()
      await Promise.allSettled(underWay)
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const emptyAnswer: Answer = { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.from('{}') }

const ofConnection = ['connection', 'keep-alive', 'transfer-encoding', 'content-length']

async function forwardTo(target: string, request: IncomingMessage, body: Buffer, from?: string): Promise<Answer> {
  const { method, url = '/', headers } = request
  const asked = send(new URL(url, target), {
    method,
    headers: {
      ...without(headers),
      'accept-encoding': 'identity',
      ...(body.length > 0 && { 'content-length': body.length }),
    },
    localAddress: from,
    agent: false,
  }).end(body)
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: answer.statusCode ?? 0, headers: without(answer.headers), body: await buffer(answer) }
}

function without(headers: IncomingMessage['headers']): OutgoingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.includes(name)))
}
