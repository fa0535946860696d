/** Reads the answer of a cluster, and the results in it. */
import { inspect, promisify } from 'node:util'
import { unzip } from 'node:zlib'
import { failure } from '../failure/failure.js'
import { RouteError } from '../proxy/route-error.js'
import { isObject, type JsonObject, parseObject } from '../text/parse-json.js'
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
 * decompressed: nobody knows what it says.
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

/** The result of one item of a bulk request, as far as the answer has it in the expected form. */
export interface BulkItem {
  readonly status: number | undefined
  readonly error: { readonly type: string; readonly reason: string } | undefined
  /** What became of the document, if that was asked for. */
  readonly result: string | undefined
  readonly failureStore: string | undefined
  readonly id: string | undefined
  readonly index: string | undefined
}

/** Returns the items of a bulk answer. Returns undefined if the answer has none or cannot be read. */
export function itemsIn(body: Buffer): BulkItem[] | undefined {
  const items = parseObject(body)?.['items']
  if (!Array.isArray(items)) return undefined
  const results = items.map(item => (isObject(item) ? Object.values(item)[0] : undefined))
  return results.every(isObject) ? results.map(readItem) : undefined
}

function readItem({ status, error, result, failure_store: store, _id: id, _index: index }: JsonObject): BulkItem {
  return {
    status: typeof status === 'number' ? status : undefined,
    error: error == null ? undefined : readError(error),
    result: textIn(result),
    failureStore: textIn(store),
    id: textIn(id),
    index: textIn(index),
  }
}

function readError(error: unknown): { type: string; reason: string } {
  if (!isObject(error)) return { type: 'error', reason: asText(error) }
  return { type: textIn(error['type']) ?? 'error', reason: asText(error['reason']) }
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** Returns a reason, whatever its form. */
function asText(reason: unknown): string {
  if (typeof reason === 'string') return reason
  return reason == null ? 'no reason given' : inspect(reason, { breakLength: Infinity })
}
