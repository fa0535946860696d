// @module-tag long
/** Documents that name their index, and what kills, deletions and rollovers make of them. */
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { connect, ingest, type IngestEvent, type IngestOptions, type Receipt, verify } from '../../../src/index.js'
import { rounds } from '../../support/rounds.js'
import { seeded } from '../../support/random/seeded.js'
import { index, lab, path, shareLab, smallBatches, way, work } from '../../support/lab/shared-lab.js'
import { startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'

shareLab()

const BRANCHES = ['a', 'b', 'c', 'd', 'e', 'f'] as const
const KILLS = rounds(2, 20)

/** Document number `n` belongs to the branches in turn, in stretches, so that later ones are first named late. */
const branchOf = (n: number, of: number) => BRANCHES[Math.floor((n / of) * BRANCHES.length)] ?? 'f'
const linesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => `{"n":${n},"b":"${n % 3 === 0 ? branchOf(n, count) : 'a'}"}`)
const pattern = () => `${index}-{b}`
const indexOf = (line: string) => `${index}-${(JSON.parse(line) as { b: string }).b}`

/** Each document is in its index, once. */
function expectStored(lines: readonly string[], token: string): void {
  const lost = lines.filter((line, at) => lab.control.source(indexOf(line), `${token}-${at + 1}`)?.toString() !== line)
  expect(lost).toEqual([])
  expect(lab.control.count(`${index}-*`)).toBe(lines.length)
}

/** How many documents each index holds, as a receipt lists them. */
function byIndex(lines: readonly string[]): Record<string, number> {
  const all: Record<string, number> = {}
  for (const line of lines) all[indexOf(line)] = (all[indexOf(line)] ?? 0) + 1
  return all
}

const inReceipt = ({ indices = [] }: Receipt) =>
  Object.fromEntries(indices.map(({ index: name, documents }) => [name, documents]))

test('a load that is killed again and again loses and doubles nothing, and each document is in its index', async () => {
  const random = seeded(11)
  const lines = linesOf(12_000)
  await writeFile(path('a.ndjson'), `${lines.join('\n')}\n`)
  lab.control.plant({ latencyMs: 20 })
  const args = ['ingest', 'a.ndjson', '--index', pattern(), '--state-dir', path('state'), '--batch-docs', '100']
  const more = ['--concurrency', '3', '--preflight-connections', '1', '--json']
  let kills = 0
  for (;;) {
    const running = startSluice([...args, ...more], { cwd: work, env: lab.env })
    const wanted = lab.control.count(`${index}-*`) + 1 + random.below(500)
    const ended = await killWhen(running, () => kills < KILLS && lab.control.count(`${index}-*`) >= wanted)
    if (ended === undefined) {
      kills += 1
      continue
    }
    const { stdout, stderr } = ended
    expect(stdout, stderr).toMatch(/^\{/)
    const receipt = JSON.parse(stdout) as Receipt
    expect(receipt).toMatchObject({ status: 'finished', read: lines.length, rejected: 0, unknown: 0 })
    expect(inReceipt(receipt)).toEqual(byIndex(lines))
    const seen = await verify({ ...way(), run: receipt.run, stateDir: path('state') })
    expect(seen).toMatchObject({ ok: true, found: lines.length })
    expectStored(lines, seen.inputs[0]?.token ?? '')
    break
  }
  expect(kills).toBe(KILLS)
})

/** Loads, and does something once, when `when` says so. */
async function loadAnd(
  act: () => unknown,
  when: (event: IngestEvent) => boolean,
  more: Partial<IngestOptions> = {},
): Promise<{ receipt: Receipt; warnings: string[] }> {
  let isDone = false
  const warnings: string[] = []
  const receipt = await ingest({
    ...smallBatches(),
    index: pattern(),
    source: path('a.ndjson'),
    ...more,
    onEvent: event => {
      if (event.type === 'warning') warnings.push(event.message)
      if (isDone || !when(event)) return
      isDone = true
      void act()
    },
  })
  expect(isDone).toBe(true)
  return { receipt, warnings }
}

test('an index that is deleted during the load is named, and all that it lost is loaded again', async () => {
  const lines = linesOf(3000)
  await writeFile(path('a.ndjson'), `${lines.join('\n')}\n`)
  lab.control.plant({ latencyMs: 15 })
  await using direct = await connect(way())
  const remove = async () => {
    lab.control.plant({ bulk: { status: 429 } })
    await direct.client.indices.delete({ index: `${index}-a` })
    lab.control.heal()
  }
  const isKnown = (event: IngestEvent) => event.type === 'progress' && event.counts.created > 1500
  const { receipt, warnings } = await loadAnd(remove, isKnown)
  expect(receipt).toMatchObject({ status: 'finished', read: lines.length })
  expect(receipt.created + receipt.duplicate).toBe(lines.length)
  expect(warnings).toEqual([expect.stringContaining(`${index}-a is no longer the index that run`) as string])
  const seen = await verify({ ...way(), run: receipt.run, stateDir: path('state') })
  expectStored(lines, seen.inputs[0]?.token ?? '')
})

test('a data stream that rolls over between a send without an answer and the next one doubles nothing', async () => {
  const lines = Array.from({ length: 500 }, (_, n) => `{"n":${n},"b":"${BRANCHES[n % 3]}"}`)
  await writeFile(path('a.ndjson'), `${lines.join('\n')}\n`)
  const stream = `${index}-b`
  lab.control.createDataStream(stream)
  lab.control.plant({ drop: { after: 1, times: 1 } })
  const { receipt } = await loadAnd(
    () => lab.control.rollOver(stream),
    event => event.type === 'retry',
    { batchDocs: 100, concurrency: 1 },
  )
  expect(receipt).toMatchObject({ read: 500, created: 400, duplicate: 100, rejected: 0, unknown: 0 })
  expect(lab.control.count(stream)).toBe(167)
  expect(lab.control.count(`${index}-a`) + lab.control.count(`${index}-c`)).toBe(333)
  const seen = await verify({ ...way(), run: receipt.run, stateDir: path('state') })
  expect(seen).toMatchObject({ ok: true, found: 500, doubled: 0 })
})
