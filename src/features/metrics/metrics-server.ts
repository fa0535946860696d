/** Answers `GET /metrics`, without a token: metrics hold no secret and no document. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ListenAddress } from '../../base/addresses.js'

/** A scrape takes one connection. */
const MOST_CONNECTIONS = 50
const REQUEST_MS = 10_000

export interface MetricsServer extends AsyncDisposable {
  readonly url: string
}

/** Starts to listen. Rejects with the error of the system if the address cannot be used. */
export async function startMetricsServer(
  { host, port }: ListenAddress,
  type: string,
  text: () => Promise<string>,
): Promise<MetricsServer> {
  const times = { requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS, keepAliveTimeout: REQUEST_MS }
  const server = createServer(times, (request, response) => {
    for (const stream of [request, response]) stream.on('error', () => undefined)
    const [path] = (request.url ?? '/').split('?')
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    if (path !== '/metrics' || !isRead) {
      response.writeHead(isRead ? 404 : 405, { 'content-type': 'text/plain' }).end('GET /metrics\n')
      return
    }
    void text().then(
      body => response.writeHead(200, { 'content-type': type }).end(request.method === 'HEAD' ? '' : body),
      () => response.writeHead(500).end(),
    )
  })
  server.maxConnections = MOST_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
  server.on('error', () => undefined)
  // A scrape must not keep a run from ending.
  server.unref()
  const name = host.includes(':') ? `[${host}]` : host
  return {
    url: `http://${name}:${(server.address() as AddressInfo).port}/metrics`,
    [Symbol.asyncDispose]: async () => {
      const closed = new Promise<void>(resolve => server.close(() => resolve()))
      server.closeAllConnections()
      await closed
    },
  }
}
