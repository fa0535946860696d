import type { IncomingMessage } from 'node:http'
import { createGunzip } from 'node:zlib'
import { RequestRefused } from './answers.js'

/**
 * Reads a body and gunzips it if compressed. `too-large`: over the limit, and not read to its end. `gone`: the client
 * closed the connection.
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | 'too-large' | 'gone'> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return 'too-large'
  const encoding = request.headers['content-encoding']
  const chunks: Buffer[] = []
  let size = 0
  try {
    const source = encoding === 'gzip' ? request.pipe(createGunzip()) : request
    if (source !== request) request.once('error', error => source.destroy(error))
    for await (const chunk of source) {
      size += (chunk as Buffer).length
      if (size > maxBytes) return 'too-large'
      chunks.push(chunk as Buffer)
    }
  } catch (error) {
    if (request.errored || request.socket.destroyed) return 'gone'
    if (encoding !== 'gzip') throw error
    throw new RequestRefused({ status: 400, type: 'parse_exception', reason: 'request body is required' })
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks, size)
}
