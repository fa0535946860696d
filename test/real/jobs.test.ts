/** Jobs that several workers load, on a real Redis and a real PostgreSQL, into the lab. */
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { path, shareLab } from '../support/shared-lab.js'
import { receiptOf, startIngest, startWorker, stored, writeFiles } from './jobs-world.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts, required } from './servers/parts.js'
import { startPostgres } from './servers/postgres.js'
import { type QueueServer, startRedis } from './servers/redis.js'

const parts = findParts()
const missing = parts.missing.filter(({ only }) => only === 'jobs')
if (missing.length > 0)
  console.warn(`skipped: jobs: ${missing.map(({ part, reason }) => `${part}: ${reason}`).join(', ')}`)

const engines = {
  Redis: async (folder: string) => await startRedis(required(parts.redis, 'Redis'), folder),
  PostgreSQL: async (folder: string) => await startPostgres(required(parts.postgres, 'PostgreSQL'), folder),
}

for (const [name, start] of Object.entries(engines))
  describe.skipIf(missing.length > 0 && !process.env['CI'])(`a job on ${name}`, () => {
    shareLab()
    let owner: Owner
    let queue: QueueServer
    beforeAll(async () => {
      owner = await newOwner()
      queue = await owner.own(start(`${owner.folder}/queue`))
    })
    afterAll(async () => await owner[Symbol.asyncDispose]())

    test('is loaded once by all workers, and has one receipt', async () => {
      writeFiles(6, 1000, 3_000)
      mkdirSync(path('state'))
      const worker = startWorker(queue.url)
      await worker.printed('working on')
      const { code, ...output } = await startIngest(queue.url, '--batch-bytes', '200kb', '--range-bytes', '500kb').ended
      expect(code, output.stderr).toBe(0)
      const receipt = receiptOf(output)
      expect(receipt).toMatchObject({ status: 'finished', read: 6000, created: 6000, duplicate: 0, rejected: 0 })
      expect(receipt.job).toMatchObject({ objects: 6, ranges: 42, failed: [] })
      expect(receipt.inputs).toEqual([{ name: path('in/*.ndjson'), status: 'finished', read: 6000 }])
      expect(await stored()).toBe(6000)
      worker.child.kill('SIGTERM')
      expect((await worker.ended).code).toBe(0)
    })
  })
