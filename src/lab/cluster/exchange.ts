import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FaultPlan } from '../faults.js'
import { RequestRefused, noSuchIndex } from './answers.js'
import type { Cluster } from './cluster.js'
import { type Permission, type Principal, answerDenied, isAllowed } from './permissions.js'
import type { Index } from './store.js'

/** An authenticated request with its body. */
export interface Exchange {
  readonly cluster: Cluster
  readonly faults: FaultPlan
  readonly principal: Principal
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly path: string
  readonly body: Buffer
}

/** Returns whether the principal has the permission. Otherwise answers 403. */
export function permit({ principal, response }: Exchange, permission: Permission, index?: string): boolean {
  if (isAllowed(principal, permission, index)) return true
  answerDenied(response, principal, permission, index)
  return false
}

/** Returns the indices that match an expression. Throws RequestRefused if one is missing. */
export function findIndices({ cluster, request }: Exchange, expression: string): readonly Index[] {
  const { found, missing } = cluster.matching(expression)
  const mayMiss = new URL(request.url ?? '/', 'http://lab').searchParams.get('ignore_unavailable') === 'true'
  if (missing !== undefined && !mayMiss) throw new RequestRefused(noSuchIndex(missing))
  return found
}

/**
 * Parses a JSON body, and refuses the request if the body is no JSON object. An empty body counts as an empty object.
 */
export function parseBody(body: Buffer): Record<string, unknown> {
  if (body.length === 0) return {}
  try {
    const parsed: unknown = JSON.parse(body.toString())
    if (typeof parsed === 'object' && parsed !== null) return parsed as Record<string, unknown>
  } catch {
    // Refused below.
  }
  throw new RequestRefused({ status: 400, type: 'parse_exception', reason: 'Failed to parse content to map' })
}
