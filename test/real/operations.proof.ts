import { mkdtempSync, rmSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Receipt, ingest } from '../../src/index.js'
import { through } from '../contracts/options.js'
import type { RealWorld } from '../contracts/real-world.js'
import { type Seeded, seeded } from '../support/random/seeded.js'
import { startSluice } from '../support/command/sluice.js'
import { killWhen } from '../support/command/kill.js'
import { describeOnRealServers } from './on-real-servers.js'
import { environmentOf } from './real-load.js'

/** Of each operation. */
const KILLS = Number(process.env.KILLS ?? 100)
const SEED = Number(process.env.SEED ?? 1)
/** The world shows at most 10,000 documents. */
const ROWS = 8000

/** A second run for a row changes nothing. */
const ONCE = `if (ctx._source.last != null && ctx._source.last >= params.no) { ctx.op = 'none' }
else { ctx._source.n = (ctx._source.n == null ? 0 : ctx._source.n) + params.by; ctx._source.last = params.no }`

interface Row {
  readonly id: string
  readonly [name: string]: unknown
}
type Model = Map<string, object>

interface Operation {
  readonly flags: readonly string[]
  readonly rows: (random: Seeded) => readonly Row[]
  /** Changes the model as a row changes the index. */
  readonly change: (model: Model, row: Row) => void
  /** How many documents and left-out lines a row counts as. Default 1. */
  readonly count?: (row: Row) => number
  /** Whether the documents have ids of Sluice's own. Default: those of their field. */
  readonly hasOwnIds?: true
}

/** What the function of the module makes of a row, and what it is here. */
const SHAPE = `export default row => {
  if (row.n % 5 === 0) return null
  const { pad, ...rest } = row
  return row.n % 7 === 0 ? [rest, { ...rest, id: rest.id + '-2', part: 2 }, { ...rest, id: rest.id + '-3', part: 3 }] : rest
}
`
function shaped({ pad: _, ...row }: Row): readonly Row[] {
  const n = Number(row['n'])
  if (n % 5 === 0) return []
  return n % 7 === 0 ? [row, ...[2, 3].map(part => ({ ...row, id: `${row.id}-${part}`, part }))] : [row]
}
const shape = {
  rows: () => each(),
  change: (model: Model, row: Row) => {
    for (const made of shaped(row)) model.set(made.id, made)
  },
  count: (row: Row) => Math.max(1, shaped(row).length),
}

const pad = 'x'.repeat(100)
const each = () => Array.from({ length: ROWS }, (_, n) => ({ id: `d${n}`, n, pad }))
const merge = (model: Model, row: Row) => void model.set(row.id, { ...model.get(row.id), ...row })

const operations: Readonly<Record<string, Operation>> = {
  index: { flags: ['--op', 'index'], rows: each, change: (model, row) => void model.set(row.id, row) },
  update: {
    flags: ['--op', 'update'],
    rows: each,
    change: (model, row) => {
      if (model.has(row.id)) merge(model, row)
    },
  },
  upsert: { flags: ['--op', 'upsert'], rows: each, change: merge },
  delete: { flags: ['--op', 'delete'], rows: each, change: (model, { id }) => void model.delete(id) },
  version: {
    flags: ['--op', 'index', '--version-field', 'v'],
    // Older and newer rows of a document in any order, far from each other.
    rows: random => {
      const rows = Array.from({ length: ROWS }, (_, n) => ({ id: `d${n >> 1}`, v: n & 1, n, pad }))
      return rows
        .map(row => ({ row, at: random.real() }))
        .toSorted((one, other) => one.at - other.at)
        .map(({ row }) => row)
    },
    change: (model, row) => {
      const there: { readonly v?: number } | undefined = model.get(row.id)
      if (Number(row['v']) >= (there?.v ?? 0)) model.set(row.id, row)
    },
  },
  edits: {
    flags: ['--op', 'index', '--set', 'from={file}', '--set', 'line:={line}', '--drop', 'pad', '--rename', 'n=number'],
    rows: each,
    change: (model, { id, n }) => {
      const line = Number(n) + 1
      model.set(id, { id, number: n, from: 'edits.ndjson', line })
    },
  },
  transform: { flags: ['--op', 'index', '--transform', 'shape.mjs'], ...shape },
  'transform with own ids': {
    flags: ['--transform', 'shape.mjs'],
    ...shape,
    // They do not replace what is there before.
    rows: () => each().slice(0, (ROWS * 3) / 4),
    hasOwnIds: true,
    change: (model, row) => {
      for (const made of shaped(row)) model.set(`own ${made.id}`, made)
    },
  },
  script: {
    flags: ['--op', 'upsert', '--script', 'once.painless', '--resend-unknown'],
    rows: () => each().map(({ id }) => ({ id, by: 1, no: 1, pad })),
    change: (model, { id }) => {
      const there: { readonly n?: number } | undefined = model.get(id)
      model.set(id, { ...there, n: (there?.n ?? 0) + 1, last: 1 })
    },
  },
}

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-operations-'))
  await writeFile(join(folder, 'once.painless'), ONCE)
  await writeFile(join(folder, 'shape.mjs'), SHAPE)
})
afterAll(() => rmSync(folder, { recursive: true }))

