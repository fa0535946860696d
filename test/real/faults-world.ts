/** A job of 32 small ranges on a queue of its own, whose faults a test makes. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import type { Receipt } from '../../src/index.js'
import type { ListedJob } from '../../src/programs/jobs/control/list-jobs.js'
import { eventuallySeen } from '../support/eventually.js'
import { lab, shareLab } from '../support/lab/shared-lab.js'
import type { Running } from '../support/command/sluice.js'
import { endAll, listed, receiptOf, stored, writeFiles } from './jobs-world.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts, required } from './servers/parts.js'
import { startPostgres } from './servers/postgres.js'
import { type QueueServer, startRedis } from './servers/redis.js'

export const parts = findParts()

const engines = {
  Redis: async (at: string) => await startRedis(required(parts.redis, 'Redis'), at),
  PostgreSQL: async (at: string) => await startPostgres(required(parts.postgres, 'PostgreSQL'), at),
}

export const FILES = 4
export const EACH = 100
export const ALL = FILES * EACH
/** 32 ranges of two requests each. */
export const slowly = ['--batch-bytes', '10kb', '--range-bytes', '20kb', '--concurrency', '3']

export let owner: Owner
export let queue: QueueServer
export let folder: string

/** Starts a queue for all tests of a suite, and writes the inputs of each test. */
export function onA(name: keyof typeof engines): void {
  shareLab()
  beforeAll(async () => {
    owner = await newOwner()
    folder = `${owner.folder}/queue`
    queue = await owner.own(engines[name](folder))
  })
  beforeEach(() => {
    writeFiles(FILES, EACH, 1500)
    lab.control.plant({ latencyMs: 60 })
  })
  afterEach(endAll)
  afterAll(async () => await owner[Symbol.asyncDispose]())
}

export async function theJob(): Promise<ListedJob> {
  const [job] = await listed(queue.url)
  if (job === undefined) throw new Error('no job')
  return job
}

/** Resolves when so many ranges are loaded. */
export async function atWork(ranges = 1): Promise<ListedJob> {
  return await eventuallySeen(async () => {
    const job = await theJob()
    expect(job.ranges.done).toBeGreaterThanOrEqual(ranges)
    return job
  })
}

/** Nothing is lost, nothing is doubled, and the receipt says so. */
export async function expectAllOnce(ingest: Running): Promise<Receipt> {
  const { code, ...output } = await ingest.ended
  expect(code, output.stderr).toBe(0)
  const receipt = receiptOf(output)
  expect(receipt).toMatchObject({ status: 'finished', read: ALL, rejected: 0, unsent: 0, unknown: 0 })
  expect(receipt.created + receipt.duplicate).toBe(ALL)
  expect(await stored()).toBe(ALL)
  return receipt
}

export async function leave(worker: Running): Promise<void> {
  worker.child.kill('SIGTERM')
  expect(await worker.ended).toMatchObject({ code: 0 })
}
