import { existsSync, readFileSync } from 'node:fs'
import { appendFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failure } from '../../../src/failure/failure.js'
import { SluiceError } from '../../../src/failure/sluice-error.js'
import type { Operation } from '../../../src/flow.js'
import { nothing } from '../../../src/ledger/account.js'
import { type Checkpoint, VERSION, parseCheckpoint } from '../../../src/state/checkpoint.js'
import {
  prepareStateDir,
  readCheckpoint,
  removeCheckpoint,
  writeCheckpoint,
} from '../../../src/state/checkpoint-file.js'
import { CheckpointWriter } from '../../../src/state/checkpoint-writer.js'
import { type Author, record } from '../../../src/ledger/dead-letter-record.js'
import { truncateDeadLetters } from '../../../src/ledger/truncate-dead-letters.js'
import { randomToken, tokenOf } from '../../../src/state/run-identity.js'
import { HeldClock } from '../../support/held-clock.js'

const checkpoint: Checkpoint = {
  version: VERSION,
  run: 'r',
  status: 'running',
  began: '2026-11-21T00:00:00.000Z',
  written: '2026-11-21T00:00:01.000Z',
  target: { url: 'https://c', index: 'logs' },
  sources: ['/a'],
  options: { op: 'create' },
  isDoubtful: true,
  inputs: [
    {
      name: 'a',
      status: 'begun',
      token: 't',
      mark: { kind: 'lines', document: 2, line: 3, offset: 4, tail: 0 },
      read: 2,
      file: {
        size: 9,
        inode: '7',
        isCompressed: false,
        head: { bytes: 9, sha256: 'h' },
        tail: { end: 4, sha256: 't' },
      },
    },
  ],
  counts: nothing,
  rejections: [],
}

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'checkpoint-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

describe('a checkpoint', () => {
  test('comes back as it was written, and leaves nothing else in its folder', async () => {
    await prepareStateDir(folder)
    const path = join(folder, 'runs', 'k.json')
    expect(await readCheckpoint(path)).toBeUndefined()
    await writeCheckpoint(path, checkpoint)
    await writeCheckpoint(path, { ...checkpoint, run: 's' })
    expect(await readCheckpoint(path)).toEqual({ ...checkpoint, run: 's' })
    expect(await readdir(join(folder, 'runs'))).toEqual(['k.json'])
    await writeFile(`${path}.1234.tmp`, 'left by a process that was killed')
    await removeCheckpoint(path)
    expect(await readdir(join(folder, 'runs'))).toEqual([])
  })

  test('is refused where anything that a resume needs is missing or of another kind', () => {
    expect(parseCheckpoint(JSON.stringify(checkpoint))).toEqual(checkpoint)
    const refusedWithout = (path: readonly (string | number)[]) => {
      const copy = structuredClone(checkpoint) as unknown as Record<string | number, unknown>
      const owner = path.slice(0, -1).reduce((part, key) => part[key] as Record<string | number, unknown>, copy)
      const key = path.at(-1) ?? ''
      delete owner[key]
      const missing = parseCheckpoint(JSON.stringify(copy))
      owner[key] = []
      return [missing, parseCheckpoint(JSON.stringify(copy))].every(one => typeof one === 'string')
    }
    const needed = ['run', 'status', 'target', 'isDoubtful', 'inputs', 'counts', 'sources', 'rejections'].map(key => [
      key,
    ])
    const deeper = [
      ['target', 'index'],
      ['inputs', 0, 'token'],
      ['inputs', 0, 'mark', 'offset'],
      ['inputs', 0, 'file', 'head', 'sha256'],
      ['counts', 'created'],
    ]
    const accepted = [
      ...needed.filter(([key]) => key !== 'sources' && key !== 'inputs' && key !== 'rejections'),
      ...deeper,
    ]
    expect(accepted.filter(path => !refusedWithout(path))).toEqual([])
  })
})

