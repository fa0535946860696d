import { existsSync, readFileSync } from 'node:fs'
import { appendFile, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { failure } from '../../src/failure/failure.js'
import { SluiceError } from '../../src/failure/sluice-error.js'
import { nothing } from '../../src/ledger/account.js'
import { type Checkpoint, VERSION, parseCheckpoint } from '../../src/ledger/checkpoint.js'
import { prepareStateDir, readCheckpoint, removeCheckpoint, writeCheckpoint } from '../../src/ledger/checkpoint-file.js'
import { CheckpointWriter } from '../../src/ledger/checkpoint-writer.js'
import { record } from '../../src/ledger/dead-letter-record.js'
import { type Owner, takeBack } from '../../src/ledger/take-back.js'
import { randomToken, tokenOf } from '../../src/ledger/token.js'
import { HeldClock } from './held-clock.js'

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
  const letter = (input: string, line: string) =>
    `${JSON.stringify({ operation: 'create', status: 0, type: 't', origin: { input, document: 1 }, attempts: 0, line })}\n`

  test('are those behind the length, if all are of these inputs and the last may be torn', async () => {
    const path = join(folder, 'dead.ndjson')
    const names = new Set(['a "b".ndjson', 'é'])
    const before = letter('other', 'x')
    const long = letter('é', 'y'.repeat(200_000))
    const ours = letter('a "b".ndjson', 'x') + long
    const torn = [0, 1, 5, 12, 40, 80, 5000].map(bytes => before + ours + letter('é', 'z'.repeat(9000)).slice(0, bytes))
    for (const text of torn) {
      await writeFile(path, text)
      await takeBack(path, before.length, { run: 'ours', inputs: names })
      expect(await readFile(path, 'utf8')).toBe(before)
    }
    const foreign = [letter('c', 'x'), '{"mine":1}\n', 'notes', `\n${ours}`]
    for (const text of foreign.map(more => before + ours + more)) {
      await writeFile(path, text)
      await takeBack(path, before.length, { run: 'ours', inputs: names })
      expect(await readFile(path, 'utf8')).toBe(text)
    }
  })

  test('are those of the run alone where they say whose they are, and of any input where they are sent again', async () => {
    const path = join(folder, 'said.ndjson')
    const said = (run: string, input: string) => {
      const one = { operation: 'create', status: 0, type: 't', reason: 'r', attempts: 0, document: Buffer.from('{}') }
      const origin = { input, document: 1 }
      return record({ ...one, operation: 'create', origin }, { run, destination: { index: 'i' } }).toString()
    }
    const before = said('ours', 'a')
    const cases: [string, Owner, boolean][] = [
      [said('ours', 'a') + said('ours', 'b'), { run: 'ours' }, true],
      [said('ours', 'a') + said('ours', 'b').slice(0, -9), { run: 'ours' }, true],
      [said('ours', 'a'), { run: 'ours', inputs: new Set(['a']) }, true],
      [said('ours', 'b'), { run: 'ours', inputs: new Set(['a']) }, false],
      [said('theirs', 'a'), { run: 'ours', inputs: new Set(['a']) }, false],
      [said('ours', 'a') + said('theirs', 'a'), { run: 'ours' }, false],
      [letter('a', 'x'), { run: 'ours' }, false],
    ]
    for (const [more, owner, isTaken] of cases) {
      await writeFile(path, before + more)
      await takeBack(path, before.length, owner)
      expect(await readFile(path, 'utf8')).toBe(isTaken ? before : before + more)
    }
  })

  test('are left alone where the file is shorter or gone', async () => {
    const path = join(folder, 'dead.ndjson')
    await takeBack(path, 100, { run: 'ours', inputs: new Set(['a']) })
    expect(existsSync(path)).toBe(false)
    await appendFile(path, letter('a', 'x'))
    await takeBack(path, 10_000, { run: 'ours', inputs: new Set(['a']) })
    expect(readFileSync(path, 'utf8')).toBe(letter('a', 'x'))
  })
})

test('a token is random, or the same for the same parts; ids end in it and a number', () => {
  expect(randomToken()).toMatch(/^[a-z2-7]{16}$/)
  expect(randomToken()).not.toBe(randomToken())
  expect(tokenOf('a', 1)).toMatch(/^[a-z2-7]{16}$/)
  expect(tokenOf('a', 1)).toBe(tokenOf('a', 1))
  expect(tokenOf('a', 'bc')).not.toBe(tokenOf('ab', 'c'))
})
