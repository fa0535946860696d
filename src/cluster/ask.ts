import type { Failure } from '../failure/failure.js'
import { RouteError } from '../proxy/route-error.js'
import type { Route } from '../proxy/route.js'
import { readAnswer } from './read-answer.js'
import type { Answer } from './who-answered.js'

/** GET / answers with half a kilobyte. */
const ANSWER_BYTES = 1 << 20

interface Question {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** One request on a fresh connection, its answer read whole; or the failure of the way there. An abort is thrown. */
export async function ask(route: Route, question: Question): Promise<Answer | Failure> {
  const { body, headers, signal, ...request } = question
  try {
    const response = await route.once({
      ...request,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body ?? null,
      ...(signal === undefined ? {} : { signal }),
    })
    const { statusCode, headers: answered } = response
    return { statusCode, headers: answered, body: await readAnswer(response.body, answered, ANSWER_BYTES) }
  } catch (error) {
    if (error instanceof RouteError && error.code !== 'ABORTED') return error.failure
    throw error
  }
}
