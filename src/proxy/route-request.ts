import type { Readable } from 'node:stream'
import type { AnswerBody } from './answer-body.js'

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
