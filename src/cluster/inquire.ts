import type { Readable } from 'node:stream'
import { bounded, notAsked } from './bounds.js'
import { routeErrorOf } from './connection.js'
import type { Cluster } from './open-cluster.js'
import { readAnswer } from './read-answer.js'
import type { Answer } from './who-answered.js'

export interface Inquiry {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  /** More of an answer is not read. */
  readonly maxAnswerBytes: number
  /** What the answer may take, where that can be told: a budget of bytes goes by it. */
  readonly answerBytes?: number
  /** Default: the one that binds the cluster's requests, if any. */
  readonly signal?: AbortSignal
}

/**
 * One small request through the client, which may be repeated. Resolves to the answer whatever its status; throws the client's
 * error, with a RouteError below it where the way failed, and SluiceError RUN_INTERRUPTED where the request was given up, or did
 * not fit into a budget.
 */
export async function inquire(
  { client, bounds }: Pick<Cluster, 'client' | 'bounds'>,
  { method, path, query = {}, body, signal = bounds?.givenUp, maxAnswerBytes, answerBytes }: Inquiry,
): Promise<Answer> {
  const json = body === undefined ? undefined : JSON.stringify(body)
  const sentBytes = json === undefined ? 0 : Buffer.byteLength(json)
  return await bounded(bounds?.budget?.admitQuestion(sentBytes, answerBytes), async admitted => {
    try {
      const answer = await client.transport.request<Readable>(
        { method, path, querystring: { ...query }, ...(json === undefined ? {} : { body: json }) },
        {
          meta: true,
          // Whatever its status, an answer is read here and judged by whoever asked.
          asStream: true,
          // What is thrown goes no further than a verdict, or a failure that is named.
          redaction: { type: 'off' },
          headers: {
            accept: 'application/json',
            ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(signal === undefined ? {} : { signal }),
        },
      )
      const { statusCode, headers } = answer
      const bytes = await readAnswer(answer.body, headers, maxAnswerBytes)
      admitted?.answered(bytes.length)
      return { statusCode: statusCode ?? 0, headers, body: bytes }
    } catch (error) {
      // An error of the client holds the request, and with it the credentials.
      throw isAbort(error) ? notAsked('the request was given up') : error
    }
  })
}

/** Also where it was aborted before the client gave it to the way. */
function isAbort(error: unknown): boolean {
  const lost = routeErrorOf(error)
  if (lost !== undefined) return lost.code === 'ABORTED'
  return error instanceof Error && error.name === 'RequestAbortedError'
}
