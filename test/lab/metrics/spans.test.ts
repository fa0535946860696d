/** Spans of a program that has set OpenTelemetry up. */
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { expect, test } from 'vitest'
import { ingest } from '../../../src/index.js'
import { index, lab, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

async function spansOf(load: () => Promise<unknown>) {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  try {
    await trace.getTracer('program').startActiveSpan('upload', async span => {
      await load().catch(() => undefined)
      span.end()
    })
    return exporter.getFinishedSpans()
  } finally {
    trace.disable()
    context.disable()
    await provider.shutdown()
  }
}

test('a run is a span of the program, with a span for each bulk request', async () => {
  const source = Array.from({ length: 25 }, (_, n) => ({ n }))
  const spans = await spansOf(async () => await ingest({ ...smallBatches(), source }))
  const [upload] = spans.filter(({ name }) => name === 'upload')
  const [run] = spans.filter(({ name }) => name === 'sluice ingest')
  const bulks = spans.filter(({ name }) => name === `bulk ${index}`)
  expect(bulks).toHaveLength(3)
  expect(run?.parentSpanContext?.spanId).toBe(upload?.spanContext().spanId)
  const { hostname, port } = new URL(lab.line.cluster.url)
  for (const { kind, parentSpanContext, attributes, status } of bulks) {
    expect([kind, parentSpanContext?.spanId, status.code]).toEqual([2, run?.spanContext().spanId, 0])
    expect(attributes).toMatchObject({
      'db.system.name': 'elasticsearch',
      'db.operation.name': 'bulk',
      'db.collection.name': index,
      'db.response.status_code': '200',
      'http.request.method': 'POST',
      'url.full': `${lab.line.cluster.url}/${index}/_bulk`,
      'server.address': hostname,
      'server.port': Number(port),
    })
  }
  expect(
    bulks.map(({ attributes }) => Number(attributes['db.operation.batch.size'])).toSorted((a, b) => a - b),
  ).toEqual([5, 10, 10])
  expect(JSON.stringify(spans.map(({ attributes }) => attributes))).not.toContain(lab.line.cluster.apiKey)
})

test('a run that fails is an error of its span', async () => {
  lab.control.register('none')
  const spans = await spansOf(async () => await ingest({ ...smallBatches(), source: [{ n: 1 }] }))
  const [run] = spans.filter(({ name }) => name === 'sluice ingest')
  expect(run?.status.code).toBe(2)
  expect(run?.attributes['error.type']).toBe('EGRESS_NOT_ALLOWED')
})
