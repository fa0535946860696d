import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import { routeErrorOf } from './connection.js'
import { inquire } from './inquire.js'
import { nameRefusal } from './name-refusal.js'
import type { Cluster } from './open-cluster.js'
import { type Answer, whoAnswered } from './who-answered.js'

/** A mapping of many thousand fields is a few megabytes. */
const ANSWER_BYTES = 32 << 20

export interface Call {
  readonly method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: object
  /** What the answer may take, where that can be told: a budget of bytes goes by it. */
  readonly answerBytes?: number
  /** Refusals of Elasticsearch that are an answer: types of error, or a status for what has none. */
  readonly expects?: readonly (string | number)[]
}

export interface Called {
  readonly status: number
  /** Empty where the answer is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>
  /** Of a refusal. */
  readonly type: string
  readonly reason: string
}

/**
 * One small request about an index or alias. Throws SluiceError: INDEX_REQUEST_REFUSED, RUN_INTERRUPTED (see `inquire`), and every
 * failure of the way there; then it may have been carried out all the same.
 */
export async function call(cluster: Cluster, request: Call): Promise<Called> {
  const answer = await send(cluster, request)
  const { statusCode: status } = answer
  const answered = whoAnswered(answer, cluster.route)
  if (answered.by !== 'elasticsearch') throw new SluiceError(nameRefusal(answer, answered, cluster.display))
  const { type = '', reason = '' } = answered
  const isExpected = request.expects?.includes(type === '' ? status : type) === true
  if (status < 300 || isExpected) return { status, json: objectIn(answer.body), type, reason }
  const named = nameRefusal(answer, answered, cluster.display)
  if (named.code !== 'REQUEST_REFUSED') throw new SluiceError(named)
  const { method, path } = request
  const asked = `${method} ${decodeURIComponent(path)}`
  throw fail('INDEX_REQUEST_REFUSED', {
    cluster: cluster.display,
    request: asked,
    status,
    reason: `${type}: ${reason}`,
  })
}

async function send(cluster: Cluster, { method, path, query, body, answerBytes }: Call): Promise<Answer> {
  const asked = {
    ...(query === undefined ? {} : { query }),
    ...(body === undefined ? {} : { body }),
    ...(answerBytes === undefined ? {} : { answerBytes }),
  }
  try {
    return await inquire(cluster, { method, path, ...asked, maxAnswerBytes: ANSWER_BYTES })
  } catch (error) {
    throw withoutAnswer(error, cluster.display)
  }
}

function withoutAnswer(error: unknown, cluster: string): unknown {
  const lost = routeErrorOf(error)
  if (lost !== undefined) return new SluiceError(lost.failure, { cause: lost })
  if (error instanceof Error && error.name === 'ProductNotSupportedError') {
    const observed = 'status 200 without the x-elastic-product header'
    return fail('CLUSTER_NOT_ELASTICSEARCH', { cluster, observed })
  }
  // An error of the client holds the request, and with it the credentials.
  return error instanceof Error && 'meta' in error ? new Error(`${error.name}: ${error.message}`) : error
}

function objectIn(bytes: Buffer): Called['json'] {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
