/** Reads the answer of a cluster. */
import { promisify } from 'node:util'
import { unzip } from 'node:zlib'
import { failure } from '../../base/failure/failure.js'
import { RouteError } from '../proxy/route-error.js'
import { type AnswerHead, type ClusterAnswer, describeAnswer } from './answers.js'

export interface ReceivedAnswer extends ClusterAnswer {
  /** Bytes of the body as it came: compressed, if the server did that. */
  readonly wireBytes: number
}

interface AnswerStream extends AnswerHead {
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown }
}

/**
 * Reads an answer, and decompresses it. Throws RouteError if it has more than `limit` bytes, also decompressed, or cannot be
 * decompressed: Sluice cannot know its content.
 */
export async function readAnswer(answer: AnswerStream, limit: number, cluster: string): Promise<ReceivedAnswer> {
  const { statusCode, headers, body } = answer
  const parts: Uint8Array[] = []
  let wireBytes = 0
  for await (const part of body) {
    wireBytes += part.length
    if (wireBytes > limit) break
    parts.push(part)
  }
  if (wireBytes > limit) body.destroy()
  const read = wireBytes > limit ? tooLong(limit) : await decompressed(Buffer.concat(parts), headers, limit)
  if (typeof read === 'string') throw unreadable(answer, read, cluster)
  return { statusCode, headers, body: read, wireBytes }
}

const decompress = promisify(unzip)

/** Returns the bytes, or what is wrong with them. */
async function decompressed(bytes: Buffer, headers: ClusterAnswer['headers'], limit: number): Promise<Buffer | string> {
  const isCompressed = /^(x-)?gzip$|^deflate$/i.test(String(headers['content-encoding'] ?? ''))
  if (!isCompressed || bytes.length === 0) return bytes
  try {
    return await decompress(bytes, { maxOutputLength: limit })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
      ? tooLong(limit)
      : 'a body that cannot be decompressed'
  }
}

function tooLong(limit: number): string {
  return `a body of more than ${limit.toLocaleString('en-US')} bytes`
}

function unreadable(answer: AnswerHead, what: string, cluster: string): RouteError {
  const observed = describeAnswer(answer, what)
  const named = failure('CLUSTER_UNAVAILABLE', { cluster, observed, status: answer.statusCode })
  return new RouteError({ code: ANSWER_UNREADABLE, phase: 'exchange', delivery: 'possible', failure: named })
}

/** The code of an answer that is too long, or broken. */
export const ANSWER_UNREADABLE = 'ANSWER_UNREADABLE'
