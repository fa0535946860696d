/** A port that plays proxy and cluster in one: what it reads of a bulk body, when, and when it answers, is the test's. */
import { once } from 'node:events'
import { type AddressInfo, type Socket, createServer } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Certificate } from '../../support/servers/proxy-certificates.js'
import type { ReceivedBody } from '../../support/state/known-documents.js'

/** What stands in front of the requests: nothing, a proxy that forwards them (nothing to do either), or a tunnel's handshake. */
export type Front = 'direct' | 'forward' | 'connect' | 'socks5'

export interface BodyServer extends AsyncDisposable {
  readonly port: number
  /** The bulk requests so far. */
  readonly requests: readonly BulkRequest[]
  /** Resolves when every connection is closed, or left unread by the test. */
  settled(): Promise<void>
  /** Rejects with the first error of `serve`. */
  readonly broken: Promise<never>
}

export async function startBodyServer(
  { front, tls }: { front: Front; tls?: Certificate },
  serve: (request: BulkRequest) => Promise<void>,
): Promise<BodyServer> {
  const requests: BulkRequest[] = []
  const open = new Set<Socket>()
  const serving: Promise<void>[] = []
  let fail: (error: unknown) => void = () => undefined
  const broken = new Promise<never>((_, reject) => (fail = reject))
  broken.catch(() => undefined)
  const server = createServer({ noDelay: true }, socket => {
    open.add(socket)
    socket.on('error', () => undefined).once('close', () => open.delete(socket))
    const served = serveConnection(socket).catch((error: unknown) => {
      fail(error)
      socket.destroy()
    })
    serving.push(served)
  })
  const serveConnection = async (socket: Socket): Promise<void> => {
    const bytes = await enter(socket, front, tls)
    for (;;) {
      const head = await bytes.upTo('\r\n\r\n')
      if (head === undefined) return
      if (head.startsWith('GET')) bytes.write(answerOf(200, { cluster_name: 'bytes', version: { number: '9.4.3' } }))
      else {
        const request = new BulkRequest(bytes, head)
        requests.push(request)
        await serve(request)
        if (!request.isWhole) return
      }
    }
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    settled: async () => void (await Promise.all(serving)),
    broken,
    [Symbol.asyncDispose]: async () => {
      server.close()
      for (const socket of open) socket.destroy()
    },
  }
}

export class BulkRequest implements ReceivedBody {
  readonly gzip: boolean
  readonly #length: number
  readonly #parts: Buffer[] = []
  #received = 0

  constructor(
    private readonly connection: Incoming,
    head: string,
  ) {
    this.gzip = /^content-encoding: gzip/im.test(head)
    this.#length = Number(/^content-length: (\d+)/im.exec(head)?.[1])
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#parts)
  }

  get isWhole(): boolean {
    return this.#received === this.#length
  }

  /** Reads the body until so many bytes of it are there, by default all of them, or until the connection has ended. */
  async read(bytes = this.#length, slowly = false): Promise<void> {
    while (this.#received < Math.min(bytes, this.#length)) {
      const part = await this.connection.some(this.#length - this.#received)
      if (part === undefined) return
      this.#parts.push(part)
      this.#received += part.length
      if (slowly && this.#parts.length % 16 === 0) await new Promise(resolve => setTimeout(resolve, 1))
    }
  }

  /** `last`: the next request is told to come over a new connection, whose buffers are small. */
  answer(status: number, body: unknown, last = false): void {
    this.connection.write(answerOf(status, body, last ? 'Connection: close\r\n' : ''))
  }

  reset(): void {
    this.connection.reset()
  }
}

function answerOf(status: number, body: unknown, header = ''): string {
  const text = JSON.stringify(body)
  const headers = `X-Elastic-Product: Elasticsearch\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n`
  return `HTTP/1.1 ${status} Status\r\n${headers}${header}\r\n${text}`
}

async function enter(raw: Socket, front: Front, tls: Certificate | undefined): Promise<Incoming> {
  const bytes = new Incoming(raw, raw)
  if (front === 'connect') {
    await bytes.upTo('\r\n\r\n')
    raw.write('HTTP/1.1 200 Connection established\r\n\r\n')
  } else if (front === 'socks5') {
    await bytes.some(3)
    raw.write(Buffer.from([5, 0]))
    // Host names come with their length; the greeting's rest is waited for, so that the answer is not early.
    for (let left = 5, length = 0; left > 0;) {
      const part = await bytes.some(left)
      if (part === undefined) break
      length += part.length
      left -= part.length
      if (length === 5) left = 2 + (part.at(-1) ?? 0)
    }
    raw.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
  }
  if (tls === undefined) return bytes
  const secure = new TLSSocket(raw, { isServer: true, cert: tls.cert, key: tls.key })
  secure.on('error', () => undefined)
  return new Incoming(secure, raw)
}

/** Bytes of a connection that is read no further than it is asked for: the rest stays with the sender. */
class Incoming {
  #rest: Buffer = Buffer.alloc(0)

  constructor(
    private readonly socket: Socket,
    private readonly raw: Socket,
  ) {}

  /** The next bytes, at most so many. Undefined at the end. */
  async some(atMost: number): Promise<Buffer | undefined> {
    if (this.#rest.length === 0) {
      const chunk = await this.#next()
      if (chunk === undefined) return undefined
      this.#rest = chunk
    }
    const part = this.#rest.subarray(0, atMost)
    this.#rest = this.#rest.subarray(part.length)
    return part
  }

  /** Text up to a mark and with it. Undefined where it does not come. */
  async upTo(mark: string): Promise<string | undefined> {
    let taken: Buffer = Buffer.alloc(0)
    for (;;) {
      const found = taken.indexOf(mark)
      if (found >= 0) {
        this.#rest = taken.subarray(found + mark.length)
        return taken.toString('latin1', 0, found + mark.length)
      }
      const more = await this.some(Infinity)
      if (more === undefined) return undefined
      taken = Buffer.concat([taken, more])
    }
  }

  write(text: string): void {
    if (!this.socket.destroyed) this.socket.write(text)
  }

  reset(): void {
    this.raw.resetAndDestroy()
  }

  async #next(): Promise<Buffer | undefined> {
    const { socket } = this
    for (;;) {
      const chunk = socket.read() as Buffer | null
      if (chunk !== null) return chunk
      if (socket.readableEnded || socket.destroyed) return undefined
      await new Promise<void>(resolve => {
        const go = () => {
          socket.off('readable', go).off('end', go).off('close', go)
          resolve()
        }
        socket.on('readable', go).on('end', go).on('close', go)
      })
    }
  }
}
