import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface SilentCluster extends AsyncDisposable {
  readonly url: string
  /** Of any kind. */
  readonly requests: number
  /** Resolves when the next bulk request has arrived. */
  bulk(): Promise<unknown>
}

/** Answers what is asked before a load, and never a bulk request: its sender waits until it is stopped. */
export async function silentCluster(): Promise<SilentCluster> {
  const arrivals = new EventEmitter()
  let requests = 0
  const server = createServer((request, response) => {
    requests += 1
    if (request.method === 'GET') {
      response.setHeader('x-elastic-product', 'Elasticsearch')
      response.setHeader('content-type', 'application/json')
      response.end('{"cluster_name":"silent","version":{"number":"9.4.3"}}')
    } else {
      request.resume()
      arrivals.emit('bulk')
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get requests() {
      return requests
    },
    bulk: async () => await once(arrivals, 'bulk'),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
