// @module-tag long
/** Processes that are killed while they read a URL of unknown length: the same command continues, and each document is stored once. */
import { setTimeout as after } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { rounds } from '../../support/rounds.js'
import { seeded } from '../../support/random/seeded.js'
import { ObjectServer } from '../../support/servers/object-server.js'
import { index, lab, path, shareLab } from '../../support/lab/shared-lab.js'
import { startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'

shareLab()

const DOCUMENTS = 600
const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)
const fill = 'x'.repeat(8000)
const ndjson = (from: number, to: number) =>
  numbers(from, to)
    .map(n => `{"n":${n},"fill":"${fill}"}\n`)
    .join('')
const rows = (from: number, to: number) =>
  `n,fill\n${numbers(from, to)
    .map(n => `${n},"${fill}"\n`)
    .join('')}`

function start(url: string) {
  const small = ['--batch-docs', '10', '--concurrency', '3', '--preflight-connections', '1']
  const args = ['ingest', url, '--index', index, ...small, '--state-dir', path('state'), '--json']
  return startSluice(args, { cwd: path('.'), env: lab.env })
}

/** Kills a load once so many documents are stored, and a little later. */
async function killAt(url: string, wanted: number, laterMs: number): Promise<boolean> {
  const ended = await killWhen(start(url), async () => {
    const isThere = lab.control.count(index) >= wanted
    if (isThere) await after(laterMs)
    return isThere
  })
  return ended === undefined
}

function stored(): number[] {
  const documents = lab.control.ids(index).map(id => String(lab.control.source(index, id)))
  return documents.map(one => Number((JSON.parse(one) as { n: number | string }).n)).toSorted((a, b) => a - b)
}

const forms = [
  { form: 'plain', file: 'a.ndjson', text: ndjson, pack: (text: string) => Buffer.from(text) },
  { form: 'gzip', file: 'a.ndjson', text: ndjson, pack: (text: string) => gzipSync(text, { level: 1 }) },
  { form: 'CSV', file: 'a.csv', text: rows, pack: (text: string) => Buffer.from(text) },
] as const

const games = Array.from({ length: rounds(1, 10) }, (_, seed) => forms.map(form => ({ ...form, seed }))).flat()

test.each(games)('a $form export, killed several times (seed $seed)', async ({ file, text, pack, seed }) => {
  const random = seeded(seed)
  await using server = await ObjectServer.start()
  server.sendsLength = false
  const url = server.url(file)
  let documents = DOCUMENTS
  server.put(file, pack(text(0, documents)))
  let kills = 0
  let at = 0
  while (kills < 4) {
    at += 20 + random.below(120)
    if (!(await killAt(url, at, random.below(30)))) break
    kills += 1
    // The export may have grown.
    if (random.chance(0.5)) documents += random.below(20)
    server.put(file, pack(text(0, documents)))
  }
  expect(kills).toBeGreaterThan(0)
  const { code, stdout } = await start(url).ended
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', rejected: 0, unknown: 0 })
  expect(stored()).toEqual(numbers(0, documents))
})

test.each(numbers(0, rounds(2, 10)))(
  'an export that is another one after a kill is loaded whole (seed %i)',
  async seed => {
    const random = seeded(seed)
    await using server = await ObjectServer.start()
    server.sendsLength = false
    const url = server.url('a.ndjson')
    server.put('a.ndjson', ndjson(0, DOCUMENTS))
    expect(await killAt(url, 50 + random.below(300), random.below(30))).toBe(true)
    const before = stored()
    // Both begin with the same documents, and differ in what was sent before.
    const same = random.below(Math.min(40, before.length))
    server.put('a.ndjson', ndjson(0, same) + ndjson(1000, 1000 + DOCUMENTS))
    expect(await killAt(url, before.length + 100, random.below(30))).toBe(true)
    expect((await start(url).ended).code).toBe(0)
    const all = [...before, ...numbers(0, same), ...numbers(1000, 1000 + DOCUMENTS)]
    expect(stored()).toEqual(all.toSorted((a, b) => a - b))
  },
)
