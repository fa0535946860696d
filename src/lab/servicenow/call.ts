import type { IncomingMessage } from 'node:http'
import type { Platform } from './platform.js'

/** A request that got past the edge. */
export interface Call {
  readonly platform: Platform
  readonly request: IncomingMessage
  readonly method: string
  readonly url: URL
  /** The source address. */
  readonly from: string
  readonly body: string
}

/** The fields of a form that was posted. */
export function formOf({ request, body }: Call): URLSearchParams {
  const isForm = request.headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true
  return new URLSearchParams(isForm ? body : '')
}
