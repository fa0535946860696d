// @module-tag long
/** Processes that are killed at random instants, and what the next one makes of it. */
import { knownRuns } from '../../../src/run/state/runs/runs.js'
import { lastRun } from '../../support/state/stored-runs.js'
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { type Folder, folder, startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'
import { ObjectServer } from '../../support/servers/object-server.js'
import { workbookOf } from '../../support/facts/workbooks.js'
import { type Seeded, seeded } from '../../support/random/seeded.js'

// Each test starts some twenty processes.
const KILLS = rounds(2, 20)
const index = 'killed'

let lab: Lab
let work: Folder
beforeEach(async () => {
  lab = await startLab()
  work = await folder()
})
afterEach(async () => {
  await lab.close()
  await work[Symbol.asyncDispose]()
})

interface Line {
  readonly text: string
  readonly kind: 'document' | 'refused' | 'blank'
}

/** Lines of which some are no JSON, some do not fit the mapping, and some are blank. */
function linesOf(count: number, start: number, random: Seeded): Line[] {
  return Array.from({ length: count }, (_, at): Line => {
    const n = start + at
    const pick = at === 0 ? 1 : random.real()
    if (pick < 0.005) return { text: `not json ${n}`, kind: 'refused' }
    if (pick < 0.01) return { text: `{"n":"no number ${n}"}`, kind: 'refused' }
    if (pick < 0.015) return { text: '  ', kind: 'blank' }
    return { text: `{"n":${n},"text":"${'x'.repeat(random.below(200))}"}`, kind: 'document' }
  })
}

const options = [
  '--index',
  index,
  '--batch-docs',
  '100',
  '--concurrency',
  '3',
  '--preflight-connections',
  '1',
  '--json',
]
const state = () => join(work.path, 'state')

function start(inputs: readonly string[], ...more: string[]) {
  const args = ['ingest', ...inputs, ...options, '--state-dir', state(), ...more]
  return startSluice(args, { cwd: work.path, env: lab.env })
}

async function checkpointFile(): Promise<string | undefined> {
  const names = await readdir(join(state(), 'runs')).catch(() => [])
  const name = names.find(one => one.endsWith('.jsonl'))
  return name === undefined ? undefined : join(state(), 'runs', name)
}

/** Changes with every checkpoint that is written. */
async function written(): Promise<string> {
  const path = await checkpointFile()
  const text = path === undefined ? '' : await readFile(path, 'utf8').catch(() => '')
  return text.slice(text.lastIndexOf('{"status"'))
}

/** An instant of a process: some time in its start, after so many more documents, or after so many checkpoints. */
function instant(random: Seeded, kinds: number): () => Promise<boolean> {
  const kind = random.below(kinds)
  const before = lab.control.count(index)
  if (kind < 2) {
    let turns = random.below(300)
    return async () => (turns -= 1) <= 0
  }
  if (kind < 5) {
    const wanted = before + 1 + random.below(1000)
    return async () => lab.control.count(index) >= wanted
  }
  let changes = 3 + random.below(2)
  let last = ''
  return async () => {
    const now = await written()
    if (now !== last) changes -= 1
    last = now
    return changes <= 0
  }
}

/** Starts the command and kills it, again and again; the receipt of the process that was left alone. */
async function killAndFinish(
  random: Seeded,
  command: () => ReturnType<typeof start>,
  { afterKill = async () => {}, keepsState = true }: { afterKill?: () => Promise<void>; keepsState?: boolean },
): Promise<{ receipt: Receipt; kills: number; code: number | null }> {
  let kills = 0
  for (;;) {
    const running = command()
    const isThere = instant(random, keepsState ? 10 : 5)
    const ended = await killWhen(running, async () => kills < KILLS && (await isThere()))
    if (ended === undefined) {
      kills += 1
      await afterKill()
      continue
    }
    const { code, stdout, stderr } = ended
    expect(stdout, stderr).toMatch(/^\{/)
    return { receipt: JSON.parse(stdout) as Receipt, kills, code }
  }
}

interface Kept {
  readonly run: string
  readonly inputs: readonly { readonly name: string; readonly token: string; readonly status: string }[]
}

/** Compares what the cluster holds with what the inputs held: every document there, once, byte for byte. */
async function expectStored(files: Readonly<Record<string, readonly Line[]>>): Promise<Kept> {
  const kept: Kept = (await lastRun(state())).checkpoint
  const missing: string[] = []
  let documents = 0
  for (const [name, lines] of Object.entries(files)) {
    const token = kept.inputs.find(input => input.name === name)?.token
    const numbered = lines.filter(({ kind }) => kind !== 'blank')
    for (const [at, { text, kind }] of numbered.entries()) {
      if (kind !== 'document') continue
      documents += 1
      if (lab.control.source(index, `${token}-${at + 1}`)?.toString() !== text) missing.push(`${name} ${at + 1}`)
    }
  }
  expect(missing).toEqual([])
  expect(lab.control.count(index), 'nothing is doubled').toBe(documents)
  return kept
}

test('a load that is killed again and again loses and doubles nothing, and its account is whole', async () => {
  const random = seeded(7)
  const files = {
    'a.ndjson': linesOf(12_000, 0, random),
    'b.ndjson.gz': linesOf(8000, 100_000, random),
    'c.ndjson': linesOf(8000, 200_000, random),
  }
  const text = (lines: readonly Line[]) => lines.map(line => line.text).join('\n')
  await writeFile(join(work.path, 'a.ndjson'), `${text(files['a.ndjson'])}\n`)
  await writeFile(join(work.path, 'b.ndjson.gz'), gzipSync(`${text(files['b.ndjson.gz'])}\n`))
  // The last line of the last file lacks its line end.
  await writeFile(join(work.path, 'c.ndjson'), text(files['c.ndjson']))
  lab.control.plant({ latencyMs: 30 })

  const runs = new Set<string>()
  const command = () => start(Object.keys(files), '--dead-letters', 'dead.ndjson')
  const noteRun = async () => {
    for (const { checkpoint } of (await knownRuns(state())).known) runs.add(checkpoint.run)
  }
  const { receipt, kills, code } = await killAndFinish(random, command, { afterKill: noteRun })

  const all = Object.values(files).flat()
  const countOf = (kind: Line['kind']) => all.filter(line => line.kind === kind).length
  expect(kills).toBe(KILLS)
  expect(code).toBe(1)
  expect(receipt).toMatchObject({
    status: 'finished',
    read: all.length,
    rejected: countOf('refused'),
    skipped: countOf('blank'),
    unsent: 0,
    unknown: 0,
    updated: 0,
  })
  expect(receipt.created + receipt.duplicate).toBe(countOf('document'))
  expect(receipt.inputs.reduce((sum, { read }) => sum + read, 0)).toBe(all.length)
  expect(receipt.rejections.reduce((sum, { documents }) => sum + documents, 0)).toBe(countOf('refused'))
  expect(receipt.thisProcess.read).toBeLessThan(all.length)
  const kept = await expectStored(files)
  expect(kept.inputs.map(({ status }) => status)).toEqual(['finished', 'finished', 'finished'])
  // All of them were one run.
  expect([...runs.add(receipt.run)]).toEqual([receipt.run])

  const letters = (await readFile(join(work.path, 'dead.ndjson'), 'utf8')).trimEnd().split('\n')
  const origins = letters.map(letter => (JSON.parse(letter) as { origin: { input: string; line: number } }).origin)
  const refused = Object.entries(files).flatMap(([input, lines]) =>
    lines.flatMap(({ kind }, at) => (kind === 'refused' ? [`${input}:${at + 1}`] : [])),
  )
  expect(origins.map(({ input, line }) => `${input}:${line}`).toSorted()).toEqual(refused.toSorted())
})

test('a named run that loses its state with every kill loses and doubles nothing', async () => {
  const random = seeded(11)
  const documents = Array.from({ length: 15_000 }, (_, n): Line => ({ text: `{"n":${n}}`, kind: 'document' }))
  await writeFile(join(work.path, 'a.ndjson'), documents.map(({ text }) => `${text}\n`).join(''))
  lab.control.plant({ latencyMs: 20 })
  const { receipt, kills, code } = await killAndFinish(random, () => start(['a.ndjson'], '--run-id', 'nightly'), {
    afterKill: async () => await rm(state(), { recursive: true, force: true }),
    keepsState: false,
  })
  expect({ kills, code }).toEqual({ kills: KILLS, code: 0 })
  expect(receipt).toMatchObject({
    run: 'nightly',
    status: 'finished',
    read: 15_000,
    rejected: 0,
    unsent: 0,
    unknown: 0,
  })
  expect(receipt.created + receipt.duplicate).toBe(15_000)
  expect(receipt.duplicate).toBeGreaterThan(0)
  expect(receipt.thisProcess.read).toBe(receipt.read)
  await expectStored({ 'a.ndjson': documents })
})

/** Rows of which some lack a cell, and some have a number that is none. Cells in quotes hold line feeds, quotes and commas. */
function rowsOf(count: number, random: Seeded): (Line & { readonly row: string })[] {
  return Array.from({ length: count }, (_, n) => {
    const pick = n === 0 ? 1 : random.real()
    if (pick < 0.005) return { row: `${n}\n`, text: '', kind: 'refused' }
    if (pick < 0.01) return { row: `no number,"${n}\n\n"\n`, text: '', kind: 'refused' }
    if (pick < 0.015) return { row: '\n', text: '', kind: 'blank' }
    const cell = Array.from({ length: 1 + random.below(6) }, () =>
      random.pick(['x', ',', '\n', '\r\n', '"', '{"n":1}\n']),
    ).join('')
    const row = `${n},"${cell.replaceAll('"', '""')}"${random.pick(['\n', '\r\n'])}`
    return { row, text: JSON.stringify({ n, cell }), kind: 'document' }
  })
}

test('CSV that is killed again and again loses and doubles no row, whatever line feeds its cells hold', async () => {
  const random = seeded(17)
  const files = { 'a.csv': rowsOf(12_000, random), 'b.csv.gz': rowsOf(8000, random) }
  const table = (rows: readonly { readonly row: string }[]) => `n,cell\n${rows.map(({ row }) => row).join('')}`
  await writeFile(join(work.path, 'a.csv'), table(files['a.csv']))
  await writeFile(join(work.path, 'b.csv.gz'), gzipSync(table(files['b.csv.gz'])))
  lab.control.plant({ latencyMs: 30 })

  const command = () => start(Object.keys(files), '--types', 'n:long', '--dead-letters', 'dead.ndjson')
  const { receipt, kills, code } = await killAndFinish(random, command, {})

  const all = Object.values(files).flat()
  const countOf = (kind: Line['kind']) => all.filter(line => line.kind === kind).length
  expect({ kills, code }).toEqual({ kills: KILLS, code: 1 })
  expect(receipt).toMatchObject({
    status: 'finished',
    read: all.length,
    rejected: countOf('refused'),
    skipped: countOf('blank'),
    unsent: 0,
    unknown: 0,
    updated: 0,
  })
  expect(receipt.created + receipt.duplicate).toBe(countOf('document'))
  await expectStored(files)

  const letters = (await readFile(join(work.path, 'dead.ndjson'), 'utf8')).trimEnd().split('\n')
  const origins = letters.map(letter => (JSON.parse(letter) as { origin: { input: string; document: number } }).origin)
  const refused = Object.entries(files).flatMap(([input, rows]) =>
    rows
      .filter(({ kind }) => kind !== 'blank')
      .flatMap(({ kind }, at) => (kind === 'refused' ? [`${input}:${at + 1}`] : [])),
  )
  expect(origins.map(({ input, document }) => `${input}:${document}`).toSorted()).toEqual(refused.toSorted())

  // The same command knows both files. Other options of CSV would make other documents.
  expect(await command().ended).toMatchObject({ code: 0 })
  const other = await start(Object.keys(files), '--types', 'n:keyword').ended
  expect(other).toMatchObject({ code: 2 })
  expect(other.stdout).toContain('RUN_OPTIONS_CHANGED')
})

const joined = (lines: readonly string[], between: string) => lines.join(between)

/** Returns the cells of a document. */
function rowIn(line: string): [number, string] {
  const { n, text } = JSON.parse(line) as { n: number; text: string }
  return [n, text]
}

/** How documents stand in a file, and what is stored of each. */
const forms: Readonly<
  Record<
    string,
    { flags?: readonly string[]; bytes(lines: readonly string[]): string | Buffer; stored?(line: string): string }
  >
> = {
  'a.log': {
    flags: ['--format', 'text'],
    bytes: lines => `${joined(lines, '\n')}\n`,
    stored: line => `{"message":${JSON.stringify(line)}}`,
  },
  'a.log.gz': {
    flags: ['--format', 'text'],
    bytes: lines => gzipSync(joined(lines, '\r\n')),
    stored: line => `{"message":${JSON.stringify(line)}}`,
  },
  'one-line.ndjson': { bytes: lines => joined(lines, '') },
  'wide.ndjson': { bytes: lines => Buffer.from(`\ufeff${joined(lines, '\n')}`, 'utf16le') },
  'a.xlsx': {
    bytes: lines =>
      workbookOf({
        sheets: [
          { name: 'Cover', rows: [['nothing']], state: 'hidden' },
          { name: 'Data', rows: [['n', 'text'], ...lines.map(rowIn)] },
        ],
      }),
    // An empty cell is no field.
    stored: line => line.replace(',"text":""', ''),
  },
  'a.csv': {
    flags: ['--format', 'csv', '--types', 'n:long'],
    bytes: lines =>
      `n,text\n${joined(
        lines.map(line => `${rowIn(line).join()}\n`),
        '',
      )}`,
    stored: line => line.replace(',"text":""', ''),
  },
  'places.geojson': { bytes: lines => `{"type":"FeatureCollection","features":[${joined(lines, ',')}]}` },
}

const documents = (random: Seeded) =>
  Array.from({ length: 12_000 }, (_, n) => `{"n":${n},"text":"${'x'.repeat(random.below(200))}"}`)

async function expectHeld(
  { receipt, kills, code }: Awaited<ReturnType<typeof killAndFinish>>,
  expected: readonly string[],
): Promise<void> {
  expect({ code, ...receipt }).toMatchObject({ code: 0, rejected: 0, unknown: 0, status: 'finished' })
  // The load may have ended before its last kill. Then the last process has nothing to do.
  expect(kills).toBeGreaterThan(0)
  const held = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
  expect(held).toHaveLength(expected.length)
  expect(new Set(held)).toEqual(new Set(expected))
}

test.each(Object.entries(forms))('the same of %s', async (name, { flags = [], bytes, stored = line => line }) => {
  const random = seeded(11)
  const lines = documents(random)
  await writeFile(join(work.path, name), bytes(lines))
  lab.control.plant({ latencyMs: 30 })
  await expectHeld(await killAndFinish(random, () => start([name], ...flags), {}), lines.map(stored))
})

test.each(Object.entries(forms))(
  'the same of %s on a web server',
  async (name, { flags = [], bytes, stored = line => line }) => {
    await using server = await ObjectServer.start()
    const random = seeded(13)
    const lines = documents(random)
    server.put(name, bytes(lines))
    lab.control.plant({ latencyMs: 30 })
    await expectHeld(await killAndFinish(random, () => start([server.url(name)], ...flags), {}), lines.map(stored))
  },
)

/** A workbook cannot be read from stdin, and the name of a file says that its features are the documents. */
const { 'a.xlsx': _, 'places.geojson': places, ...others } = forms
const streams: typeof forms = {
  ...others,
  ...(places === undefined ? {} : { features: { ...places, flags: ['--pick', 'features'] } }),
}

test.each(Object.entries(streams))(
  'a named run of %s from stdin',
  async (_name, { flags = [], bytes, stored = line => line }) => {
    const random = seeded(19)
    const lines = documents(random)
    const input = bytes(lines)
    lab.control.plant({ latencyMs: 30 })
    const args = ['ingest', '-', ...options, '--state-dir', state(), '--run-id', 'nightly', ...flags]
    const again = () => startSluice(args, { cwd: work.path, env: lab.env, input })
    await expectHeld(await killAndFinish(random, again, { keepsState: false }), lines.map(stored))
  },
)
