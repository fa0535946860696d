import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Cluster } from '../../../src/cluster/open-cluster.js'
import { failure } from '../../../src/failure/failure.js'
import { SluiceError } from '../../../src/failure/sluice-error.js'
import type { Batch, Outcome, Source } from '../../../src/flow.js'
import type { Checkpoint } from '../../../src/state/checkpoint.js'
import { DeadLetters } from '../../../src/ledger/dead-letters.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { planRun } from '../../../src/state/plan-run.js'
import { StateKeeper } from '../../../src/state/state-keeper.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'state-keeper-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

/** Dead letters on a disk that may fail when it is to keep what was written. */
class OnDisk extends DeadLetters {
  isBroken = false
  /** What was written, and what is sure to be there after a loss of power. */
  kept = 0

  override async sync(): Promise<void> {
    if (this.isBroken)
      throw new SluiceError(failure('DEAD_LETTERS_UNWRITABLE', { path: this.path ?? '', problem: 'the disk failed' }))
    await super.sync()
    this.kept = this.length
  }
}

test('a checkpoint covers no dead letter that is not on the disk', async () => {
  const source: Source = {
    id: 0,
    name: 'a.ndjson',
    open: () => {
      throw new Error('nothing is read')
    },
  }
  const plan = await planRun({
    previous: undefined,
    sources: [source],
    isLookedAt: false,
    options: {},
    again: false,
    newRunId: () => 'run',
    newToken: () => 'token',
  })
  const target = { url: 'https://cluster', index: 'i' }
  const found = {
    plan,
    target,
    hasOwnIndex: false,
    isIndexMissing: false,
    isNamed: false,
    sources: [],
    options: {},
    notes: [],
    warnings: [],
  }
  const letters = new OnDisk(join(folder, 'dead.ndjson'))
  await using _ = letters
  const ledger = new Ledger(letters)
  const path = join(folder, 'checkpoint.json')
  const givenUp = new AbortController().signal
  const keeper = new StateKeeper({ found, path, cluster: {} as Cluster, ledger, deadLetters: letters, givenUp })
  const checkpoint = async () => JSON.parse(await readFile(path, 'utf8')) as Checkpoint

  ledger.begin(source)
  await keeper.start()
  expect((await checkpoint()).deadLetters?.length).toBe(0)

  const rejectOne = async (document: number) => {
    const mark = { kind: 'lines', document: document + 1, line: document + 1, offset: document * 9, tail: 0 } as const
    const batch = { docs: 1, taken: [{ input: source, lines: 1 }], blank: 0, ends: [{ input: source, mark }] }
    const nothing = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0 }
    const refused = { operation: 'create', status: 400, type: 't', reason: 'r', attempts: 1 } as const
    const origin = { input: 'a.ndjson', document }
    ledger.take(batch as unknown as Batch)
    await ledger.settle(batch as unknown as Batch, {
      docs: 1,
      ...nothing,
      rejected: [{ ...refused, document: Buffer.from('{"n":1}'), origin }],
    })
  }
  await rejectOne(1)
  letters.isBroken = true
  expect(await keeper.finish('interrupted')).toMatchObject({ code: 'DEAD_LETTERS_UNWRITABLE' })
  expect(letters.length).toBeGreaterThan(0)
  expect(await checkpoint()).toMatchObject({ counts: { rejected: 0 }, deadLetters: { length: 0 } })

  letters.isBroken = false
  await rejectOne(2)
  expect(await keeper.finish('interrupted')).toBeUndefined()
  expect(await checkpoint()).toMatchObject({ counts: { rejected: 2 }, deadLetters: { length: letters.kept } })
  expect(letters.kept).toBe((await readFile(join(folder, 'dead.ndjson'))).length)
})

test('a copy is kept whole once a document waits for the next process: no checkpoint of this one would let go of more', async () => {
  const hash = async () => await Promise.resolve('hash')
  const look = async () =>
    await Promise.resolve({ size: 90, inode: '1-a', isCompressed: false, head: { bytes: 90, sha256: 'hash' } })
  const told: (number | undefined)[] = []
  const source: Source = {
    id: 0,
    name: '-',
    file: { path: join(folder, '1-a'), look, hash },
    copy: { id: '1-a', of: '-', grows: true, loaded: to => void told.push(to) },
    open: () => {
      throw new Error('nothing is read')
    },
  }
  const plan = await planRun({
    previous: undefined,
    sources: [source],
    isLookedAt: true,
    options: {},
    again: false,
    newRunId: () => 'run',
    newToken: () => 'token',
  })
  const target = { url: 'https://cluster', index: 'i' }
  const known = {
    hasOwnIndex: false,
    isIndexMissing: false,
    isNamed: false,
    sources: [],
    options: {},
    notes: [],
    warnings: [],
  }
  await using letters = new DeadLetters(undefined)
  const ledger = new Ledger(letters)
  const keeper = new StateKeeper({
    found: { plan, target, ...known },
    path: join(folder, 'checkpoint.json'),
    cluster: {} as Cluster,
    ledger,
    deadLetters: letters,
    givenUp: new AbortController().signal,
  })
  ledger.begin(source)
  const settleOne = async (document: number, counts: Partial<Outcome>) => {
    const mark = { kind: 'lines', document: document + 1, line: document + 1, offset: document * 9, tail: 0 } as const
    const batch = { docs: 1, taken: [{ input: source, lines: 1 }], blank: 0, ends: [{ input: source, mark }] }
    const nothing = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0, rejected: [] }
    ledger.take(batch as unknown as Batch)
    await ledger.settle(batch as unknown as Batch, { docs: 1, ...nothing, ...counts })
    expect(await keeper.finish('interrupted')).toBeUndefined()
  }
  await settleOne(1, { created: 1 })
  await settleOne(2, { unknown: 1, unanswered: 1 })
  await settleOne(3, { created: 1 })
  expect(told).toEqual([9, undefined, undefined])
})
