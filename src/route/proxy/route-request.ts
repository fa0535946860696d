import { Readable } from 'node:stream'

export interface RouteRequest {
  readonly method: string
  /** Path and query, beginning with a slash. */
  readonly path: string
  /** Host, Connection and Proxy-Authorization are the route's own. */
  readonly headers: Readonly<Record<string, string | string[]>>
  /** A Buffer belongs to the route until the answer has been read whole, or the request has failed. */
  readonly body?: Buffer | string | Readable | null | undefined
  readonly signal?: AbortSignal | undefined
  /**
   * Whether a server with these headers reads a body before it answers. After any other refusal of a request with a
   * body, the connection is not used again. Default: every server does, except a proxy that forwards.
   */
  readonly isReader?: (headers: RouteResponse['headers']) => boolean
  /** Milliseconds for waiting, connecting, sending, and reading the answer to its end. Default: no limit. */
  readonly timeoutMs?: number | undefined
}

export interface RouteResponse {
  readonly statusCode: number
  /** Names in lower case. Redirects are answers like any other: they are never followed. */
  readonly headers: Readonly<Record<string, string | string[]>>
  /** To be read or destroyed: it holds one of the pool's connections until then. */
  readonly body: AnswerBody
}

/**
 * The body of an answer, read once: as a stream, or whole. The request's time limit and signal hold until its end. After the end,
 * or if it is destroyed unread, the connection is free or closed. A body that breaks gives a RouteError.
 */
export class AnswerBody extends Readable {
  constructor(
    private readonly more: () => void,
    private readonly abandoned: () => void,
  ) {
    super({ highWaterMark: 256 * 1024 })
    // An unread body may break without ending the process. Readers still get the error.
    this.on('error', () => {})
  }

  async bytes(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for await (const chunk of this) chunks.push(chunk)
    return chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks)
  }

  async text(): Promise<string> {
    return (await this.bytes()).toString('utf8')
  }

  override [Symbol.asyncIterator](): NodeJS.AsyncIterator<Buffer> {
    return super[Symbol.asyncIterator]()
  }

  override _read(): void {
    this.more()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    if (!this.readableEnded) this.abandoned()
    callback(error)
  }
}
