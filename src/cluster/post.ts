import type { Readable } from 'node:stream'
import { readAnswer } from './read-answer.js'
import type { Answer } from './who-answered.js'
import type { Cluster } from './open-cluster.js'

export interface Post {
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  /** Not touched again by Sluice until the answer is there. */
  readonly body: Buffer
  /** More of an answer is not read. */
  readonly maxAnswerBytes: number
  readonly signal?: AbortSignal
}

/**
 * One bulk request through the client. Resolves to the answer whatever its status, with the body as bytes; throws the client's
 * error, with a RouteError below it where the way failed.
 */
export async function post(cluster: Pick<Cluster, 'client'>, request: Post): Promise<Answer> {
  const { statusCode, headers, body } = await cluster.client.transport.request<Readable>(
    { method: 'POST', path: request.path, querystring: { ...request.query }, bulkBody: request.body },
    {
      meta: true,
      // The client would parse every item of every answer; the sender reads only what it needs.
      asStream: true,
      // The default walks every byte of a body for each error. These errors go no further than the sender's verdict.
      redaction: { type: 'off' },
      headers: { ...request.headers, 'content-type': 'application/x-ndjson', accept: 'application/json' },
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    },
  )
  return { statusCode: statusCode ?? 0, headers, body: await readAnswer(body, headers, request.maxAnswerBytes) }
}
