/** A document is in exactly one of cluster, dead letters, unsent and unknown: shown by the ids, over loads in which much goes wrong. */
import { rounds } from '../../support/rounds.js'
import { lastRun } from '../../support/state/stored-runs.js'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type IngestEvent, type Receipt, connect, ingest, isSluiceError, replay } from '../../../src/index.js'
import { type Faults, type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

const DOCUMENTS = 1500
/** A larger body is refused with 413, down to the one document that is larger itself. */
const LARGEST_BODY = 20_000

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
  lab.control.setMaxContentBytes(LARGEST_BODY)
})
afterAll(async () => await lab.close())

let work: string
let index: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'accounted-'))
  index = newIndex('accounted')
})
afterEach(async () => await rm(work, { recursive: true }))

const path = (name: string) => join(work, name)

/** Bad ones are marked, so that a person could repair them. */
function line(random: Seeded, n: number): string {
  switch (random.below(20)) {
    case 0:
      return `{"n":"BAD${n}"}`
    case 1:
      return `BAD${n}`
    case 2:
      return random.chance(0.1) ? `{"n":${n},"large":"BAD${'x'.repeat(LARGEST_BODY)}"}` : `{"n":${n}}`
    default:
      return `{"n":${n},"text":"${'y'.repeat(random.below(300))}"}`
  }
}

/**
 * What goes wrong on the way: for a while, or until the process gives up. Nothing that would refuse a document for good which was
 * taken before: a cluster does not, as long as its mappings only grow.
 */
function trouble(random: Seeded): Faults {
  const once = { after: random.below(20), times: 1 + random.below(3) }
  const reason = { root_cause: [], type: 'illegal_argument_exception', reason: 'planted' }
  return random.pick<Faults>([
    {},
    { bulk: { ...once, status: 400, body: JSON.stringify({ error: reason, status: 400 }) } },
    { bulk: { ...once, status: 429 } },
    { bulk: { ...once, status: 502, body: '<html>Bad Gateway</html>', stored: true } },
    { bulk: { ...once, ...odd(random), stored: random.chance(0.5) } },
    { items: { after: random.below(300), times: 20, status: 429, type: 'es_rejected_execution_exception' } },
    { drop: once },
    { drop: { after: random.below(20), times: 1000 } },
  ])
}

/** An answer that no cluster gives. */
function odd(random: Seeded): {
  readonly status: number
  readonly body?: string
  readonly headers?: Record<string, string>
} {
  const signed = { 'x-elastic-product': 'Elasticsearch' }
  return random.pick([
    { status: 200, body: '<html>Sign in</html>', headers: { 'content-type': 'text/html' } },
    { status: 200, body: '{"errors":false,"items":[{"create":{"status":201}}]}' },
    { status: 200, body: '{"errors":true,"items":[null]}', headers: signed },
    { status: 302, headers: { location: 'https://login.example/' } },
    { status: 403, body: '<html>Forbidden</html>' },
    { status: 500, body: '<html>Oops</html>' },
  ])
}

interface Going {
  readonly random: Seeded
  readonly deadLetters: string
  readonly from?: string
}

/** One process: a load, or a replay of a file. It may be interrupted or have to stop. */
async function go({ random, deadLetters, from }: Going, mayFail: boolean): Promise<Receipt> {
  const { url, apiKey, caFile } = lab.line.cluster
  const controller = new AbortController()
  const stopAt = mayFail && random.chance(0.6) ? random.below(DOCUMENTS) : Infinity
  lab.control.heal()
  if (mayFail) lab.control.plant(trouble(random))
  const options = {
    target: { url, apiKey, ca: readFileSync(caFile) },
    proxy: lab.line.proxy.http,
    preflightConnections: 1,
    stateDir: path('state'),
    deadLetters: path(deadLetters),
    batchBytes: 6000,
    concurrency: 3,
    maxElapsedMs: 400,
    signal: controller.signal,
    onEvent: (event: IngestEvent) => {
      if (event.type === 'progress' && event.counts.read >= stopAt) controller.abort('test')
    },
  }
  try {
    return from === undefined
      ? await ingest({ ...options, source: path('in.ndjson'), index })
      : await replay({ ...options, source: path(from) })
  } catch (error) {
    if (isSluiceError(error) && error.receipt !== undefined) return error.receipt
    throw error
  }
}

