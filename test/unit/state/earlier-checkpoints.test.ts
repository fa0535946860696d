import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { nothing } from '../../../src/ledger/account.js'
import type { Checkpoint } from '../../../src/state/checkpoint.js'
import { checkpointPath, prepareStateDir, readCheckpoint, writeCheckpoint } from '../../../src/state/checkpoint-file.js'
import { bringBack, keepEarlier, knownCheckpoints, lastOf } from '../../../src/state/earlier-checkpoints.js'
import { makeFolder } from '../../../src/disk/folders.js'

let work: string
let path: string
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'earlier-'))
  path = checkpointPath(work, 'k')
  await prepareStateDir(work)
})
afterEach(async () => await rm(work, { recursive: true }))

const checkpoint = (number: number, more: Partial<Checkpoint> = {}): Checkpoint => ({
  version: 1,
  run: `run-${number}`,
  status: 'finished',
  began: '2026-11-21T10:00:00.000Z',
  written: new Date(Date.UTC(2026, 10, 21) + number * 1000).toISOString(),
  target: { url: 'https://es.example', index: 'logs' },
  sources: [],
  options: {},
  isDoubtful: false,
  inputs: [],
  counts: nothing,
  rejections: [],
  ...more,
})

/** One input that was read to its end, or not. */
const inputs = (status: 'finished' | 'begun') => [
  {
    name: 'a',
    status,
    token: 't',
    mark: { kind: 'lines' as const, document: 2, line: 2, offset: 9, tail: 0 },
    read: 1,
  },
]

test('the last 20 of each command are kept', async () => {
  for (let number = 1; number <= 25; number += 1) await keepEarlier(path, checkpoint(number))
  await keepEarlier(checkpointPath(work, 'other'), checkpoint(1))
  const { known } = await knownCheckpoints(work)
  const ofCommand = known.filter(one => lastOf(one.path) === path)
  expect(ofCommand.map(one => one.checkpoint.run).toSorted()).toEqual(
    Array.from({ length: 20 }, (_, at) => `run-${at + 6}`).toSorted(),
  )
  expect(known).toHaveLength(21)
})

test('one that a killed process has left in both places is one', async () => {
  await writeCheckpoint(path, checkpoint(1))
  await keepEarlier(path, checkpoint(1))
  expect((await knownCheckpoints(work)).known).toMatchObject([{ path, isEarlier: false }])
})

test('the newest comes back, if it is of a run that had read all of its inputs', async () => {
  await keepEarlier(path, checkpoint(1))
  await keepEarlier(path, checkpoint(2, { status: 'failed', inputs: inputs('finished') }))
  await writeCheckpoint(path, checkpoint(3))
  expect(await bringBack(path)).toBe('run-2')
  expect((await readCheckpoint(path))?.run).toBe('run-2')
  await keepEarlier(path, checkpoint(3, { status: 'interrupted', inputs: inputs('begun') }))
  expect(await bringBack(path)).toBeUndefined()
  expect((await readCheckpoint(path))?.run).toBe('run-2')
})

test('a folder is made with those above it, for its owner alone; one that is there is left', async () => {
  const folder = join(work, 'a', 'b', 'c')
  await makeFolder(folder)
  await makeFolder(folder)
  expect((await stat(join(work, 'a'))).mode & 0o777).toBe(0o700)
  await mkdir(join(work, 'real'))
  await symlink(join(work, 'real'), join(work, 'link'))
  await makeFolder(join(work, 'link', 'd'))
  expect(await readdir(join(work, 'real'))).toEqual(['d'])
  await writeFile(join(work, 'file'), '')
  await expect(makeFolder(join(work, 'file', 'e'))).rejects.toMatchObject({ code: 'ENOTDIR' })
  await expect(makeFolder(join(work, 'file'))).rejects.toMatchObject({ code: 'EEXIST' })
})

test.runIf(existsSync('/proc/self'))('a state folder where the system lets nobody make one is named', async () => {
  await expect(prepareStateDir('/proc/sluice/state')).rejects.toMatchObject({ code: 'STATE_UNWRITABLE' })
})