describe('the writer', () => {
  test('writes once for many changes, one write at a time, and the newest state last', async () => {
    const clock = new HeldClock()
    let state = 0
    const written: number[] = []
    let finish = () => {}
    const writer = new CheckpointWriter(
      async () => {
        written.push(state)
        await new Promise<void>(resolve => (finish = resolve))
      },
      500,
      clock,
    )
    for (state = 1; state < 10; state += 1) writer.touch()
    await new Promise(setImmediate)
    expect(written).toEqual([])
    clock.advance(500)
    await new Promise(setImmediate)
    expect(written).toEqual([10])
    state = 11
    writer.touch()
    clock.advance(5000)
    await new Promise(setImmediate)
    expect(written).toEqual([10])
    finish()
    await new Promise(setImmediate)
    clock.advance(500)
    await new Promise(setImmediate)
    expect(written).toEqual([10, 11])
    finish()
    await writer.end()
  })

  test('tells the next caller why a write failed, and throws a bug', async () => {
    const why = failure('STATE_UNWRITABLE', { path: 'p', problem: 'the disk is full' })
    for (const error of [new SluiceError(why), new TypeError('a bug')]) {
      const clock = new HeldClock()
      const writer = new CheckpointWriter(async () => await Promise.reject(error), 500, clock)
      expect(writer.touch()).toBeUndefined()
      await new Promise(setImmediate)
      clock.advance(500)
      await new Promise(setImmediate)
      if (error instanceof TypeError) expect(() => writer.touch()).toThrow('a bug')
      else expect(writer.touch()).toBe(why)
      await writer.end()
    }
  })

  test('ends without waiting for its next time', async () => {
    let writes = 0
    const writer = new CheckpointWriter(async () => void (writes += 1), 500, new HeldClock())
    writer.touch()
    await writer.end()
    expect(writes).toBe(0)
  })
})

describe('dead letters that are taken back', () => {
  const ours: Author = { run: 'nightly', writer: 'ours' }
  const letter = (author: Author | undefined, text = '{}', operation: Operation = 'create') => {
    const one = { operation, status: 0, type: 't', reason: 'r', attempts: 0, origin: { input: 'a', document: 1 } }
    const stamp = author === undefined ? undefined : { ...author, destination: { index: 'i' } }
    return record({ ...one, document: Buffer.from(text) }, stamp).toString()
  }
  const before = letter({ run: 'nightly', writer: 'earlier' })
  const own = letter(ours, '{"a":"b"}', 'index') + letter(ours, JSON.stringify({ long: 'y'.repeat(200_000) }))

  test('are those behind the length, if this process wrote all of them and the last may be torn', async () => {
    const path = join(folder, 'dead.ndjson')
    const torn = letter(ours, JSON.stringify({ long: 'z'.repeat(9000) }))
    for (const bytes of [0, 1, 5, 12, 40, 80, 5000, torn.length]) {
      await writeFile(path, before + own + torn.slice(0, bytes))
      await truncateDeadLetters(path, before.length, ours)
      expect(await readFile(path, 'utf8')).toBe(before)
    }
  })

  test('are none where anybody else wrote there too, also under the same name of a run', async () => {
    const path = join(folder, 'shared.ndjson')
    const theirs = letter({ run: 'nightly', writer: 'theirs' })
    const foreign = [theirs, theirs.slice(0, 60), letter(undefined), '{"mine":1}\n', 'notes', `\n${own}`, before]
    for (const text of foreign.flatMap(one => [before + own + one, before + one + own])) {
      await writeFile(path, text)
      await truncateDeadLetters(path, before.length, ours)
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  test('are left alone where the file is shorter or gone', async () => {
    const path = join(folder, 'short.ndjson')
    await truncateDeadLetters(path, 100, ours)
    expect(existsSync(path)).toBe(false)
    await appendFile(path, letter(ours))
    await truncateDeadLetters(path, 10_000, ours)
    expect(readFileSync(path, 'utf8')).toBe(letter(ours))
  })
})

test('a token is random, or the same for the same parts; ids end in it and a number', () => {
  expect(randomToken()).toMatch(/^[a-z2-7]{16}$/)
  expect(randomToken()).not.toBe(randomToken())
  expect(tokenOf('a', 1)).toMatch(/^[a-z2-7]{16}$/)
  expect(tokenOf('a', 1)).toBe(tokenOf('a', 1))
  expect(tokenOf('a', 'bc')).not.toBe(tokenOf('ab', 'c'))
})
