import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Cluster } from '../../../../../src/route/cluster/open-cluster.js'
import { fileStat } from '../../../../../src/base/checksum/checksum.js'
import { failure, SluiceError } from '../../../../../src/base/failure/failure.js'
import type { Batch, Outcome, Source } from '../../../../../src/base/flow.js'
import { DeadLetters } from '../../../../../src/pipeline/ledger/dead-letters.js'
import { Ledger } from '../../../../../src/pipeline/ledger/ledger.js'
import { StoredInput } from '../../../../../src/pipeline/source/stored-file.js'
import type { Checkpoint } from '../../../../../src/run/state/checkpoint/checkpoint.js'
import { planRun } from '../../../../../src/run/state/resume/plan-run.js'
import { readRun } from '../../../../../src/run/state/runs/runs.js'
import { prepareStateDir } from '../../../../../src/run/state/runs/state-folder.js'
import type { FoundRun } from '../../../../../src/run/state/resume/find-run.js'
import { IndexWatch } from '../../../../../src/run/state/resume/index-watch.js'
import { StateKeeper } from '../../../../../src/run/state/resume/state-keeper.js'
import { tableOf } from '../../../../support/load/file-table.js'
import { runIn } from '../../../../support/state/stored-runs.js'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'state-keeper-'))
  path = join(folder, 'runs', 'run.jsonl')
  await prepareStateDir(folder)
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

/** The keeper of a run with these inputs, which a run of before may have left. */
async function keep(
  sources: readonly Source[],
  letters = new DeadLetters(undefined),
  runs: readonly Checkpoint[] = [],
) {
  let tokens = 0
  const plan = await planRun({
    runs,
    lost: new Set(),
    sources,
    options: {},
    again: false,
    key: 'k',
    named: undefined,
    newRunId: () => 'run',
    newToken: async () => await Promise.resolve(`token${(tokens += 1)}`),
  })
  const ledger = new Ledger(letters)
  for (const source of sources) ledger.begin(source)
  const found: FoundRun = {
    plan,
    target: { url: 'https://cluster', index: 'i' },
    key: 'k',
    began: '2026-01-02T03:04:05.678Z',
    since: '2026-01-02T03:04:05.678Z',
    named: undefined,
    identity: { into: 'i' },
    hasOwnIndex: false,
    isIndexMissing: false,
    isName: false,
    isUnrefreshed: false,
    isPiped: false,
    isNamed: false,
    sources: [],
    options: {},
    openLetters: async () => await Promise.resolve([]),
    notes: [],
    warnings: [],
  }
  const cluster = {} as Cluster
  const watch = new IndexWatch({ found, cluster, ledger, givenUp: new AbortController().signal })
  const keeper = new StateKeeper({ found, path, watch, ledger, deadLetters: letters })
  return { keeper, ledger, plan }
}

/** A batch of one document, of nine bytes. */
function batchOf(source: Source, document: number): Batch {
  const mark = { kind: 'lines', document: document + 1, line: document + 1, offset: document * 9, tail: 0 } as const
  const spans = [{ input: source, docs: 1 }]
  const batch = {
    docs: 1,
    spans,
    refused: [],
    taken: [{ input: source, lines: 1 }],
    blank: 0,
    ends: [{ input: source, mark }],
  }
  return batch as unknown as Batch
}

const none = { docs: 1, created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: 0, rejected: [] }

function nothingIsRead(): never {
  throw new Error('nothing is read')
}

test('a checkpoint covers no dead letter that is not on the disk', async () => {
  const source: Source = { id: 0, name: 'a.ndjson', open: nothingIsRead }
  const letters = new OnDisk(join(folder, 'dead.ndjson'))
  await using _ = letters
  const { keeper, ledger } = await keep([source], letters)
  await using __ = keeper
  await keeper.start()
  expect((await runIn(path)).deadLetters?.length).toBe(0)

  const rejectOne = async (document: number) => {
    const refused = { operation: 'create', status: 400, type: 't', reason: 'r', attempts: 1 } as const
    const origin = { input: 'a.ndjson', document }
    const batch = batchOf(source, document)
    ledger.take(batch)
    await ledger.settle(batch, { ...none, rejected: [{ ...refused, document: Buffer.from('{"n":1}'), origin }] })
  }
  await rejectOne(1)
  letters.isBroken = true
  expect(await keeper.finish('interrupted')).toMatchObject({ code: 'DEAD_LETTERS_UNWRITABLE' })
  expect(letters.length).toBeGreaterThan(0)
  expect(await runIn(path)).toMatchObject({ counts: { rejected: 0 }, deadLetters: { length: 0 } })

  letters.isBroken = false
  await rejectOne(2)
  expect(await keeper.finish('interrupted')).toBeUndefined()
  expect(await runIn(path)).toMatchObject({ counts: { rejected: 2 }, deadLetters: { length: letters.kept } })
  expect(letters.kept).toBe((await readFile(join(folder, 'dead.ndjson'))).length)
})

