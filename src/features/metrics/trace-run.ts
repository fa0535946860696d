/**
 * Makes spans of OpenTelemetry for a run and its bulk requests, if the program that embeds Sluice has set OpenTelemetry up. Loads
 * nothing otherwise: an application that sets it up registers a provider under a known name.
 */
import type { Attributes } from '@opentelemetry/api'
import { isSluiceError } from '../../base/failure/failure.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { BodiesHook, EndingHook, Feature, RouteHook } from '../../run/loop/hooks.js'

type Api = typeof import('@opentelemetry/api')

interface Traced {
  /** The task, as in `sluice ingest`. */
  readonly name: string
  /** Absent: documents name their indices. */
  readonly index?: string | undefined
}

/** Makes a span for a run, and one for each of its bulk requests. */
export function traceRun(traced: Traced): Feature {
  return async () => {
    if (!isSetUp()) return undefined
    // The program may have the package where Sluice cannot find it.
    const api = await import('@opentelemetry/api').catch(() => undefined)
    // The command line has only a stub of it.
    return api !== undefined && 'SpanKind' in api ? hookOf(api, traced) : undefined
  }
}

function isSetUp(): boolean {
  const registered = (globalThis as Record<symbol, unknown>)[Symbol.for('opentelemetry.js.api.1')]
  return typeof registered === 'object' && registered !== null && 'trace' in registered
}

function hookOf(
  { SpanKind, SpanStatusCode, context, trace }: Api,
  { name, index }: Traced,
): RouteHook & BodiesHook & EndingHook {
  const tracer = trace.getTracer('sluice')
  const ofTarget = {
    'db.system.name': 'elasticsearch',
    ...(index === undefined ? {} : { 'db.collection.name': index }),
  }
  const run = tracer.startSpan(name, { kind: SpanKind.INTERNAL, attributes: ofTarget })
  const within = trace.setSpan(context.active(), run)
  let ofCluster: Attributes = {}

  const answered = ({ ms, documents, status, code }: Extract<IngestEvent, { type: 'answered' }>): void => {
    const endTime = Date.now()
    const isRefused = code !== undefined || (status ?? 0) >= 400
    const attributes = {
      ...ofTarget,
      ...ofCluster,
      'db.operation.name': 'bulk',
      'http.request.method': 'POST',
      // A batch of one is none.
      ...(documents > 1 ? { 'db.operation.batch.size': documents } : {}),
      ...(status === undefined ? {} : { 'db.response.status_code': String(status) }),
      ...(isRefused ? { 'error.type': code ?? String(status) } : {}),
    }
    const startTime = endTime - ms
    const spanName = index === undefined ? 'bulk' : `bulk ${index}`
    const span = tracer.startSpan(spanName, { kind: SpanKind.CLIENT, startTime, attributes }, within)
    if (isRefused) span.setStatus({ code: SpanStatusCode.ERROR })
    span.end(endTime)
  }

  return {
    async connected({ display }) {
      ofCluster = clusterIn(display, index)
      run.setAttributes(ofCluster)
      return await Promise.resolve([])
    },
    told: event => {
      if (event.type === 'begun') run.setAttribute('sluice.run', event.run)
      if (event.type === 'answered') answered(event)
    },
    async failed(why) {
      if (isSluiceError(why)) run.setAttribute('error.type', why.code)
      run.setStatus({ code: SpanStatusCode.ERROR, ...(isSluiceError(why) ? { message: why.message } : {}) })
      return await Promise.resolve(why)
    },
    async dispose() {
      run.end()
      await Promise.resolve()
    },
  }
}

/** `display`: the URL of the cluster without credentials. */
function clusterIn(display: string, index: string | undefined): Attributes {
  const { hostname, port, protocol } = new URL(display)
  return {
    'server.address': hostname,
    'server.port': Number(port || (protocol === 'https:' ? 443 : 80)),
    'url.full': `${display}/${index === undefined ? '' : `${encodeURIComponent(index)}/`}_bulk`,
  }
}
