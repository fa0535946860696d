import { expect, test } from 'vitest'
import type { IngestEvent } from '../../../../src/options/run-events.js'
import { readOptions } from '../../../../src/options/read-options.js'
import { readRemote } from '../../../../src/features/remote/read-remote.js'
import { stopSignalsOf } from '../../../../src/run/loop/stop-signals.js'
import { systemClock } from '../../../../src/base/time/clock.js'

async function warningsOf(...source: string[]): Promise<readonly IngestEvent[]> {
  const load = readOptions({ source, target: { url: 'https://cluster.example' }, index: 'logs' })
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
