import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import { type Checkpoint, START } from '../../../../../src/run/state/checkpoint/checkpoint.js'
import {
  freePath,
  knownRuns,
  lastFinished,
  readRun,
  removeRun,
  runsFolder,
  stateDirAround,
} from '../../../../../src/run/state/runs/runs.js'
import { prepareStateDir } from '../../../../../src/run/state/runs/state-folder.js'
import { rewriteRun, runFiles, runIn } from '../../../../support/state/stored-runs.js'

let work: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'runs-'))
  await prepareStateDir(work)
})
afterEach(async () => await rm(work, { recursive: true }))

/** One input that was read to its end, or not. */
const inputs = (status: 'finished' | 'begun', read = 1): Checkpoint['inputs'] => [
  { id: 1, name: 'a', status, token: 't', mark: { ...START, document: 2, line: 2, offset: 9 }, read, hasStored: true },
]

const run = (number: number, more: Partial<Checkpoint> = {}): Checkpoint => ({
  run: `run-${number}`,
  status: 'finished',
  began: new Date(Date.UTC(2026, 10, 21) + number * 1000).toISOString(),
  written: '2026-11-21T10:00:00.000Z',
  scope: 'logs',
  key: 'k',
  target: { url: 'https://es.example', index: 'logs' },
  sources: [],
  options: {},
  isDoubtful: false,
  inputs: inputs('finished'),
  left: 0,
  counts: nothing,
  rejections: [],
  ...more,
})

/** Writes a run to a file of its own. */
async function keep(checkpoint: Checkpoint): Promise<string> {
  const path = await freePath(work, checkpoint.run)
  await rewriteRun(path, checkpoint)
  return path
}

test('a run comes back as it was written, and leaves nothing else in its folder', async () => {
  const path = join(runsFolder(work), 'run-1.jsonl')
  expect(await readRun(path)).toBeUndefined()
  await rewriteRun(path, run(1))
  await rewriteRun(path, run(1, { left: 7 }))
  expect(await runIn(path)).toEqual(run(1, { left: 7 }))
  expect(await runFiles(work)).toEqual([path])
  expect(stateDirAround(path)).toBe(work)
  await removeRun(path)
  await removeRun(path)
  expect(await runFiles(work)).toEqual([])
})

test('all runs are known, by the time when they began, and only the last that loaded something is none of the earlier', async () => {
  for (const number of [3, 1, 5, 4, 2]) await keep(run(number))
  await keep(run(6, { inputs: [] }))
  await keep(run(1, { run: 'other', key: 'another' }))
  const { known, broken } = await knownRuns(work)
  expect(broken).toEqual([])
  expect(known.map(({ checkpoint, isEarlier }) => [checkpoint.run, isEarlier])).toEqual([
    ['run-6', false],
    ['run-5', false],
    ['run-4', true],
    ['run-3', true],
    ['run-2', true],
    expect.anything(),
    expect.anything(),
  ])
  expect(
    known
      .slice(-2)
      .map(({ checkpoint }) => checkpoint.run)
      .toSorted(),
  ).toEqual(['other', 'run-1'])
  expect(known.find(({ checkpoint }) => checkpoint.run === 'other')?.isEarlier).toBe(false)
})

test('runs of one name have a file each', async () => {
  const paths = []
  for (let number = 1; number <= 3; number += 1) paths.push(await keep(run(number, { run: 'nightly' })))
  expect(new Set(paths)).toEqual(new Set(await runFiles(work)))
  expect((await knownRuns(work)).known.map(({ path }) => path)).toEqual(paths.toReversed())
})

test('the last run of a command that has nothing left is named, if no later one has', async () => {
  expect(await lastFinished(work, 'k')).toBeUndefined()
  await keep(run(1))
  await keep(run(2, { status: 'failed' }))
  await keep(run(3, { inputs: [] }))
  await keep(run(9, { key: 'another' }))
  expect((await lastFinished(work, 'k'))?.run).toBe('run-2')
  await keep(run(4, { status: 'interrupted', inputs: inputs('begun'), left: 1 }))
  expect(await lastFinished(work, 'k')).toBeUndefined()
})

test('a file that is broken is named with what it still says, and hides no other run', async () => {
  const path = await keep(run(1))
  const folder = runsFolder(work)
  const [head = ''] = (await readFile(path, 'utf8')).split('\n')
  await writeFile(join(folder, 'run-2.jsonl'), `${head.replace('run-1', 'run-2')}\n["mark"\n{}\n`)
  await writeFile(join(folder, 'old.json'), '{"version":1,"run":"old-run"')
  await writeFile(join(folder, 'run-3.jsonl'), '')
  await writeFile(join(folder, 'run-1.jsonl.a1b2c3d4.tmp'), 'left by a process that was killed')
  await writeFile(join(folder, 'run-1.lock'), '{}')
  const { known, broken } = await knownRuns(work)
  expect(known.map(one => one.path)).toEqual([path])
  const named = Object.fromEntries(broken.map(({ path: at, ...more }) => [at.slice(folder.length + 1), more]))
  expect(named).toEqual({
    'run-2.jsonl': { run: 'run-2', scope: 'logs', problem: 'it is broken: line 2 is not JSON' },
    'old.json': { run: 'old-run', problem: 'it is not JSON' },
    'run-3.jsonl': { problem: 'it is not the state of a run' },
  })
  await expect(readRun(join(folder, 'run-2.jsonl'))).rejects.toMatchObject({
    code: 'STATE_UNREADABLE',
    failure: { evidence: { path: join(folder, 'run-2.jsonl'), problem: 'it is broken: line 2 is not JSON' } },
  })
})

test('a run that cannot be read is named, and a folder that cannot', async () => {
  const path = join(runsFolder(work), 'run-1.jsonl')
  await mkdir(path)
  expect((await knownRuns(work)).broken).toEqual([{ path, problem: 'it is a directory' }])
  await rm(runsFolder(work), { recursive: true })
  expect(await knownRuns(work)).toEqual({ known: [], broken: [] })
  await writeFile(runsFolder(work), '')
  await expect(knownRuns(work)).rejects.toMatchObject({ code: 'STATE_UNREADABLE' })
  expect(await readdir(work)).toEqual(['runs'])
})

test.runIf(existsSync('/proc/self'))('a state folder that the system does not allow is named', async () => {
  await expect(prepareStateDir('/proc/sluice/state')).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
})
