import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import type { InputReceipt } from '../../../../../src/pipeline/ledger/receipt.js'
import {
  type Checkpoint,
  type CheckpointInput,
  type RunEnd,
  START,
} from '../../../../../src/run/state/checkpoint/checkpoint.js'
import {
  addEnd,
  changeEnd,
  endOf,
  historyFolder,
  recordedRuns,
  recordRun,
  wholeEnd,
} from '../../../../../src/run/state/runs/history.js'
import { failure } from '../../../../../src/base/failure/failure.js'
import { Journal, wholeLine } from '../../../../../src/run/state/checkpoint/journal.js'
import { InputLocks } from '../../../../../src/base/lock/lock.js'
import { prune } from '../../../../../src/run/state/runs/prune.js'
import { lockCheckpoint, locksFolder } from '../../../../../src/run/state/runs/state-folder.js'
import { forgottenPath, knownRuns, runsFolder } from '../../../../../src/run/state/runs/runs.js'
import { storedRun, rewriteRun, runIn } from '../../../../support/state/stored-runs.js'

const DAY_MS = 86_400_000

let stateDir: string
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'history-'))
  await mkdir(runsFolder(stateDir))
})
afterEach(async () => await rm(stateDir, { recursive: true }))

const pathOf = (run: string) => join(runsFolder(stateDir), `${run}.jsonl`)

function input(token: string, more: Partial<CheckpointInput> = {}): CheckpointInput {
  const mark = { ...START, document: 6, line: 6, offset: 60 }
  const file = { path: `/data/${token}`, stat: undefined, bytes: 60, sum: `sum-${token}` }
  return { id: 1, name: `${token}.ndjson`, status: 'finished', token, mark, read: 5, hasStored: true, file, ...more }
}

function checkpoint(run: string, inputs: readonly CheckpointInput[], more: Partial<Checkpoint> = {}): Checkpoint {
  return {
    run,
    status: 'finished',
    began: '2026-11-21T09:00:00.000Z',
    written: '2026-11-21T09:01:00.000Z',
    target: { url: 'https://cluster', index: 'i' },
    scope: 'i',
    key: 'k',
    sources: ['/data/*'],
    options: {},
    isDoubtful: false,
    left: 0,
    counts: { ...nothing, read: 5, created: 5 },
    rejections: [],
    inputs,
    ...more,
  }
}

function ended(run: string, more: Partial<RunEnd> = {}): RunEnd {
  const began = '2026-11-21T10:00:00.000+01:00'
  return { run, status: 'finished', command: 'ingest', began, ended: '2026-11-21T10:01:00.000+01:00', exit: 0, ...more }
}

/** A run whose file is that old. */
async function stored(run: string, days: number, of: Partial<Checkpoint> = {}, inputs = [input(run)]): Promise<string> {
  const path = pathOf(run)
  const began = new Date(Date.now() - days * DAY_MS).toISOString()
  await rewriteRun(path, checkpoint(run, inputs, { began, written: began, ...of }))
  await addEnd(path, ended(run))
  await age(path, days)
  return path
}

async function age(path: string, days: number): Promise<void> {
  const at = Date.now() / 1000 - days * 86_400
  await utimes(path, at, at)
}

