import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ingest, type IngestEvent } from '../../../src/index.js'
import { path, shareLab, smallBatches } from '../../support/lab/shared-lab.js'

shareLab()

test('a rate keeps requests small, and a load that is told to end does not wait for its turn', async () => {
  await writeFile(path('a.ndjson'), '{"n":1}\n'.repeat(100))
  const ending = new AbortController()
  const onEvent = (event: IngestEvent) => {
    if (event.type === 'sent') ending.abort('SIGTERM')
  }
  const load = { ...smallBatches(), source: path('a.ndjson'), batchDocs: 1000 }
  // The second request would have to wait for its turn.
  const stopped = ingest({ ...load, maxRate: { documents: 10 }, signal: ending.signal, onEvent })
  await expect(stopped).rejects.toMatchObject({ code: 'RUN_INTERRUPTED', receipt: { created: 10, requests: 1 } })
  expect(await ingest({ ...load, maxRate: { bytes: 1_000_000_000 } })).toMatchObject({
    created: 100,
    status: 'finished',
  })
})
