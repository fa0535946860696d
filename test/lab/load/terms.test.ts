// @module-tag long
/** Versions and scripts through lost answers, refusals and interruptions: the newest row wins, and no script runs twice for a row. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IngestOptions, type Receipt, ingest, isSluiceError } from '../../../src/index.js'
import { type Faults, type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { rounds } from '../../support/rounds.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

const ROWS = 400
const IDS = 80
const COUNT = 'ctx._source.n = (ctx._source.n == null ? 0 : ctx._source.n) + params.by'

let lab: Lab
let work: string
beforeAll(async () => {
  lab = await startLab()
  work = await mkdtemp(join(tmpdir(), 'terms-'))
})
afterAll(async () => {
  await lab.close()
  await rm(work, { recursive: true })
})

function trouble(random: Seeded): Faults {
  const once = { after: random.below(12), times: 1 + random.below(3) }
  return random.pick<Faults>([
    {},
    { drop: once },
    { drop: { after: random.below(12), times: 1000 } },
    { bulk: { ...once, status: 429 } },
    { bulk: { ...once, status: 502, body: '<html>Bad Gateway</html>', stored: random.pick([true, 'half']) } },
    { items: { after: random.below(300), times: 20, status: 429, type: 'es_rejected_execution_exception' } },
  ])
}

/** One process. Undefined: it refused to begin, because an earlier one may have sent what comes next. */
async function go(options: Partial<IngestOptions>, random: Seeded, mayFail: boolean): Promise<Receipt | undefined> {
  const { url, apiKey, caFile } = lab.line.cluster
  const target = { url, apiKey, ca: readFileSync(caFile) }
  const controller = new AbortController()
  const stopAt = mayFail && random.chance(0.5) ? random.below(ROWS) : Infinity
  lab.control.heal()
  if (mayFail) lab.control.plant(trouble(random))
  try {
    return await ingest({
      source: '',
      target,
      proxy: lab.line.proxy.http,
      preflightConnections: 1,
      ids: 'field',
      idField: 'id',
      deadLetters: false,
      compress: random.pick(['gzip', 'none']),
      batchBytes: 2000,
      concurrency: 3,
      ...(mayFail ? { maxElapsedMs: 400 } : {}),
      signal: controller.signal,
      onEvent: event => {
        if (event.type === 'progress' && event.counts.read >= stopAt) controller.abort('test')
      },
      ...options,
    })
  } catch (error) {
    if (isSluiceError(error) && error.receipt !== undefined) return error.receipt
    if (isSluiceError(error) && error.code === 'OPTION_INVALID') return undefined
    throw error
  }
}

/** The receipt of the last process that began. */
async function finish(options: Partial<IngestOptions>, random: Seeded): Promise<Receipt | undefined> {
  let last: Receipt | undefined
  for (let attempt = 0; ; attempt += 1) {
    const receipt = await go(options, random, attempt < 3)
    last = receipt ?? last
    if (receipt === undefined || receipt.status === 'finished') return last
  }
}

const storedIn = (index: string) =>
  lab.control.ids(index).map(id => JSON.parse(String(lab.control.source(index, id))) as { id: string; n: number })

test('the newest row of each document wins, in whatever order the rows come', async () => {
  for (let seed = 1; seed <= rounds(1, 100); seed += 1) {
    const random = seeded(seed)
    const index = newIndex('terms')
    const rows = Array.from({ length: ROWS }, (_, n) => ({ id: `d${n % IDS}`, n, at: random.real() }))
      .toSorted((one, other) => one.at - other.at)
      .map(({ id, n }) => ({ id, n, more: 'x'.repeat(random.below(60)) }))
    const source = join(work, `version-${seed}.ndjson`)
    await writeFile(source, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    const how = { source, index, op: 'index', versionField: 'n', stateDir: join(work, `version-${seed}`) } as const
    const receipt = await finish(how, random)
    expect(receipt, `seed ${seed}`).toMatchObject({
      status: 'finished',
      read: ROWS,
      rejected: 0,
      unsent: 0,
      unknown: 0,
    })
    const { created = 0, updated = 0, older = 0 } = receipt ?? {}
    expect(created + updated + older, `seed ${seed}`).toBe(ROWS)
    const newest = Array.from({ length: IDS }, (_, id) => [`d${id}`, ROWS - IDS + id])
    expect(new Map(storedIn(index).map(({ id, n }) => [id, n])), `seed ${seed}`).toEqual(
      new Map(newest as [string, number][]),
    )
  }
})

test('a script runs once for each row that counts, and at most once for each that is unknown', async () => {
  for (let seed = 1; seed <= rounds(1, 100); seed += 1) {
    const random = seeded(seed)
    const index = newIndex('terms')
    const rows = Array.from({ length: ROWS }, (_, n) => ({
      id: `d${n % IDS}`,
      by: 1,
      more: 'x'.repeat(random.below(60)),
    }))
    const source = join(work, `script-${seed}.ndjson`)
    await writeFile(source, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
    const how = { source, index, op: 'upsert', script: COUNT, stateDir: join(work, `script-${seed}`) } as const
    const receipt = await finish(how, random)
    const { created = 0, updated = 0, unknown = 0, read = 0, unsent = 0, rejected = 0 } = receipt ?? {}
    expect(created + updated + unknown + unsent + rejected, `seed ${seed}`).toBe(read)
    const runs = storedIn(index).reduce((sum, { n }) => sum + n, 0)
    expect(runs, `seed ${seed}`).toBeGreaterThanOrEqual(created + updated)
    expect(runs, `seed ${seed}`).toBeLessThanOrEqual(created + updated + unknown)
  }
})