describe('the end of a run', () => {
  test('stands in its file, until a later process writes a checkpoint', async () => {
    const path = await stored('r', 0)
    expect((await runIn(path)).ended).toEqual(ended('r'))
    const { run: _, ...whole } = checkpoint('r', [])
    await appendFile(path, wholeLine(whole))
    expect((await runIn(path)).ended).toBeUndefined()
    await addEnd(path, ended('r', { exit: 5 }))
    expect((await runIn(path)).ended?.exit).toBe(5)
    const resumed = await Journal.begin(path, await runIn(path))
    await resumed.close()
    expect((await runIn(path)).ended).toBeUndefined()
  })

  test('is not written for a run that somebody removed, nor behind a torn line', async () => {
    await addEnd(pathOf('gone'), ended('gone'))
    expect(await readdir(runsFolder(stateDir))).toEqual([])
    const path = await stored('r', 0)
    const before = `${await readFile(path, 'utf8')}{"status":"fin`
    await writeFile(path, before)
    await addEnd(path, ended('r', { exit: 3 }))
    expect(await readFile(path, 'utf8')).toBe(before)
  })

  test('names up to 100 inputs, and takes more from the lines of the file', () => {
    const names = Array.from({ length: 300 }, (_, at) => `input-${at}`)
    const inputs: InputReceipt[] = names.map(name => ({ name, status: 'finished', read: 5 }))
    const receipt = { ...ended('r'), ...nothing, inputs } as unknown as Parameters<typeof endOf>[0]
    const end = endOf(receipt, true)
    expect(end).toMatchObject({ inputs: [], inputCount: 300 })
    const lines = names.map(name => input('t', { name }))
    expect(wholeEnd(end, lines)).toEqual({ ...end, inputs, inputCount: undefined })
    expect(wholeEnd(end, lines.slice(10))).toMatchObject({ inputs: inputs.slice(10), inputCount: 300 })
    expect(endOf(receipt, false)).toMatchObject({ inputs: inputs.slice(0, 100), inputCount: 300 })
    const few = { ...receipt, inputs: inputs.slice(0, 100) }
    expect(endOf(few, true)).toBe(few)
  })

  test('of a run without a state has a file of its own, which no load reads', async () => {
    await recordRun(stateDir, ['/data/a'], ended('r', { exit: 3, status: 'failed' }))
    await recordRun(stateDir, ['-'], ended('r', { exit: 0 }))
    expect((await knownRuns(stateDir)).known).toEqual([])
    const recorded = await recordedRuns(stateDir)
    expect(recorded.map(one => [one.sources, one.ended.exit])).toEqual([
      [['/data/a'], 3],
      [['-'], 0],
    ])
    await writeFile(join(historyFolder(stateDir), 'broken.jsonl'), '{"sluice":2}\n{"ended":')
    expect(await recordedRuns(stateDir)).toHaveLength(2)
  })

  test('changes for the newest run of the name', async () => {
    const path = await stored('r', 0)
    await stored('r2', 0)
    await recordRun(stateDir, [], ended('r', { ended: '2026-11-21T12:00:00.000+01:00' }))
    await changeEnd(stateDir, 'r', end => ({ ...end, exit: 4 }))
    expect((await runIn(path)).ended?.exit).toBe(0)
    expect((await recordedRuns(stateDir))[0]?.ended.exit).toBe(4)
  })
})

