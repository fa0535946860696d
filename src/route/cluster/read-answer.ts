/** Reads the answer of a cluster. */
import { pipeline, Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createUnzip, unzip } from 'node:zlib'
import { failure } from '../../base/failure/failure.js'
import { RouteError } from '../proxy/route-error.js'
import { type AnswerHead, type ClusterAnswer, describeAnswer } from './answers.js'
import { TextCutter } from './cut-texts.js'

export interface ReceivedAnswer extends ClusterAnswer {
  /** Bytes of the body as it came: compressed, if the server did that. */
  readonly wireBytes: number
}

interface AnswerStream extends AnswerHead {
  readonly body: AsyncIterable<Uint8Array> & { destroy(): unknown }
}

/**
 * Reads an answer, and decompresses it. Throws RouteError if it has more than `limit` bytes, also decompressed, or cannot be
 * decompressed: Sluice cannot know its content. `quotedBytes`: how many more it may have because its texts quote the request. Such texts
 * are then cut, so that no more than `limit` bytes are held.
 */
export async function readAnswer(
  answer: AnswerStream,
  limit: number,
  cluster: string,
  quotedBytes = 0,
): Promise<ReceivedAnswer> {
  const { statusCode, headers, body } = answer
  const wire = new Wire(body)
  const parts: Uint8Array[] = []
  for await (const part of wire.upTo(limit)) parts.push(part)
  let read = wire.bytes > limit ? tooLong(limit) : await decompressed(Buffer.concat(parts), headers, limit)
  if (!Buffer.isBuffer(read) && read.isTooLong && quotedBytes > 0) {
    const most = limit + quotedBytes
    const whole = async function* () {
      yield* parts
      yield* wire.upTo(most)
    }
    read = await withoutLongTexts(isCompressed(headers) ? unzipped(whole()) : whole(), limit, most)
    if (wire.bytes > most) read = tooLong(most)
  }
  if (wire.bytes > limit) body.destroy()
  if (!Buffer.isBuffer(read)) throw unreadable(answer, read, cluster, quotedBytes > 0)
  return { statusCode, headers, body: read, wireBytes: wire.bytes }
}

/** The bytes of an answer as they come. */
class Wire {
  /** How many came. */
  bytes = 0
  readonly #parts: AsyncIterator<Uint8Array>

  constructor(body: AsyncIterable<Uint8Array>) {
    this.#parts = body[Symbol.asyncIterator]()
  }

  /** Yields the next parts, until more than `limit` bytes came in all. Leaves the rest for another call. */
  async *upTo(limit: number): AsyncGenerator<Uint8Array> {
    while (this.bytes <= limit) {
      const { done, value } = await this.#parts.next()
      if (done === true) return
      this.bytes += value.length
      yield value
    }
  }
}

/** What is wrong with an answer. */
interface Unread {
  readonly what: string
  readonly isTooLong: boolean
}

/** Returns the bytes with their long texts cut, or what is wrong with them. */
async function withoutLongTexts(
  bytes: AsyncIterable<Uint8Array>,
  limit: number,
  most: number,
): Promise<Buffer | Unread> {
  const cutter = new TextCutter()
  const kept: Buffer[] = []
  let [came, held] = [0, 0]
  try {
    for await (const piece of bytes) {
      came += piece.length
      if (came > most) return tooLong(most)
      const rest = cutter.cut(piece)
      held += rest.length
      if (held > limit) return tooLong(limit)
      kept.push(rest)
    }
    return Buffer.concat(kept)
  } catch (error) {
    if (String((error as NodeJS.ErrnoException).code).startsWith('Z_')) return undecodable
    throw error
  }
}

function unzipped(bytes: AsyncIterable<Uint8Array>): AsyncIterable<Buffer> {
  // Iterating its end reports the errors of both.
  return pipeline(Readable.from(bytes), createUnzip(), () => undefined)
}

const decompress = promisify(unzip)

/** Returns the bytes, or what is wrong with them. */
async function decompressed(bytes: Buffer, headers: ClusterAnswer['headers'], limit: number): Promise<Buffer | Unread> {
  if (!isCompressed(headers) || bytes.length === 0) return bytes
  try {
    return await decompress(bytes, { maxOutputLength: limit })
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLong(limit) : undecodable
  }
}

function isCompressed(headers: ClusterAnswer['headers']): boolean {
  return /^(x-)?gzip$|^deflate$/i.test(String(headers['content-encoding'] ?? ''))
}

function tooLong(limit: number): Unread {
  return { what: `a body of more than ${limit.toLocaleString('en-US')} bytes`, isTooLong: true }
}

const undecodable: Unread = { what: 'a body that cannot be decompressed', isTooLong: false }

/** `mayQuote`: Sluice has already read more than any quotation of the request. */
function unreadable(answer: AnswerHead, { what, isTooLong }: Unread, cluster: string, mayQuote: boolean): RouteError {
  const observed = describeAnswer(answer, what)
  const code = isTooLong && mayQuote ? 'CLUSTER_ANSWER_TOO_LONG' : 'CLUSTER_UNAVAILABLE'
  const named = failure(code, { cluster, observed, status: answer.statusCode })
  return new RouteError({ code: ANSWER_UNREADABLE, phase: 'exchange', delivery: 'possible', failure: named })
}

/** The code of an answer that is too long, or broken. */
export const ANSWER_UNREADABLE = 'ANSWER_UNREADABLE'
