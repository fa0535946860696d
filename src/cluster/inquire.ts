import type { Readable } from 'node:stream'
import type { Cluster } from './open-cluster.js'
import { readAnswer } from './read-answer.js'
import type { Answer } from './who-answered.js'

export interface Inquiry {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: object
  /** More of an answer is not read. */
  readonly maxAnswerBytes: number
  readonly signal?: AbortSignal
}

/**
 * One request through the client that changes nothing, so that it may be repeated. Resolves to the answer whatever its status;
 * throws the client's error, with a RouteError below it where the way failed.
 */
export async function inquire({ client }: Pick<Cluster, 'client'>, inquiry: Inquiry): Promise<Answer> {
  const { method, path, query = {}, body, signal, maxAnswerBytes } = inquiry
  const answer = await client.transport.request<Readable>(
    { method, path, querystring: { ...query }, ...(body === undefined ? {} : { body: JSON.stringify(body) }) },
    {
      meta: true,
      asStream: true,
      redaction: { type: 'off' },
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(signal === undefined ? {} : { signal }),
    },
  )
  const { statusCode, headers } = answer
  return { statusCode: statusCode ?? 0, headers, body: await readAnswer(answer.body, headers, maxAnswerBytes) }
}