describe('old runs', () => {
  const limits = { keepRuns: 1000, keepDays: 90 }
  const noCopies = async () => await Promise.resolve([])
  const runs = async () => (await readdir(runsFolder(stateDir))).toSorted()
  const known = async () =>
    (await knownRuns(stateDir)).known.map(({ isForgotten, checkpoint: { run, inputs } }) => ({
      run,
      isForgotten,
      inputs: Array.from(inputs, ({ token, file }) => `${token} ${file?.sum}`),
    }))

  test('are removed, and their inputs are still known by all that they were known by', async () => {
    await stored('new', 1)
    await stored('old', 91, { target: { url: 'https://cluster', index: 'i', indexUuid: 'u' }, named: 'old' })
    const second = async () => {
      const [, one] = (await knownRuns(stateDir)).known
      if (one === undefined) throw new Error('there is one run')
      return { ...one, checkpoint: storedRun(one.checkpoint) }
    }
    const { checkpoint: before } = await second()
    await prune(stateDir, limits, noCopies)
    expect(await runs()).toEqual(['new.jsonl'])
    expect(await second()).toEqual({
      path: forgottenPath(stateDir),
      isEarlier: true,
      isForgotten: true,
      checkpoint: { ...before, ended: undefined },
    })
  })

  test('are the oldest beyond the number: a tenth more makes room for the next ones', async () => {
    for (let at = 0; at < 21; at += 1) await stored(`r${String(at).padStart(2, '0')}`, at)
    await prune(stateDir, { keepRuns: 21, keepDays: 90 }, noCopies)
    expect(await runs()).toHaveLength(21)
    await prune(stateDir, { keepRuns: 20, keepDays: 90 }, noCopies)
    expect(await runs()).toEqual(Array.from({ length: 18 }, (_, at) => `r${String(at).padStart(2, '0')}.jsonl`))
    expect((await known()).filter(one => one.isForgotten)).toMatchObject([
      { run: 'r18' },
      { run: 'r19' },
      { run: 'r20' },
    ])
  })

  test('stay while something is left to load, and while a process works on them', async () => {
    await stored('left', 200, { left: 1, status: 'interrupted' })
    await stored('killed', 200, { status: 'running' })
    const path = await stored('locked', 200)
    await stored('done', 200)
    await using locks = await InputLocks.open(locksFolder(stateDir))
    await lockCheckpoint(locks, { path, input: '', index: '' })
    await prune(stateDir, limits, noCopies)
    expect(await runs()).toEqual(['killed.jsonl', 'left.jsonl', 'locked.jsonl'])
  })

  test('are removed, too, if they have loaded all, and failed only because of rejected documents', async () => {
    const failures = [
      failure('TOO_MANY_REJECTED', { rejected: 3, limit: 2 }),
      failure('REJECTED_NOT_REPLAYED', { run: 'r', documents: 3, deadLetters: 'dead.ndjson' }),
      failure('INDEX_REPLACED', { index: 'i', run: 'r', load: '--ids run' }),
    ]
    for (const failed of failures) {
      const path = await stored(failed.code, 200, { status: 'failed' })
      await addEnd(path, { ...ended(failed.code, { exit: 3, status: 'failed' }), failure: failed })
      await age(path, 200)
    }
    await prune(stateDir, limits, noCopies)
    expect(await runs()).toEqual(['INDEX_REPLACED.jsonl'])
  })

  test('stay as long as a copy of an input that they have loaded, so that the next load of it finds them', async () => {
    await stored('spooled', 200, {}, [input('a', { copy: '1-0a' })])
    await prune(stateDir, limits, async () => await Promise.resolve(['1-0b', '1-0a']))
    expect(await runs()).toEqual(['spooled.jsonl'])
    await prune(stateDir, limits, async () => await Promise.resolve(['1-0b']))
    expect(await runs()).toEqual([])
  })

  test('of which no input is known leave nothing', async () => {
    await stored('nothing-new', 91, { counts: nothing }, [])
    await recordRun(stateDir, [], ended('refused'))
    await age(join(historyFolder(stateDir), 'refused.jsonl'), 91)
    await recordRun(stateDir, [], ended('kept'))
    await prune(stateDir, limits, noCopies)
    expect(await known()).toEqual([])
    expect(await readdir(historyFolder(stateDir))).toEqual(['kept.jsonl'])
    expect(await readFile(forgottenPath(stateDir), 'utf8')).toBe('')
  })

  test('keep each input once, as the newest of them knew it', async () => {
    await stored('r1', 200, {}, [input('a', { id: 1 }), input('b', { id: 2 })])
    await prune(stateDir, limits, noCopies)
    const grown = input('a', { file: { path: '/data/a', stat: undefined, bytes: 90, sum: 'grown' } })
    await stored('r2', 150, {}, [grown])
    await stored('r3', 100, {}, [input('c')])
    await prune(stateDir, limits, noCopies)
    expect(await known()).toEqual([
      { run: 'r3', isForgotten: true, inputs: ['c sum-c'] },
      { run: 'r2', isForgotten: true, inputs: ['a grown'] },
      { run: 'r1', isForgotten: true, inputs: ['b sum-b'] },
    ])
  })

  test('keep an input that was only found again, and what was loaded of it', async () => {
    await stored('loaded', 200, {}, [input('a')])
    const file = { path: '/data/renamed', stat: undefined, bytes: 60, sum: 'sum-a' }
    const again = { file, read: 0, start: { document: 6, wasRead: false } }
    await stored('found', 150, { counts: nothing }, [input('a', again)])
    await stored('found2', 120, { counts: nothing }, [input('a', again)])
    await prune(stateDir, limits, noCopies)
    const runs = (await knownRuns(stateDir)).known.map(({ checkpoint: { run, inputs } }) => [run, inputs.length])
    expect(runs).toHaveLength(2)
    expect(runs).toContainEqual(['loaded', 1])
  })

  test('stay where they are if the file of all inputs is broken', async () => {
    await stored('old', 91)
    await writeFile(forgottenPath(stateDir), 'no journal\n')
    await prune(stateDir, limits, noCopies)
    expect(await runs()).toEqual(['old.jsonl'])
    expect(await readFile(forgottenPath(stateDir), 'utf8')).toBe('no journal\n')
    expect((await knownRuns(stateDir)).broken).toMatchObject([{ path: forgottenPath(stateDir) }])
  })

  test('that were removed between two steps of a crash are there twice, and known once', async () => {
    const path = await stored('old', 91)
    const text = await readFile(path)
    await prune(stateDir, limits, noCopies)
    await writeFile(path, text)
    expect(await known()).toMatchObject([
      { run: 'old', isForgotten: false },
      { run: 'old', isForgotten: true },
    ])
    await age(path, 91)
    await prune(stateDir, limits, noCopies)
    expect(await known()).toEqual([{ run: 'old', isForgotten: true, inputs: ['old sum-old'] }])
  })
})
