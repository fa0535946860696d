import { PassThrough, type Readable, finished } from 'node:stream'

/** Returns whether a stream is a request to a server of the caller: of `node:http`, of the compatible API of `node:http2`, or of a framework that passes these on. */
export function isRequest(stream: Readable): boolean {
  return 'httpVersion' in stream && 'method' in stream && typeof stream.method === 'string'
}

/**
 * Returns the body of a request. To destroy the request itself would end its connection, and the caller could not answer. If the body
 * is destroyed, the rest of the request is read and dropped, because its client may read no answer before it has sent everything.
 */
export function bodyOf(request: Readable): Readable {
  const body = new PassThrough()
  // The reader of the body gets the error, even if the error came first. Without a listener, Node would end the process.
  body.on('error', () => {})
  finished(request, { writable: false }, error => {
    if (error != null) body.destroy(error)
  })
  body.once('close', () => {
    request.unpipe(body)
    request.resume()
  })
  return request.pipe(body)
}
