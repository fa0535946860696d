import { expect, test } from 'vitest'
import type { IngestOptions } from '../../../../src/options/ingest-options.js'
import type { IngestEvent } from '../../../../src/options/run-events.js'
import { readOptions } from '../../../../src/options/read-options.js'
import { readRemote } from '../../../../src/features/remote/read-remote.js'
import { stopSignalsOf } from '../../../../src/run/loop/stop-signals.js'
import { systemClock } from '../../../../src/base/time/clock.js'

async function warningsOf(...source: string[]): Promise<readonly IngestEvent[]> {
  return await warnings({ source })
}

async function warnings(options: Pick<IngestOptions, 'source' | 'proxy' | 'remote'>): Promise<readonly IngestEvent[]> {
  const load = readOptions({ ...options, target: { url: 'https://cluster.example' }, index: 'logs' })
  const told: IngestEvent[] = []
  using stop = stopSignalsOf(load.stopping, systemClock)
  const hook =
    load.remote && (await readRemote({ ...load, remote: load.remote })({ stop, tell: event => told.push(event) }))
  await hook?.dispose?.()
  return told
}

const signed = '?X-Amz-Credential=AKIAIOSFODNN7EXAMPLE&X-Amz-Signature=0123456789abcdef'

test('a signature that goes over plain http to another machine is warned of, without the signature', async () => {
  const told = await warningsOf(`http://files.example/a.ndjson${signed}`, `http://files.example/b.ndjson${signed}`)
  expect(told).toEqual([
    {
      type: 'warning',
      message:
        'the signature in the URL of http://files.example/a.ndjson goes over plain http, so anybody on the route can use it. The same is true of 1 more. Use https',
    },
  ])
})

test('other URLs are not', async () => {
  const urls = [
    `https://files.example/a.ndjson${signed}`,
    `http://127.0.0.1:9000/a.ndjson${signed}`,
    'http://files.example/a.ndjson?id=1',
    's3://bucket/a.ndjson',
  ]
  expect(await warningsOf(...urls)).toEqual([])
})

test('an input on this machine is not, unless a proxy elsewhere passes its requests on', async () => {
  const source = [`http://localhost:9000/a.ndjson${signed}`]
  const remote = { throughProxy: true }
  const said = { type: 'warning', message: expect.stringContaining('goes over plain http') as string }
  expect(await warnings({ source, proxy: 'http://proxy.example:9293', remote })).toEqual([said])
  expect(await warnings({ source, proxy: 'http://127.0.0.1:9293', remote })).toEqual([])
  expect(await warnings({ source, proxy: 'http://proxy.example:9293' })).toEqual([])
})

test('a token is not sent to an input on this machine over a proxy elsewhere', async () => {
  const load = readOptions({
    source: ['http://localhost:1/a.ndjson'],
    target: { url: 'https://cluster.example' },
    index: 'logs',
    proxy: 'http://proxy.invalid:9293',
    remote: { throughProxy: true, token: 'token' },
  })
  using stop = stopSignalsOf(load.stopping, systemClock)
  const hook = load.remote && (await readRemote({ ...load, remote: load.remote })({ stop, tell: () => undefined }))
  await expect(hook?.sources?.(load.inputs, stop.signal)).rejects.toMatchObject({ code: 'PLAINTEXT_CREDENTIALS' })
  await hook?.dispose?.()
})
