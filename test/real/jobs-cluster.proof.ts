/** One job of three processes, one of which is killed, through a real Squid into a real Elasticsearch. DOCUMENTS sets how many. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Receipt } from '../../src/index.js'
import { startSluice } from '../support/command/sluice.js'
import { describeOnRealServers } from './on-real-servers.js'
import { environmentOf } from './real-load.js'
import { newOwner } from './servers/owner.js'
import { findParts, required } from './servers/parts.js'
import { startRedis } from './servers/redis.js'

const DOCUMENTS = Number(process.env['DOCUMENTS'] ?? 1_000_000)
const FILES = 20

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-jobs-'))
  mkdirSync(join(folder, 'in'))
  for (let file = 0; file < FILES; file += 1) {
    const each = Array.from({ length: DOCUMENTS / FILES }, (_, n) => file * (DOCUMENTS / FILES) + n)
    const lines = each.map(n => `{"n":${n},"text":"GET /orders/${n % 9973} answered in ${n % 811} ms"}\n`)
    writeFileSync(join(folder, `in/${file}.ndjson`), lines.join(''))
  }
})
afterAll(() => rmSync(folder, { recursive: true }))

describeOnRealServers({ major: 9, heap: '2g' }, world => {
  test(`${DOCUMENTS.toLocaleString('en')} documents are in the index once, and all came from the static addresses`, async () => {
    await using owner = await newOwner()
    const queue = await owner.own(startRedis(required(findParts().redis, 'Redis'), `${owner.folder}/queue`))
    const env = {
      ...environmentOf(world()),
      IP_CHECK_URL: world().ipCheckUrl,
      SLUICE_QUEUE: queue.url,
      SLUICE_LEASE: '5s',
    }
    const start = (...args: string[]) => startSluice(args, { cwd: folder, env })
    const [killed, other] = [start('worker', '--jobs', '2'), start('worker', '--jobs', '2')]
    await Promise.all([killed.printed('working on'), other.printed('working on')])
    const ranges = ['--range-bytes', '1mb', '--concurrency', '8']
    const ingest = start(
      'ingest',
      join(folder, 'in/*.ndjson'),
      '--index',
      'million',
      '--json',
      '--jobs',
      '2',
      ...ranges,
    )
    await killed.printed('documents in')
    killed.child.kill('SIGKILL')
    const { code, stdout, stderr } = await ingest.ended
    other.child.kill('SIGTERM')
    await other.ended
    expect(code, stderr).toBe(0)
    const receipt = JSON.parse(stdout) as Receipt
    const { created, duplicate, job } = receipt
    console.log(`${created} created, ${duplicate} duplicate, ${job?.ranges} ranges, ${receipt.elapsedMs} ms`)
    expect(receipt).toMatchObject({ status: 'finished', read: DOCUMENTS, rejected: 0, unsent: 0, unknown: 0 })
    expect(created + duplicate).toBe(DOCUMENTS)
    expect(await world().count('million')).toBe(DOCUMENTS)
    const strangers = (await world().connections()).filter(({ from }) => !world().staticIps.includes(from))
    expect(strangers).toEqual([])
  })
})
