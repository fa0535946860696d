import { gunzipSync, inflateSync } from 'node:zlib'

/**
 * The bytes of an answer, decompressed where a server compresses unasked. Of an answer longer than `limit` the rest is not
 * read: what is kept will not parse, and is named for what it is.
 */
export async function readAnswer(
  body: AsyncIterable<Uint8Array> & { destroy(): unknown },
  headers: Readonly<Record<string, string | string[] | undefined>>,
  limit: number,
): Promise<Buffer> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of body) {
    parts.push(part)
    bytes += part.length
    if (bytes > limit) break
  }
  if (bytes > limit) body.destroy()
  const whole = Buffer.concat(parts)
  const encoding = String(headers['content-encoding'] ?? '').toLowerCase()
  if (encoding !== 'gzip' && encoding !== 'deflate') return whole
  try {
    return (encoding === 'gzip' ? gunzipSync : inflateSync)(whole, { maxOutputLength: limit })
  } catch {
    return whole
  }
}
