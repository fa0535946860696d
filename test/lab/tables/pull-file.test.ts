/** `sluice pull --output FILE`: refused, gone on with. */
import { existsSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { folder, shell, sluice, startSluice } from '../../support/command/sluice.js'
import { kill } from '../../support/command/kill.js'

// Each test starts processes.
const ROWS = 3000
const pull = ['pull', 'servicenow:incident', '--output', 'rows.ndjson', '--page-size', '100']

let lab: Lab
let env: Record<string, string>
beforeAll(async () => {
  lab = await startLab()
  lab.control.servicenow.seed('incident', ROWS)
  env = { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
})
afterAll(async () => await lab.close())
beforeEach(() => lab.control.servicenow.heal())

/** Starts a pull that stops within the table, and waits until some rows are in its file. */
async function stopped(cwd: string) {
  lab.control.servicenow.plant({ stall: { after: 8, api: 'table' } })
  const running = startSluice(pull, { cwd, env })
  const rows = join(cwd, 'rows.ndjson.part', 'rows.ndjson')
  const size = async () => (await stat(rows).catch(() => undefined))?.size ?? 0
  while ((await size()) === 0) await new Promise(resolve => setTimeout(resolve, 5))
  return running
}

test('the old file stays as it is until all rows are there', { tags: 'long' }, async () => {
  await using work = await folder()
  const file = join(work.path, 'rows.ndjson')
  await writeFile(file, 'of yesterday\n')
  const running = await stopped(work.path)
  running.child.kill('SIGINT')
  const { code, stderr } = await running.ended
  expect({ code, left: await readFile(file, 'utf8') }).toEqual({ code: 5, left: 'of yesterday\n' })
  expect(stderr).toMatch(
    /interrupted \(SIGINT\): \d+ rows of incident are in rows\.ndjson\.part, and the same command continues/,
  )
  lab.control.servicenow.heal()
  expect(await sluice(pull, { cwd: work.path, env })).toMatchObject({ code: 0, stdout: '' })
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
  const ids = lines.map(line => (JSON.parse(line) as { sys_id: string }).sys_id)
  const stored = lab.control.servicenow.rows('incident').map(row => row['sys_id'])
  expect(ids.toSorted()).toEqual(stored.toSorted())
  expect(existsSync(`${file}.part`)).toBe(false)
})

test('two at once, another selection, and a folder that no pull has made are refused', { tags: 'long' }, async () => {
  await using work = await folder()
  const running = await stopped(work.path)
  const second = await sluice(pull, { cwd: work.path, env })
  expect(second.code).toBe(6)
  expect(second.stderr).toMatch(/rows\.ndjson is being written by another pull: process \d+/)
  await kill(running)
  const other = await sluice([...pull, '--query', 'active=true'], { cwd: work.path, env })
  expect(other.code).toBe(2)
  expect(other.stderr).toMatch(
    /--output: .*rows\.ndjson\.part holds an unfinished pull .*query was not set but is now active=true/,
  )

  // What was begun is told in a file beside the rows.
  await rm(join(work.path, 'rows.ndjson.part', 'reading.json'))
  const unknown = await sluice(pull, { cwd: work.path, env })
  expect(unknown.stderr).toMatch(/reading\.json.* is missing, and rows\.ndjson holds rows of an unknown pull/)
  // Once there are no rows, there is nothing to lose.
  await writeFile(join(work.path, 'rows.ndjson.part', 'rows.ndjson'), '')
  lab.control.servicenow.heal()
  expect(await sluice(pull, { cwd: work.path, env })).toMatchObject({ code: 0 })

  await writeFile(join(work.path, 'mine.ndjson.part'), 'mine')
  const mine = await sluice(['pull', 'servicenow:incident', '--output', 'mine.ndjson'], { cwd: work.path, env })
  expect(mine.code).toBe(3)
  expect(mine.stderr).toMatch(/mine\.ndjson\.part already exists, and no pull created it/)
  expect(await readFile(join(work.path, 'mine.ndjson.part'), 'utf8')).toBe('mine')
})

test('a file that may grow no further is named, and gone on with where there is room', { tags: 'long' }, async () => {
  await using work = await folder()
  const line = `ulimit -f 400; trap '' XFSZ; $SLUICE ${pull.join(' ')}`
  const full = await shell(line, { cwd: work.path, env })
  expect(full.stderr).toMatch(/cannot write .*rows\.ndjson: the file would be larger/)
  expect(full.code).toBe(3)
  const { code, stderr } = await sluice(pull, { cwd: work.path, env })
  expect(stderr).toMatch(/[\d,]+ of them from an earlier run/)
  expect(code).toBe(0)
  const lines = (await readFile(join(work.path, 'rows.ndjson'), 'utf8')).trimEnd().split('\n')
  const ids = new Set(lines.map(text => (JSON.parse(text) as { sys_id: string }).sys_id))
  expect([lines.length, ids.size]).toEqual([lab.control.servicenow.rows('incident').length, lines.length])
})
