/** A pull of 250,000 incidents while another client changes 15,000 of them: exactly the right set, at flat memory. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createReadStream, readFileSync } from 'node:fs'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { binary } from '../../support/command/sluice.js'
import { seeded } from '../../support/random/seeded.js'
import { killPulls } from './pull-kills.js'

const INCIDENTS = Number(process.env.INCIDENTS ?? 250_000)
/** Inserted, updated and deleted: as many of each. */
const CHANGES = Math.min(5000, INCIDENTS / 50)
const PAGE = 250
/** Between the first half of the reading and the second. */
const SPREAD_BYTES = 20e6

type Row = Readonly<Record<string, string>>

let lab: Lab
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pull-'))
  lab = await startLab()
  // The other client is in the office, and its address is allowed, too.
  lab.control.servicenow.addAddressRule({ kind: 'allow', from: '127.0.0.1', to: '127.0.0.1' })
  lab.control.servicenow.seed('incident', INCIDENTS)
})
afterAll(async () => {
  await lab.close()
  await rm(folder, { recursive: true })
})

/** Another client of the Table API, which shares nothing with the product. */
function otherClient() {
  const { httpUrl, username, password } = lab.line.servicenow
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const headers = { authorization, accept: 'application/json', 'content-type': 'application/json' }
  return {
    ask: async (method: string, path: string, body?: Row): Promise<Row> => {
      const asked = request(`${httpUrl}/api/now/table/incident${path}`, { method, agent, headers })
      asked.end(body === undefined ? undefined : JSON.stringify(body))
      const [answer] = (await once(asked, 'response')) as [AsyncIterable<Buffer> & { statusCode: number }]
      const chunks: Buffer[] = []
      for await (const chunk of answer) chunks.push(chunk)
      if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode}`)
      const text = Buffer.concat(chunks).toString()
      return text === '' ? {} : (JSON.parse(text) as { result: Row }).result
    },
    close: () => agent.destroy(),
  }
}

/** Throws once the process is gone. */
function residentBytes(pid: number | undefined): number {
  const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  if (kilobytes === undefined) throw new Error('the process has ended')
  return Number(kilobytes) * 1024
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
const shortly = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))

test(`a pull of ${INCIDENTS} incidents, of which ${3 * CHANGES} are inserted, updated and deleted meanwhile`, async () => {
  const sn = lab.control.servicenow
  const before = new Map(sn.rows('incident').map(row => [row['sys_id'] ?? '', row]))
  const ids = [...before.keys()]
  const file = join(folder, 'incidents.ndjson')
  const out = await open(file, 'w')
  const startedAt = performance.now()
  const pull = spawn(process.execPath, [binary, 'pull', 'servicenow:incident', '--page-size', String(PAGE)], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile },
    stdio: ['ignore', out.fd, 'pipe'],
  })
  let said = ''
  pull.stderr?.on('data', (text: Buffer) => (said += text.toString()))
  const life = { isOver: false }
  const ended = once(pull, 'close').then(([code]) => {
    life.isOver = true
    return { code: code as number | null, elapsedMs: performance.now() - startedAt }
  })

  // Answers so far, and what the process takes of memory meanwhile.
  const reading = { pages: 0, resident: [] as [page: number, bytes: number][] }
  const watching = (async () => {
    while (!life.isOver) {
      const queries = sn.requests().filter(({ method, path }) => method === 'GET' && path.includes('/incident'))
      reading.pages = queries.length
      if (reading.pages > 0) reading.resident.push([reading.pages, residentBytes(pull.pid)])
      await shortly(100)
    }
    // It ends a little before that is told.
  })().catch(() => undefined)

  const client = otherClient()
  const inserted: string[] = []
  const updated = new Set<string>()
  const deleted = new Set<string>()
  const pages = INCIDENTS / PAGE
  const worker = async (first: number) => {
    for (let n = first; n < CHANGES; n += 8) {
      // Over the first three quarters of the reading.
      while (!life.isOver && reading.pages < 1 + (n / CHANGES) * pages * 0.75) await shortly(20)
      const at = Math.floor((n * ids.length) / CHANGES)
      const [changed = '', gone = ''] = [ids[at], ids[at + 1]]
      const row = await client.ask('POST', '', { short_description: `inserted ${n}` })
      inserted.push(row['sys_id'] ?? '')
      await client.ask('PATCH', `/${changed}`, { short_description: `updated ${n}` })
      updated.add(changed)
      await client.ask('DELETE', `/${gone}`)
      deleted.add(gone)
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, first) => worker(first)))
  const pagesThen = reading.pages
  expect(life.isOver).toBe(false)
  expect(pagesThen).toBeLessThan(pages)

  const { code, elapsedMs } = await ended
  await watching
  client.close()
  await out.close()
  expect({ code, said }).toEqual({ code: 0, said: expect.stringMatching(/rows of incident/) as string })

  const after = new Map(sn.rows('incident').map(row => [row['sys_id'] ?? '', row]))
  const seen = new Set<string>()
  const wrong = { doubled: 0, foreign: 0, stale: 0, deletedAllTheSame: 0 }
  for await (const line of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
    const row = JSON.parse(line) as Row
    const id = row['sys_id'] ?? ''
    if (seen.has(id)) wrong.doubled++
    seen.add(id)
    const [was, is] = [before.get(id), after.get(id)]
    if (was === undefined && is === undefined) wrong.foreign++
    if (deleted.has(id)) wrong.deletedAllTheSame++
    // A row is as it was at some moment: changed ones before or after their change.
    const fits = [was, is].some(one => one !== undefined && same(one, row))
    if (!fits) wrong.stale++
  }
  const missing = [...after.keys()].filter(id => !seen.has(id))
  const half = pages / 2
  const [first, second] = [
    Math.max(...reading.resident.filter(([page]) => page > pages / 10 && page <= half).map(([, rss]) => rss)),
    Math.max(...reading.resident.filter(([page]) => page > half).map(([, rss]) => rss)),
  ]
  console.info(
    [
      `${seen.size} rows in ${(elapsedMs / 1000).toFixed(1)} s`,
      `${inserted.length} inserted, ${updated.size} updated, ${deleted.size} deleted by page ${pagesThen} of ${reading.pages}`,
      `missing ${missing.length}, ${JSON.stringify(wrong)}`,
      `resident: most ${megabytes(first)} in the first half, ${megabytes(second)} in the second`,
      said.trim(),
    ].join('\n'),
  )
  // Deleted rows were read before they went, or not: the only freedom there is.
  expect({ missing, ...wrong }).toEqual({
    missing: [],
    doubled: 0,
    foreign: 0,
    stale: 0,
    deletedAllTheSame: seen.size - after.size,
  })
  expect(after.size).toBe(INCIDENTS)
  expect(second - first).toBeLessThan(SPREAD_BYTES)
})

test('the same into a file, killed 20 times at random instants and gone on with', async () => {
  const startedAt = performance.now()
  const { killedIn, rows, wrong, peak, said } = await killPulls({
    lab,
    random: seeded(Number(process.env.SEED ?? 1)),
    kills: 20,
    changes: CHANGES,
    pages: INCIDENTS / PAGE,
    file: join(folder, 'killed.ndjson'),
    args: ['pull', 'servicenow:incident', '--output', 'killed.ndjson', '--page-size', String(PAGE)],
    cwd: folder,
    env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile },
  })
  console.info(
    [
      `${rows} rows in ${((performance.now() - startedAt) / 1000).toFixed(1)} s, ${CHANGES} inserted, updated and deleted each`,
      `killed ${JSON.stringify(killedIn)}, ${JSON.stringify(wrong)}, most resident ${megabytes(peak)}`,
      said,
    ].join('\n'),
  )
  expect(wrong).toEqual({ missing: 0, doubled: 0, foreign: 0, stale: 0, tooMany: 0 })
  expect(killedIn.whole + killedIn.changes + killedIn.start).toBe(20)
})

function same(one: Row, other: Row): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every(name => one[name] === other[name])
}
