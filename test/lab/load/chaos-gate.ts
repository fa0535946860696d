/** A port in front of the cluster's that spoils requests and answers, as a program says. It stores what it says it stores. */
import { once } from 'node:events'
import { Agent, type IncomingMessage, type Server, type ServerResponse, createServer, request as send } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Certificate } from '../../support/servers/proxy-certificates.js'
import type { Seeded } from '../../support/random/seeded.js'
import { type Answer, type Whole, play } from './chaos-play.js'
import type { End, Program } from './chaos-program.js'

export interface GateOptions {
  /** The cluster behind it, over http. */
  readonly cluster: URL
  /** With one, the gate speaks TLS. */
  readonly certificate?: Certificate
  readonly program: Program
  readonly random: Seeded
  /** Default: false. */
  readonly closing?: boolean | undefined
}

export interface Gate extends AsyncDisposable {
  readonly port: number
  /** The addresses that connections came from. */
  readonly sources: ReadonlySet<string>
  /** What the gate itself could not do: nothing, unless it is broken. */
  readonly problems: readonly string[]
}

export async function startGate({
  cluster,
  certificate,
  program,
  random,
  closing = false,
}: GateOptions): Promise<Gate> {
  const agent = new Agent({ keepAlive: true })
  const raws = new Map<number | undefined, Socket>()
  const sources = new Set<string>()
  const problems: string[] = []

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const fault = program.atRequest(/\/_bulk(\?|$)/.test(request.url ?? ''))
    const { socket } = request
    if (closing) response.shouldKeepAlive = false
    const raw = raws.get(socket.remotePort)
    const end = (how: End) => void (how === 'rst' ? raw?.resetAndDestroy() : socket.destroy())
    const exchange = { request, response, end, forward: async (whole: Whole) => await forward(cluster, agent, whole) }
    play(exchange, fault, random).catch((error: unknown) => {
      // A client that goes away in the middle of its request is no fault of the gate.
      if (!socket.destroyed) problems.push(String(error))
      socket.destroy()
    })
  }
  const options = { keepAliveTimeout: 75_000 }
  const server: Server =
    certificate === undefined
      ? createServer(options, serve)
      : createSecureServer({ ...options, cert: certificate.cert, key: certificate.key }, serve)
  server.on('connection', (raw: Socket) => {
    const { remotePort } = raw
    raws.set(remotePort, raw)
    sources.add(raw.remoteAddress ?? 'nowhere')
    raw.on('error', () => undefined).once('close', () => raws.delete(remotePort))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    sources,
    problems,
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      agent.destroy()
    },
  }
}

/** Passes a request on; the answer without what belongs to the connection. */
async function forward(cluster: URL, agent: Agent, { method, path, headers, body }: Whole): Promise<Answer> {
  const { connection: _, 'content-encoding': __, 'transfer-encoding': ___, ...kept } = headers
  const upstream = send(new URL(path, cluster), {
    method,
    agent,
    headers: { ...kept, ...(body.length > 0 && { 'content-length': body.length }) },
  })
  upstream.on('error', () => undefined).end(body)
  const [response] = (await once(upstream, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const named = Object.entries(response.headers).flatMap(([name, value]) =>
    hopByHop.has(name) || value === undefined ? [] : [[name, String(value)] as const],
  )
  return { status: response.statusCode ?? 0, headers: Object.fromEntries(named), body: Buffer.concat(chunks) }
}

const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'content-length'])