describeOnRealServers({ major: 9, heap: '1g' }, world => {
  test.each(Object.keys(operations))(`%s, killed ${KILLS} times: the index equals the model`, async name => {
    const random = seeded(SEED)
    let kills = 0
    for (let round = 1; kills < KILLS; round += 1)
      kills += await killAndCompare(world(), name, round, random, KILLS - kills)
    console.log(`${name}: ${kills} kills, each index equal to its model`)
  })
})

/** Loads one file, killed at most so often. Returns how often. */
async function killAndCompare(world: RealWorld, name: string, round: number, random: Seeded, most: number) {
  const { flags, rows: rowsOf, change, count = () => 1, hasOwnIds = false } = operations[name] as Operation
  const index = `killed-${name.replaceAll(' ', '-')}-${round}`
  await mkdir(join(folder, index))
  const source = join(folder, index, `${name}.ndjson`)
  // Every third document is there before.
  const before = Array.from({ length: ROWS / 3 }, (_, n) => ({ id: `d${n * 3}`, n: 0, kept: true }))
  const stored = { ids: 'field', idField: 'id', op: 'index', source: before.values(), index } as const
  const older = name === 'version' ? { versionField: 'n' } : {}
  await ingest({ ...through(world, world.proxy.http), ...stored, ...older })
  const rows = rowsOf(random)
  await writeFile(source, rows.map(row => `${JSON.stringify(row)}\n`).join(''))
  const model: Model = new Map(before.map(row => [row.id, row]))
  for (const row of rows) change(model, row)

  const state = join(folder, `${index}-state`)
  const where = ['--index', index, '--state-dir', state, '--dead-letters', join(folder, `${index}.dead`)]
  const ids = hasOwnIds ? [] : ['--ids', 'field', '--id-field', 'id']
  const how = [...ids, '--batch-bytes', '20kb', '--concurrency', '3', '--json']
  for (let kills = 0; ;) {
    const running = startSluice(['ingest', source, ...where, ...how, ...flags], {
      cwd: folder,
      env: environmentOf(world),
    })
    const until = performance.now() + (kills < most ? random.below(3000) : Infinity)
    const ended = await killWhen(running, () => performance.now() >= until)
    if (ended === undefined) {
      kills += 1
      continue
    }
    const { code, stdout, stderr } = ended
    expect(code === 0 || (name === 'update' && code === 1), stderr).toBe(true)
    const receipt = JSON.parse(stdout) as Receipt
    const read = rows.reduce((sum, row) => sum + count(row), 0)
    // The last kill may have met a process that had finished its run: this one then finds the file loaded.
    const isLoaded = receipt.inputs.every(input => input.loadedBy !== undefined)
    expect(receipt).toMatchObject({ status: 'finished', read: isLoaded && kills > 0 ? 0 : read, unsent: 0, unknown: 0 })
    const found = (await world.documents(index)).map(text => JSON.parse(text) as Row)
    const idOf = (document: Row) => document.id
    // A script stores what it makes, without the id. With ids of Sluice's own, the same field may stand in several documents.
    const isKeyed = name !== 'script' && !hasOwnIds
    if (isKeyed) expect(new Map(found.map(document => [idOf(document), document]))).toEqual(model)
    expect(found).toHaveLength(model.size)
    if (!isKeyed) expect(tally(found)).toEqual(tally([...model.values()]))
    return kills
  }
}

/** Counts equal documents. */
function tally(documents: readonly object[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const document of documents) {
    const { id: _, ...rest } = document as Partial<Row>
    const text = JSON.stringify(Object.entries(rest).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    counts[text] = (counts[text] ?? 0) + 1
  }
  return counts
}
