/** A web server with objects in memory, for what no real server does on command. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ServedObject {
  bytes: Buffer
  /** Default: a hash of the bytes. Empty: none. */
  etag?: string
  modified?: Date
  headers?: Record<string, string>
}

/** What a request was about. */
export interface Asked {
  readonly path: string
  readonly method: string
  /** The address that the request comes from. */
  readonly from: string | undefined
  readonly headers: IncomingMessage['headers']
}

/** Answers in the place of the object, and returns true. */
export type Fault = (asked: Asked, response: ServerResponse, object: ServedObject | undefined) => boolean

export class ObjectServer implements AsyncDisposable {
  readonly objects = new Map<string, ServedObject>()
  asked: Asked[] = []
  fault: Fault | undefined
  hasRanges = true
  /** Without it, answers come in chunks, without ETags. */
  sendsLength = true
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  static async start(): Promise<ObjectServer> {
    const server = new ObjectServer()
    server.#server.listen(0, '127.0.0.1')
    await once(server.#server, 'listening')
    return server
  }

  url(name: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${name}`
  }

  put(name: string, bytes: string | Uint8Array, more: Partial<ServedObject> = {}): void {
    this.objects.set(`/${name}`, { modified: new Date(1_700_000_000_000), ...more, bytes: Buffer.from(bytes) })
  }

  rename(name: string, to: string): void {
    const object = this.objects.get(`/${name}`)
    if (object !== undefined) this.objects.set(`/${to}`, object)
    this.objects.delete(`/${name}`)
  }

  /** Bytes of bodies that requests for a path asked for, by their ranges. */
  ranges(name: string): readonly (string | undefined)[] {
    return this.asked.filter(({ path }) => path === `/${name}`).map(({ headers }) => headers.range)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { url = '', method = '', headers } = request
    const asked = { path: url, method, headers, from: request.socket.remoteAddress }
    const object = this.objects.get(url) ?? this.objects.get(url.replace(/\?.*/, ''))
    this.asked.push(asked)
    if (this.fault?.(asked, response, object) === true) return
    if (object === undefined) response.writeHead(404).end()
    else if (this.sendsLength) serve(object, headers, response, this.hasRanges)
    else sendInChunks(object, response)
  }
}

function sendInChunks({ bytes }: ServedObject, response: ServerResponse): void {
  const middle = Math.floor(bytes.length / 2)
  response.writeHead(200).write(bytes.subarray(0, middle))
  response.end(bytes.subarray(middle))
}

/** Answers like a web server. */
export function serve(
  { bytes, etag = etagOf(bytes), modified, headers: more }: ServedObject,
  headers: IncomingMessage['headers'],
  response: ServerResponse,
  hasRanges = true,
): void {
  const about = {
    ...(etag === '' ? {} : { etag }),
    ...(modified === undefined ? {} : { 'last-modified': modified.toUTCString() }),
    ...more,
  }
  const wanted = headers['if-match']
  const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(hasRanges ? (headers.range ?? '') : '') ?? []
  const from = Number(first)
  const to = Math.min(Number(last) + 1, bytes.length)
  if (wanted !== undefined && wanted !== etag) response.writeHead(412, about).end()
  else if (first === undefined) response.writeHead(200, { ...about, 'content-length': bytes.length }).end(bytes)
  else if (from >= bytes.length) response.writeHead(416, { ...about, 'content-range': `bytes */${bytes.length}` }).end()
  else {
    const range = { 'content-range': `bytes ${from}-${to - 1}/${bytes.length}`, 'content-length': to - from }
    response.writeHead(206, { ...about, ...range }).end(bytes.subarray(from, to))
  }
}

export function etagOf(bytes: Uint8Array): string {
  return `"${createHash('md5').update(bytes).digest('hex')}"`
}
