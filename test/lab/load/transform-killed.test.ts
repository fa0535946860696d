// @module-tag search
/** Loads with a function, killed at random instants: the next process gives every document the same id. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { rounds } from '../../support/rounds.js'
import { seeded } from '../../support/random/seeded.js'
import { type Folder, folder, startSluice } from '../../support/command/sluice.js'
import { killWhen } from '../../support/command/kill.js'

const KILLS = rounds(4, 20)
const LINES = 20_000

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

/** Leaves every fifth document out, rejects every thousandth, and makes 150 of every 501st: more than a body takes. */
const shape = `export default (document, { line }) => {
  const { n } = document
  if (n % 1000 === 0) throw new Error('no')
  if (n % 5 === 0) return null
  return n % 501 === 0 ? Array.from({ length: 150 }, (_, part) => ({ ...document, line, part })) : { ...document, line }
}
`

function expected(): Map<string, string> {
  const documents = new Map<string, string>()
  for (let n = 1; n <= LINES; n += 1) {
    if (n % 5 === 0) continue
    const text = (more: string) => `{"n":${n},"v":1.0,"line":${n}${more}}`
    if (n % 501 !== 0) documents.set(`${n}`, text(''))
    else for (let at = 0; at < 150; at += 1) documents.set(at === 0 ? `${n}` : `${n}.${at + 1}`, text(`,"part":${at}`))
  }
  return documents
}

test.each(['input.ndjson', 'input.ndjson.gz'])('%s, killed again and again: same ids, same counts', async name => {
  const random = seeded(name.length)
  const text = Array.from({ length: LINES }, (_, at) => `{"n":${at + 1},"v":1.0}\n`).join('')
  await writeFile(join(work.path, name), name.endsWith('gz') ? gzipSync(text) : text)
  await writeFile(join(work.path, 'shape.mjs'), shape)
  const where = [
    '--index',
    'killed',
    '--state-dir',
    'state',
    '--dead-letters',
    'dead.ndjson',
    '--transform',
    'shape.mjs',
  ]
  const how = ['--batch-docs', '100', '--concurrency', '3', '--preflight-connections', '1', '--json']
  const start = () => startSluice(['ingest', name, ...where, ...how], { cwd: work.path, env: lab.env })
  let goal = 0
  for (let kills = 0; kills < KILLS; kills += 1) {
    goal += 1 + random.below(Math.floor((2 * LINES) / KILLS / 2))
    const ended = await killWhen(start(), () => lab.control.ids('killed').length >= goal)
    if (ended !== undefined) break
  }
  const { code, stdout, stderr } = await start().ended
  expect(code, stderr).toBe(1)
  const documents = expected()
  const receipt = JSON.parse(stdout) as Receipt
  const rejected = LINES / 1000
  const skipped = LINES / 5 - rejected
  expect(receipt).toMatchObject({ status: 'finished', read: documents.size + rejected + skipped, rejected, skipped })
  expect(receipt.created + receipt.duplicate).toBe(documents.size)
  const ids = lab.control.ids('killed')
  const found = new Map(ids.map(id => [id.slice(id.indexOf('-') + 1), String(lab.control.source('killed', id))]))
  expect(found.size).toBe(ids.length)
  expect(found).toEqual(documents)
})