/** Ids in a file of dead letters. */
function idsIn(name: string): string[] {
  if (!existsSync(path(name))) return []
  const lines = readFileSync(path(name), 'utf8').split('\n').slice(0, -1)
  return lines.map(letter => (JSON.parse(letter) as { id: string }).id)
}

const balanceOf = ({ created, updated, deleted, noop, duplicate, rejected, skipped, unsent, unknown }: Receipt) =>
  created + updated + deleted + noop + duplicate + rejected + skipped + unsent + unknown

async function tokenOfRun(): Promise<string> {
  const { checkpoint } = await lastRun(path('state'))
  return checkpoint.inputs[0]?.token ?? ''
}

const check = async (seed: number) => {
  const random = seeded(seed)
  const lines = Array.from({ length: DOCUMENTS }, (_, n) => line(random, n))
  await writeFile(path('in.ndjson'), lines.map(text => `${text}\n`).join(''))
  {
    const { url, apiKey, caFile } = lab.line.cluster
    await using way = await connect({
      target: { url, apiKey, ca: readFileSync(caFile) },
      proxy: lab.line.proxy.http,
      preflightConnections: 1,
    })
    await way.client.indices.create({ index, mappings: { properties: { n: { type: 'long' } } } })
  }

  let token = ''
  const all = () => lines.map((_, n) => `${token}-${n + 1}`)
  const inCluster = () => all().filter(id => lab.control.source(index, id) !== undefined)

  /** Runs to the end, however often it stops on the way. The ids that are refused in the end. */
  async function finish(going: Going, ids: () => readonly string[], before: () => number): Promise<string[]> {
    for (let stops = 0; ; stops += 1) {
      const receipt = await go(going, stops < 3)
      if (token === '') token = await tokenOfRun()
      const dead = idsIn(going.deadLetters)
      const cluster = new Set(inCluster())
      const whole = JSON.stringify({ seed, stops, receipt })
      expect(balanceOf(receipt), whole).toBe(receipt.read)
      expect(new Set(dead).size, whole).toBe(dead.length)
      expect(dead.length, whole).toBe(receipt.rejected)
      expect(
        dead.filter(id => cluster.has(id) || !ids().includes(id)),
        whole,
      ).toEqual([])
      const stored = receipt.created + receipt.duplicate
      expect(lab.control.count(index), whole).toBe(cluster.size)
      // A send whose answer was lost is unknown; one that a resume will do again may be stored already.
      expect(cluster.size - before(), whole).toBeGreaterThanOrEqual(stored)
      expect(cluster.size - before(), whole).toBeLessThanOrEqual(ids().length - dead.length)
      if (receipt.status !== 'finished') {
        expect(receipt.failure, whole).toBeDefined()
        continue
      }
      expect([receipt.unsent, receipt.unknown], whole).toEqual([0, 0])
      expect([...dead, ...ids().filter(id => cluster.has(id))].toSorted(), whole).toEqual([...ids()].toSorted())
      expect(cluster.size - before(), whole).toBe(stored)
      return dead
    }
  }

  const first = await finish({ random, deadLetters: 'dead-0.ndjson' }, all, () => 0)
  expect(first.length).toBeGreaterThan(0)
  // Half of them are repaired, then all.
  let left = first
  for (let round = 0; left.length > 0; round += 1) {
    const from = `dead-${round}.ndjson`
    const letters = (await readFile(path(from), 'utf8')).trimEnd().split('\n')
    const repaired = letters.map(letter => (round > 0 || random.chance(0.5) ? repair(letter) : letter))
    await writeFile(path(from), repaired.map(letter => `${letter}\n`).join(''))
    const stored = inCluster().length
    const ids = left
    left = await finish(
      { random, deadLetters: `dead-${round + 1}.ndjson`, from },
      () => ids,
      () => stored,
    )
  }
  expect(inCluster()).toEqual(all())
}
test.each([1, 2, 3, 4, 5, 6, 7, 8].slice(0, 1))('with the troubles of seed %i', check)
test.each([1, 2, 3, 4, 5, 6, 7, 8].slice(1, rounds(4, 8)))('with the troubles of seed %i', { tags: 'long' }, check)

/** What a person would do. */
function repair(letter: string): string {
  return letter
    .replace(/"n":"BAD(\d+)"/, '"n":$1')
    .replace(/"large":"BADx*"/, '"large":""')
    .replace(/"line":"BAD(\d+)"/, '"document":{"n":$1}')
}
