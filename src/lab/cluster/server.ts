import { type IncomingMessage, ServerResponse, createServer } from 'node:http'
import type { Socket } from 'node:net'
import { answerEdge, answerFiltered, type FilterBody } from '../filter/edge.js'
import type { FaultPlan } from '../faults.js'
import { type Refusals, because } from '../refusals.js'
import { type Arrival, arrivalOf } from '../listener.js'
import { RequestRefused, answer, errorBody } from './answers.js'
import type { Cluster } from './cluster.js'
import { mediaTypeFault } from './media-type.js'
import { readBody } from './request-body.js'
import { handle } from './routes.js'

export interface ClusterServerOptions {
  readonly cluster: Cluster
  readonly faults: FaultPlan
  /** Whether the IP filter lets an address through. */
  readonly allows: (address: string) => boolean
  readonly filterBody: () => FilterBody
  readonly refusals: Refusals
}

/** The managed OTLP endpoint: IP filters do not cover it. */
const otlp = /^\/(?:v1\/(?:logs|metrics|traces)|_otlp\/)/
const bulk = /^\/(?:[^/]+\/)?_bulk$/

/** Serves the cluster, and the edge with its IP filter in front of it, on the given sockets. */
export function createClusterServer(options: ClusterServerOptions): (socket: Socket, arrival: Arrival) => void {
  const server = createServer(
    { requestTimeout: 0, headersTimeout: 0, keepAliveTimeout: 75_000 },
    (request, response) => {
      arrivalOf(request.socket).requests++
      options.refusals.watch('cluster', request, response)
      void serve(options, request, response).catch((error: unknown) => {
        if (error instanceof RequestRefused) {
          if (error.fault.status !== 404) because(response, error.fault.reason)
          return answer(response, error.fault.status, errorBody(error.fault))
        }
        // Reports a bug of the lab in a form that differs from the cluster's errors.
        if (response.headersSent) return void response.destroy()
        answer(response, 500, JSON.stringify({ lab: String(error) }), { product: false })
      })
    },
  )
  return socket => void server.emit('connection', socket)
}

async function serve(options: ClusterServerOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { cluster, faults } = options
  if (faults.isTooOften()) {
    request.resume()
    because(response, 'the planted rate allows no more requests in this second', 'gateway')
    return answerTooOften(response)
  }
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  if (faults.current.edge) {
    request.resume()
    because(response, `a planted fault: edge ${faults.current.edge}`, 'edge')
    return answerEdge(response, faults.current.edge)
  }
  // Judges the connection's source address again for each request, because policies may have changed.
  const isFiltered = bulk.test(path) ? faults.strike('filter') !== undefined : faults.goesOn('filter')
  const { from } = arrivalOf(request.socket)
  if (!otlp.test(path) && (isFiltered || !options.allows(from))) {
    request.resume()
    because(response, isFiltered ? 'a planted fault: filter' : `no attached policy allows ${from}`, 'IP filter')
    return answerFiltered(response, options.filterBody())
  }
  const length = Number(request.headers['content-length'] ?? 0)
  const hasBody = length > 0 || request.headers['transfer-encoding'] !== undefined
  const badType = mediaTypeFault(request.headers, cluster.major, hasBody)
  const principal = cluster.security.authenticate(request, response)
  if (!principal) return void request.resume()
  if (badType === 'not-acceptable') {
    request.resume()
    const type = request.headers['content-type'] ?? ''
    because(response, `the content type [${type}] is not supported`)
    return answer(
      response,
      406,
      JSON.stringify({ error: `Content-Type header [${type}] is not supported`, status: 406 }),
    )
  }
  if (badType) {
    request.resume()
    throw new RequestRefused(badType)
  }
  const body = await readBody(request, cluster.maxContentBytes)
  if (body === 'too-large') {
    because(response, `the body is longer than ${cluster.maxContentBytes} bytes`)
    return answerTooLarge(response)
  }
  if (body === 'gone') return
  const exchange = { cluster, faults, principal, request, response, path, body }
  const { stall } = faults.current
  if (stall !== undefined && request.method === stall.method && path.endsWith(stall.path) && faults.strike('stall')) {
    // A response without a socket goes nowhere.
    if (stall.done === true) await handle({ ...exchange, response: new ServerResponse(request) })
    return
  }
  await handle(exchange)
}

/** Answers as a gateway does that limits the rate. */
function answerTooOften(response: ServerResponse): void {
  response.writeHead(429, { 'content-type': 'text/html', 'retry-after': '1', server: 'gateway' })
  response.end('<h1>429 Too Many Requests</h1>')
}

/** Answers as Elasticsearch does: without a body, and closes the connection even if the client is still writing. */
function answerTooLarge(response: ServerResponse): void {
  response.writeHead(413, { 'content-length': 0, connection: 'close' })
  response.end()
}
