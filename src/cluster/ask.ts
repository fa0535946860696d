import type { Failure } from '../failure/failure.js'
import { RouteError } from '../proxy/route-error.js'
import type { Route } from '../proxy/route.js'
import type { Answer } from './who-answered.js'

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
    const bytes = Buffer.from(await response.body.arrayBuffer())
    return { statusCode: response.statusCode, headers: response.headers, body: bytes }
  } catch (error) {
    if (error instanceof RouteError && error.code !== 'ABORTED') return error.failure
    throw error
  }
}
