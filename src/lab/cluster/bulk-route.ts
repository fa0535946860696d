import type { ServerResponse } from 'node:http'
import { because } from '../refusals.js'
import { RequestRefused, answer, illegalArgument } from './answers.js'
import { readBulk } from './bulk-lines.js'
import { applyBulk } from './bulk.js'
import { answerDamaged, damagedAnswer } from './damaged-answer.js'
import { compileFilterPath } from './filter-path.js'
import type { Exchange } from './exchange.js'
import { answerDenied, isAllowedSomewhere, permissions } from './permissions.js'

const parameters = new Set(['filter_path', 'refresh', 'pipeline', 'require_alias', 'require_data_stream', 'routing', 'timeout',
  'wait_for_active_shards', 'include_source_on_error', 'list_executed_pipelines', '_source', '_source_includes',
  '_source_excludes', 'pretty', 'human', 'error_trace']) // prettier-ignore

/** `_bulk`, with the faults that are planted for it. */
export function answerBulk(exchange: Exchange, index: string | undefined): void {
  const { response, faults, principal } = exchange
  // Who may write to some index is refused for each document.
  if (!isAllowedSomewhere(principal, permissions.bulk))
    return answerDenied(response, principal, { ...permissions.bulk, action: 'indices:data/write/bulk' })
  const hold = faults.strike('hold')
  if (hold) {
    if (hold.stored === 'late')
      exchange.request.socket.once('close', () => faults.postpone(() => void apply(exchange, index)))
    else if (hold.stored === true) apply(exchange, index)
    return
  }
  const planted = faults.strike('bulk')
  if (planted) {
    if (planted.stored === 'half') applyHalf(exchange, index)
    else if (planted.stored) apply(exchange, index)
    return answerPlanted(response, planted)
  }
  if (faults.isBusy) throw new RequestRefused(busy)
  const damage = faults.strike('damage')
  if (damage) {
    const whole = damage.stored === false ? notStored : apply(exchange, index)
    return answerDamaged(response, damagedAnswer(whole, damage.how), contentType(exchange))
  }
  const body = apply(exchange, index)
  faults.catchUp()
  if (faults.strike('drop')) return void exchange.request.socket.destroy()
  faults.work(() => answer(response, 200, body, { headers: contentType(exchange) }))
}

/** How an answer begins if nothing of the request was stored. */
const notStored = '{"errors":false,"took":1,"items":[{"index":{"status":201}}]}'

/** The first half of its actions: of a single one nothing. */
function applyHalf(exchange: Exchange, index: string | undefined): void {
  const { body, cluster } = exchange
  const lines = readBulk(body, '', cluster.major)
  const last = lines[Math.floor(lines.length / 2) - 1]
  if (last !== undefined) apply({ ...exchange, body: body.subarray(0, last.to + 1) }, index)
}

const busy = {
  status: 429,
  type: 'es_rejected_execution_exception',
  reason: 'rejected execution of coordinating operation',
}

function apply({ cluster, faults, principal, request, body, path }: Exchange, index: string | undefined): string {
  const query = new URL(request.url ?? '/', 'http://lab').searchParams
  const unknown = [...query.keys()].find(name => !parameters.has(name))
  if (unknown !== undefined) {
    throw new RequestRefused(illegalArgument(`request [${path}] contains unrecognized parameter: [${unknown}]`))
  }
  const filter = query.get('filter_path')
  return applyBulk(cluster, faults, {
    body,
    index,
    principal,
    filter: filter === null ? undefined : compileFilterPath(filter),
    requireAlias: isSet(query.get('require_alias')),
    requireDataStream: isSet(query.get('require_data_stream')),
    pipeline: query.get('pipeline') ?? undefined,
    refreshed: isSet(query.get('refresh')),
    quoteSource: query.get('include_source_on_error') !== 'false',
  })
}

/** Gives the answer of the planted fault. */
export function answerPlanted(
  response: ServerResponse,
  { status, body = '', headers = {} }: { status: number; body?: string; headers?: Readonly<Record<string, string>> },
): void {
  because(response, 'a planted fault')
  response.writeHead(status, {
    'content-type': 'application/json',
    ...headers,
    'content-length': Buffer.byteLength(body),
  })
  response.end(body)
}

/** The media type that was asked for, with its version. */
function contentType({ request }: Exchange): Record<string, string> {
  const asked = /application\/vnd\.elasticsearch\+json *; *compatible-with=\d+/.exec(request.headers.accept ?? '')?.[0]
  return asked === undefined ? {} : { 'content-type': asked.replaceAll(' ', '') }
}

function isSet(value: string | null): boolean {
  return value === '' || value === 'true'
}
