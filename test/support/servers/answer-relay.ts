/** Stands in front of a server of the lab, and changes its answers. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type OutgoingHttpHeaders, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** What is changed in an answer that is JSON. `asked`: method and path, without a query. */
type Alter = (json: unknown, asked: string) => unknown

export interface Relay extends AsyncDisposable {
  readonly url: string
  alter: Alter
  /** Goes into every answer: a reason phrase, and header values. */
  said: string | undefined
}

/** `from`: the address that the server sees. */
export async function relayTo(target: string, from: string): Promise<Relay> {
  const server = createServer((asked, answer) => {
    forward(asked)
      .then(({ statusCode = 500, headers, body }) => {
        const { said } = relay
        const { 'content-length': _, 'transfer-encoding': __, ...rest } = headers
        const more: OutgoingHttpHeaders =
          said === undefined ? {} : { server: said, via: said, 'x-cloud-request-id': said, 'retry-after': said }
        answer
          .writeHead(statusCode, said, { ...rest, ...more })
          .end(altered(body, `${asked.method} ${asked.url?.split('?')[0]}`))
      })
      .catch(() => answer.destroy())
  })
  const forward = async (asked: IncomingMessage) => {
    const sent = await buffer(asked)
    const headers = { ...asked.headers, 'accept-encoding': 'identity' }
    const ask = request(new URL(asked.url ?? '', target), { method: asked.method, headers, localAddress: from }).end(
      sent,
    )
    const [got] = (await once(ask, 'response')) as [IncomingMessage]
    return { statusCode: got.statusCode, headers: got.headers, body: await buffer(got) }
  }
  const altered = (body: Buffer, asked: string): Buffer => {
    try {
      return Buffer.from(JSON.stringify(relay.alter(JSON.parse(body.toString()), asked)))
    } catch {
      return body
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const relay: Relay = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    alter: json => json,
    said: undefined,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
    },
  }
  return relay
}
