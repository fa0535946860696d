/**
 * Kills workers, the planner and the queue of one job at random, and stops workers for longer than their lease. Then every document is
 * stored once, and the receipt says so. KILLS and DOCUMENTS set how much, ENGINE (redis, postgres) and SEED which.
 */
import { once } from 'node:events'
import { createWriteStream, mkdirSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Receipt } from '../../src/index.js'
import { index, lab, path, shareLab } from '../support/lab/shared-lab.js'
import { type Running } from '../support/command/sluice.js'
import { kill } from '../support/command/kill.js'
import { type Seeded, seeded } from '../support/random/seeded.js'
import { endAll, listed, receiptOf, startIngest, startWorker, stored } from './jobs-world.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts, required } from './servers/parts.js'
import { startPostgres } from './servers/postgres.js'
import { type QueueServer, startRedis } from './servers/redis.js'

const KILLS = Number(process.env['KILLS'] ?? 20)
const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 200_000)
const SEED = Number(process.env['SEED'] ?? 1)
const ENGINE = process.env['ENGINE'] ?? 'redis'
const FILES = 20
/** So many that the job outlasts the kills. A document has about 40 bytes. */
const RANGES = Math.max(400, 15 * KILLS)
const RANGE_BYTES = Math.max(1000, 5 * Math.round((DOCUMENTS * 40) / RANGES / 5))
const CAP = 4
const LEASE_MS = 2000
const MOST_PAUSE_MS = 1500

const parts = findParts()

describe(`one job on ${ENGINE}, ${KILLS} kills, ${DOCUMENTS} documents`, () => {
  shareLab()
  let owner: Owner
  let queue: QueueServer
  beforeAll(async () => {
    owner = await newOwner()
    const folder = `${owner.folder}/queue`
    queue = await owner.own(
      ENGINE === 'postgres'
        ? startPostgres(required(parts.postgres, 'PostgreSQL'), folder)
        : startRedis(required(parts.redis, 'Redis'), folder),
    )
  })
  afterEach(endAll)
  afterAll(async () => await owner[Symbol.asyncDispose]())

  test('loses and doubles nothing', async () => {
    await writeDocuments()
    // The more kills, the slower: each of them must meet work.
    lab.control.plant({ latencyMs: 150 })
    const random = seeded(SEED)
    const options = ['--batch-bytes', '25kb', '--range-bytes', String(RANGE_BYTES), '--concurrency', String(CAP)]
    const ingest = async () => {
      const running = startIngest(queue.url, ...options)
      // A command that finds no queue says so and ends. Once its job is there, it waits for the queue.
      await running.printed('is on ')
      return running
    }
    const workers: Running[] = [startWorker(queue.url), startWorker(queue.url)]
    let planner = await ingest()
    const did = { worker: 0, planner: 0, queue: 0, stopped: 0 }
    const killPlanner = async () => {
      await kill(planner)
      planner = await ingest()
      did.planner += 1
    }
    for (let kills = 0; kills < KILLS; kills += 1) {
      await after(MOST_PAUSE_MS / 3 + random.below(MOST_PAUSE_MS))
      switch (kills % 5) {
        case 0:
        case 1:
          if (await killed(workers, random, () => startWorker(queue.url), queue.url)) did.worker += 1
          else await killPlanner()
          break
        case 2:
          await killPlanner()
          break
        case 3:
          await queue.kill()
          await after(random.below(MOST_PAUSE_MS))
          await queue.start()
          did.queue += 1
          break
        default:
          await stopped(workers, random)
          did.stopped += 1
      }
    }
    const [seen] = await listed(queue.url)
    // What is left need not be slow.
    lab.control.plant({ latencyMs: 0 })
    const { code, ...output } = await planner.ended
    expect(code, output.stderr).toBe(0)
    const receipt = receiptOf(output)
    for (const worker of workers) worker.child.kill('SIGTERM')
    await Promise.all(workers.map(async worker => await worker.ended))
    report(receipt, did, seen?.state ?? 'unknown')
    expect(seen?.state, 'the job ended before the last kill: set more DOCUMENTS').not.toBe('finished')
    expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: 0, unsent: 0, unknown: 0 })
    expect(receipt.created + receipt.duplicate).toBe(DOCUMENTS)
    const numbers = new Set(lab.control.ids(index).map(id => numberOf(id)))
    expect({ stored: await stored(), numbers: numbers.size }).toEqual({ stored: DOCUMENTS, numbers: DOCUMENTS })
  })
})

function report(receipt: Receipt, did: object, state: string): void {
  const { created, duplicate, job } = receipt
  console.log(
    `${JSON.stringify(did)}; the job was ${state} after the last of them; ${created} created, ${duplicate} duplicate, ${job?.ranges} ranges, workers ${JSON.stringify(job?.workers)}`,
  )
}

function numberOf(id: string): number {
  const { n } = JSON.parse(String(lab.control.source(index, id))) as { readonly n: number }
  return n
}

/** Kills one of those at work: it has loaded a range. False if the planner has all that the cap allows. */
async function killed(workers: Running[], random: Seeded, start: () => Running, queue: string): Promise<boolean> {
  const atWork = new Set<Running>()
  for (const worker of workers)
    void worker.printed('documents in').then(
      () => atWork.add(worker),
      () => undefined,
    )
  for (let polls = 0; polls < 6 && atWork.size === 0; polls += 1) {
    await after(500)
    const [job] = await listed(queue)
    // If the job is over before the last kill, the proof proves too little.
    if (job?.state === 'finished') throw new Error('the job ended before the last kill: set more DOCUMENTS')
  }
  const busy = [...atWork][random.below(Math.max(1, atWork.size))]
  if (busy === undefined) return false
  const at = workers.indexOf(busy)
  await kill(busy)
  workers[at] = start()
  return true
}

async function stopped(workers: readonly Running[], random: Seeded): Promise<void> {
  const worker = workers[random.below(workers.length)]
  worker?.child.kill('SIGSTOP')
  await after(LEASE_MS + random.below(LEASE_MS))
  worker?.child.kill('SIGCONT')
}

async function after(ms: number): Promise<void> {
  await new Promise(resolve => setTimeout(resolve, ms))
}

async function writeDocuments(): Promise<void> {
  mkdirSync(path('in'), { recursive: true })
  const each = Math.ceil(DOCUMENTS / FILES)
  for (let file = 0; file < FILES; file += 1) {
    const out = createWriteStream(path(`in/${String(file).padStart(3, '0')}.ndjson`))
    for (let n = file * each; n < Math.min(DOCUMENTS, (file + 1) * each); n += 1)
      if (!out.write(`{"n":${n},"text":"document ${n}"}\n`)) await once(out, 'drain')
    out.end()
    await once(out, 'close')
  }
}
