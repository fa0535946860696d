// @module-tag long
/** Updates, upserts and deletions through lost answers, refusals and interruptions: the index equals a model of it, and each row has an outcome. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { existsSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type IngestEvent, type Receipt, ingest, isSluiceError } from '../../../src/index.js'
import { type Faults, type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { rounds } from '../../support/rounds.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

const STORED = 150
const ROWS = 400

let lab: Lab
let work: string
beforeAll(async () => {
  lab = await startLab()
  work = await mkdtemp(join(tmpdir(), 'operations-'))
})
afterAll(async () => {
  await lab.close()
  await rm(work, { recursive: true })
})

/** What ends by itself, or stops the process: never what refuses a row for good. */
function trouble(random: Seeded): Faults {
  const once = { after: random.below(12), times: 1 + random.below(3) }
  return random.pick<Faults>([
    {},
    { drop: once },
    { drop: { after: random.below(12), times: 1000 } },
    { bulk: { ...once, status: 429 } },
    { bulk: { ...once, status: 502, body: '<html>Bad Gateway</html>', stored: random.pick([true, 'half']) } },
    { items: { after: random.below(300), times: 20, status: 429, type: 'es_rejected_execution_exception' } },
    { items: { after: random.below(300), times: 20, status: 409, type: 'version_conflict_engine_exception' } },
  ])
}

/** Through the proxy into the lab's cluster, with ids from a field. */
function byId() {
  const { url, apiKey, caFile } = lab.line.cluster
  const target = { url, apiKey, ca: readFileSync(caFile) }
  return { target, proxy: lab.line.proxy.http, preflightConnections: 1, ids: 'field', idField: 'id' } as const
}

interface Loading {
  readonly random: Seeded
  readonly name: string
  readonly index: string
  readonly op: 'update' | 'upsert' | 'delete'
}

async function go({ random, name, index, op }: Loading, mayFail: boolean): Promise<Receipt> {
  const controller = new AbortController()
  const stopAt = mayFail && random.chance(0.5) ? random.below(ROWS) : Infinity
  lab.control.heal()
  if (mayFail) lab.control.plant(trouble(random))
  try {
    return await ingest({
      ...byId(),
      source: join(work, `${name}.ndjson`),
      index,
      op,
      compress: random.pick(['gzip', 'none']),
      stateDir: join(work, name),
      deadLetters: join(work, `${name}.dead.ndjson`),
      batchBytes: 2000,
      concurrency: 3,
      ...(mayFail ? { maxElapsedMs: 400 } : {}),
      signal: controller.signal,
      onEvent: (event: IngestEvent) => {
        if (event.type === 'progress' && event.counts.read >= stopAt) controller.abort('test')
      },
    })
  } catch (error) {
    if (isSluiceError(error) && error.receipt !== undefined) return error.receipt
    throw error
  }
}

const outcomesOf = ({
  created,
  updated,
  deleted,
  noop,
  notFound,
  duplicate,
  rejected,
  skipped,
  unsent,
  unknown,
}: Receipt) => created + updated + deleted + noop + notFound + duplicate + rejected + skipped + unsent + unknown

for (const op of ['update', 'upsert', 'delete'] as const) {
  test(`${op}: the index equals the model whatever happens on the way`, async () => {
    for (let seed = 1; seed <= rounds(1, 100); seed += 1) {
      const random = seeded(seed)
      const name = `${op}-${seed}`
      const index = newIndex('operations')
      lab.control.heal()
      const before = Array.from({ length: STORED }, (_, n) => ({ id: `d${n * 3}`, n, kept: 12 }))
      await ingest({ ...byId(), source: before.values(), index, op: 'index', deadLetters: false })
      // Each id once: rows of one id may overtake each other.
      const rows = Array.from({ length: ROWS }, (_, n) => ({
        id: `d${n}`,
        n: random.below(5),
        more: 'x'.repeat(random.below(60)),
      }))
      await writeFile(join(work, `${name}.ndjson`), rows.map(row => `${JSON.stringify(row)}\n`).join(''))

      const loading = { random, name, index, op }
      let receipt = await go(loading, true)
      expect(outcomesOf(receipt), name).toBe(receipt.read)
      for (let attempt = 1; receipt.status !== 'finished'; attempt += 1) {
        receipt = await go(loading, attempt < 3)
        expect(outcomesOf(receipt), name).toBe(receipt.read)
      }

      const model = new Map<string, object>(before.map(row => [row.id, row]))
      const refused: string[] = []
      for (const row of rows) {
        const there = model.get(row.id)
        if (op === 'delete') model.delete(row.id)
        else if (op === 'upsert' || there !== undefined) model.set(row.id, { ...there, ...row })
        else refused.push(row.id)
      }
      const { control } = lab
      const stored = control
        .ids(index)
        .map(id => [id, JSON.parse(String(control.source(index, id))) as object] as const)
      expect(new Map(stored), name).toEqual(model)
      expect(receipt, name).toMatchObject({ read: ROWS, rejected: refused.length, unsent: 0, unknown: 0 })
      const letters = existsSync(join(work, `${name}.dead.ndjson`))
        ? (await readFile(join(work, `${name}.dead.ndjson`), 'utf8')).trimEnd().split('\n')
        : []
      const written = letters.map(letter => JSON.parse(letter) as { id: string; document: object })
      expect(written.map(({ id }) => id).toSorted(), name).toEqual(refused.toSorted())
      for (const { id, document } of written) expect(document, name).toEqual(rows.find(row => row.id === id))
    }
  })
}
