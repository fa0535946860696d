import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface OldCluster extends AsyncDisposable {
  readonly url: string
}

interface OldClusterOptions {
  /** The cluster that answers. */
  readonly url: string
  /** What GET / answers instead. Absent: as that cluster. */
  readonly root?: object
  /** Requests that the credentials may not make. */
  readonly refuses?: RegExp
  /** Changes the text of an answer. */
  readonly changes?: (path: string, text: string) => string
}

/** Plays a cluster that names no product in its headers, as Elasticsearch before 7.14 and OpenSearch do. Another one holds its documents. */
export async function startOldCluster(options: OldClusterOptions): Promise<OldCluster> {
  const server = createServer((request, response) => {
    void answer().catch(() => response.destroy())
    async function answer() {
      const chunks: Buffer[] = []
      for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
      const [path = '/'] = (request.url ?? '/').split('?')
      const headers = { 'content-type': 'application/json; charset=UTF-8' }
      if (options.refuses?.test(path) === true) {
        const error = { type: 'security_exception', reason: `no permissions for [${path}]`, root_cause: [] }
        response.writeHead(403, headers).end(JSON.stringify({ error, status: 403 }))
        return
      }
      if (path === '/' && options.root !== undefined) {
        response.writeHead(200, headers).end(JSON.stringify(options.root))
        return
      }
      const authorization = String(request.headers.authorization)
      const { status, text } = await fetch(options.url + request.url, {
        method: request.method ?? 'GET',
        headers: { authorization, ...headers },
        ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
      }).then(async answered => ({ status: answered.status, text: await answered.text() }))
      response.writeHead(status, headers).end(options.changes?.(path, text) ?? text)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
