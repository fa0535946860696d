/** Commands end soon after a signal, although the queue says nothing: on a real Redis, into the lab. */
import { describe, expect, test } from 'vitest'
import type { Failure } from '../../src/base/failure/failure.js'
import { lab } from '../support/lab/shared-lab.js'
import type { Ended } from '../support/command/sluice.js'
import { onA, parts, queue, slowly } from './faults-world.js'
import { startIngest, startWorker } from './jobs-world.js'
import { relayTcp } from './servers/tcp-relay.js'

const missing = parts.missing.filter(({ only }) => only === 'jobs')
if (missing.length > 0)
  console.warn(`skipped: silent queues: ${missing.map(({ part, reason }) => `${part}: ${reason}`).join(', ')}`)

describe.skipIf(missing.length > 0 && !process.env['CI'])('a queue that says nothing', () => {
  onA('Redis')

  test('lets a worker and an ingest at work leave', async () => {
    await using relay = await relayTcp(Number(new URL(queue.url).port))
    const far = `redis://127.0.0.1:${relay.port}`
    lab.control.plant({ latencyMs: 600 })
    const worker = startWorker(far)
    await worker.printed('working on')
    const ingest = startIngest(far, ...slowly)
    await Promise.all([worker.printed('loading into'), ingest.printed('is on redis:')])
    relay.part()
    ingest.child.kill('SIGINT')
    worker.child.kill('SIGTERM')
    expect(sayingOf(await ingest.ended)).toMatchObject({ exit: 5, code: 'JOB_CONTINUES' })
    expect(await worker.ended).toMatchObject({ code: 0 })
  })
})

function sayingOf({ code, stdout, stderr }: Ended) {
  if (stdout === '') throw new Error(stderr)
  return { ...(JSON.parse(stdout) as { readonly failure: Failure }).failure, exit: code }
}