test('facts that a checkpoint could not hold are in the next one: its counts are those of its marks', async () => {
  const [a, b]: [Source, Source] = [
    { id: 0, name: 'a', open: nothingIsRead },
    { id: 1, name: 'b', open: nothingIsRead },
  ]
  const letters = new OnDisk(join(folder, 'dead.ndjson'))
  await using _ = letters
  const { keeper, ledger } = await keep([a, b], letters)
  await using __ = keeper
  await keeper.start()
  const settle = async (source: Source, document: number) => {
    const batch = batchOf(source, document)
    ledger.take(batch)
    expect(await keeper.sending(batch)).toBeUndefined()
    await ledger.settle(batch, { ...none, created: 1 })
  }
  await settle(a, 1)
  ledger.end(a)
  await settle(b, 1)
  await settle(b, 2)
  letters.isBroken = true
  expect(await keeper.finish('interrupted')).toMatchObject({ code: 'DEAD_LETTERS_UNWRITABLE' })
  letters.isBroken = false
  expect(await keeper.finish('interrupted')).toBeUndefined()
  expect(await runIn(path)).toMatchObject({
    counts: { read: 3, created: 3 },
    left: 1,
    inputs: [
      { name: 'a', status: 'finished', read: 1, mark: { document: 2 } },
      { name: 'b', status: 'begun', read: 2, mark: { document: 3 } },
    ],
  })
})

test('a copy is kept whole once a document waits for the next process: no checkpoint of this one would let go of more', async () => {
  const told: (number | undefined)[] = []
  const source: Source = {
    id: 0,
    name: '-',
    copy: { id: '1-a', of: '-', grows: true, loaded: to => void told.push(to) },
    open: nothingIsRead,
  }
  const { keeper, ledger } = await keep([source])
  await using _ = keeper
  await keeper.start()
  const settleOne = async (document: number, counts: Partial<Outcome>) => {
    const batch = batchOf(source, document)
    ledger.take(batch)
    await ledger.settle(batch, { ...none, ...counts })
    expect(await keeper.finish('interrupted')).toBeUndefined()
  }
  await settleOne(1, { created: 1 })
  await settleOne(2, { unknown: 1, unanswered: 1 })
  await settleOne(3, { created: 1 })
  expect(told).toEqual([9, undefined, undefined])
  expect((await runIn(path)).inputs).toMatchObject([{ name: '-', copy: '1-a', mark: { offset: 9 } }])
})

/** A file on the disk, as an input that is read. */
async function stored(name: string, lines: number): Promise<StoredInput> {
  const at = join(folder, name)
  await writeFile(at, Array.from({ length: lines }, (_, n) => `{"n": ${n}}\n`).join(''))
  return new StoredInput(0, tableOf(folder, at, fileStat(await stat(at))))
}

test('before the first batch of an input is sent, its name, token and checksum are on the disk', async () => {
  const source = await stored('a.ndjson', 5)
  const { keeper, ledger } = await keep([source])
  await using _ = keeper
  await keeper.start()
  const bytes = await readFile(source.path)
  for await (const __ of source.open(new AbortController().signal));
  expect((await runIn(path)).inputs).toEqual([])
  const batch = batchOf(source, 1)
  ledger.take(batch)
  expect(await keeper.sending(batch)).toBeUndefined()
  const [sum] = await source.sums([bytes.length])
  // A process that is killed here has sent the batch.
  expect(await runIn(path)).toMatchObject({
    status: 'running',
    isDoubtful: true,
    left: 1,
    inputs: [
      {
        name: source.name,
        token: 'token1',
        status: 'begun',
        mark: { document: 1, offset: 0 },
        hasStored: true,
        file: { path: source.path, bytes: bytes.length, sum },
      },
    ],
  })
})

test('a resume keeps the token of an input of which only the sending was noted, and refuses another content', async () => {
  const source = await stored('a.ndjson', 5)
  const first = await keep([source])
  await first.keeper.start()
  for await (const _ of source.open(new AbortController().signal));
  first.ledger.take(batchOf(source, 1))
  await first.keeper.sending(batchOf(source, 1))
  await first.keeper[Symbol.asyncDispose]()
  const killed = await runIn(path)

  const again = await stored('a.ndjson', 5)
  const { plan } = await keep([again], undefined, [killed])
  expect(plan).toMatchObject({ continues: killed, isDoubtful: true, inputs: [{ token: 'token1', isLoaded: false }] })
  expect(plan.inputs[0]).not.toHaveProperty('from')
  await writeFile(again.path, '{"n": 7}\n'.repeat(5))
  const other = new StoredInput(0, tableOf(folder, again.path, fileStat(await stat(again.path))))
  await expect(keep([other], undefined, [killed])).rejects.toMatchObject({ code: 'INPUT_CHANGED' })
})

test('the file of a run that an older version wrote gives way to one of this version', async () => {
  const oldPath = join(folder, 'runs', 'k.json')
  await writeFile(oldPath, '{}')
  const source = await stored('a.ndjson', 1)
  const { keeper } = await keep([source])
  await using _ = keeper
  await keeper.start()
  expect(await readRun(path)).toMatchObject({ run: 'run', status: 'running', left: 1 })
})
