import { randomUUID } from 'node:crypto'
import { nameRefusal, whoAnswered } from '../../cluster/answers.js'
import { type Failure, failure } from '../../../base/failure/failure.js'
import { ask } from '../../cluster/request.js'
import { SURE } from '../../proxy/fresh-connections.js'
import type { Route } from '../../proxy/route.js'
import { parseObject } from '../../../base/json/parse-json.js'
import type { Context, Probe, ProbeResult } from '../context.js'
import type { Facts } from '../facts.js'
import { clusterProblem } from '../obstacles.js'

/** Writes one document, reads it, and deletes it. Only on request, and only if nothing would stay behind. */
export const writeCheck: Probe = {
  name: 'write, read and delete',
  leaveOut: ({ options }, facts) =>
    !options.writeCheck ? '--write-check is not set' : (clusterProblem(facts) ?? indexProblem(facts)),
  look: async (context, { index }) => {
    await using route = context.openRoute()
    // Nothing of a request has left before its connection is built.
    route.adapt({ connections: 1, attempts: SURE })
    return await check(context, route, index?.index ?? '', index?.isDataStream === true)
  },
}

function indexProblem({ index, identity }: Facts): string | undefined {
  if (index === undefined)
    return identity?.failure === undefined ? 'no index is named (--index)' : 'the cluster refuses the credentials'
  if (index.failure !== undefined) return 'the cluster does not show the index'
  if (index.blocks !== undefined) return 'the index accepts no writes'
  if (index.exists === false) return 'the index does not exist yet. A document would create it'
  if (index.exists === undefined)
    return 'the credentials do not show whether the index exists. A document would create it'
  return index.mayCheckWrites === false
    ? 'the credentials do not allow Sluice to read and delete the test document'
    : undefined
}

async function check(context: Context, route: Route, index: string, isDataStream: boolean): Promise<ProbeResult> {
  const id = `sluice-doctor-${randomUUID()}`
  // An empty document adds no field to a mapping. Data streams take none without a time.
  const document = isDataStream ? { '@timestamp': new Date(context.today()).toISOString() } : {}
  const path = `/${encodeURIComponent(index)}/_create/${id}`
  const written = await send(context, route, 'PUT', path, JSON.stringify(document))
  if ('failure' in written) {
    if (written.isAnswered) return told(written.failure)
    // The document may still have been stored.
    const taken = await send(context, route, 'DELETE', `/${encodeURIComponent(index)}/_doc/${id}`)
    return told(written.failure, 'failure' in taken ? `${index}/${id}` : undefined)
  }
  const kept = written.index ?? index
  const place = `/${encodeURIComponent(kept)}/_doc/${id}`
  const read = await send(context, route, 'GET', place)
  const deleted = await send(context, route, 'DELETE', place)
  const problem = 'failure' in deleted ? deleted.failure : 'failure' in read ? read.failure : undefined
  const left = 'failure' in deleted ? `${kept}/${id}` : undefined
  if (problem === undefined)
    return { detail: `Sluice wrote one document to ${kept}, read it and deleted it`, facts: { write: {} } }
  return told(problem, left)
}

function told(problem: Failure, left?: string): ProbeResult {
  const detail =
    left === undefined
      ? problem.message
      : `${problem.message}. Sluice could not delete its test document. Delete ${left}`
  return { detail, failed: true, facts: { write: { failure: problem, left } } }
}

/** Sends a request also after an abort, because nothing may stay half done. */
async function send(
  { limitMs, prefix, headers, cluster }: Context,
  route: Route,
  method: string,
  path: string,
  body?: string,
): Promise<{ readonly index: string | undefined } | { readonly failure: Failure; readonly isAnswered: boolean }> {
  const answer = await ask(route, { method, path: prefix + path, headers, body, timeoutMs: limitMs })
  if ('code' in answer) return { failure: answer, isAnswered: false }
  if (answer.statusCode < 300) {
    // The index behind the name: only there can a document of a data stream be deleted.
    const kept = parseObject(answer.body)?.['_index']
    return { index: typeof kept === 'string' ? kept : undefined }
  }
  const answered = whoAnswered(answer, route)
  const named = nameRefusal(answer, answered, cluster)
  if (named.code !== 'REQUEST_REFUSED') return { failure: named, isAnswered: true }
  const { type, reason: said } = named.evidence
  const reason = `${String(type)}: ${String(said)}`
  const request = `${method} ${path.replace(/[^/]+$/, 'ID')}`
  const refused = failure('INDEX_REQUEST_REFUSED', { cluster, request, status: answer.statusCode, reason })
  return { failure: refused, isAnswered: true }
}
