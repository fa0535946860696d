import { expect, test } from 'vitest'
import type { Cursor, Source } from '../../../../../src/base/flow.js'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import type { Checkpoint, CheckpointInput } from '../../../../../src/run/state/checkpoint/checkpoint.js'
import { planRun } from '../../../../../src/run/state/resume/plan-run.js'
import type { Plan, Planning } from '../../../../../src/run/state/resume/plan.js'

const cursor: Cursor = {
  selection: { query: 'a=1' },
  placeAt: document => ({ at: document }),
  after: ({ at }) => ({ since: at }),
  since: ({ since }) => (typeof since === 'number' ? `tick ${since}` : undefined),
}

function table(id: number, selection = cursor.selection): Source {
  const open = () => {
    throw new Error('nothing is read')
  }
  return { id, name: `servicenow:t${id}`, cursor: { ...cursor, selection }, open }
}

const mark = (document: number) => ({ kind: 'lines' as const, document, line: document, offset: 9, tail: 0 })

function known(id: number, status: CheckpointInput['status'], more: Partial<CheckpointInput> = {}): CheckpointInput {
  const { selection } = cursor
  const table = { id, name: `servicenow:t${id}`, token: `token${id}`, selection }
  return { ...table, status, mark: mark(8), read: 7, hasStored: true, ...more }
}

function checkpoint(inputs: readonly CheckpointInput[], status: Checkpoint['status']): Checkpoint {
  const sent = { ids: 'field', op: 'index' }
  return {
    scope: 'i',
    key: 'k',
    run: 'first',
    status,
    began: '2026-11-21T00:00:00Z',
    written: '2026-11-21T00:00:00Z',
    target: { url: 'https://cluster', index: 'i' },
    sources: [],
    options: sent,
    isDoubtful: status === 'running',
    inputs,
    left: inputs.filter(input => input.status !== 'finished').length,
    counts: { ...nothing, read: 7, created: 7 },
    rejections: [],
  }
}

async function plan(sources: readonly Source[], previous?: Checkpoint, more: Partial<Planning> = {}): Promise<Plan> {
  return await planRun({
    runs: previous === undefined ? [] : [previous],
    lost: new Set(),
    sources,
    key: 'k',
    named: undefined,
    options: { ids: 'field', op: 'index' },
    again: false,
    newRunId: () => 'second',
    newToken: async () => await Promise.resolve('new token'),
    ...more,
  })
}

const place = { at: 8 }

test('an unread table is read from its start', async () => {
  const { run, inputs, notes } = await plan([table(0)])
  expect({ run, notes }).toEqual({ run: 'second', notes: [] })
  expect(inputs).toEqual([expect.objectContaining({ isLoaded: false, read: 0 })])
  expect(inputs[0]).not.toHaveProperty('place')
})

test('one that was read to its end is read on from there, by a new run that counts from 1', async () => {
  const { run, inputs, notes, before } = await plan(
    [table(0)],
    checkpoint([known(0, 'finished', { place })], 'finished'),
  )
  expect({ run, notes, read: before.counts.read }).toEqual({
    run: 'second',
    notes: ['Sluice reads the rows of servicenow:t0 that changed since tick 8. To read all rows, pass --again'],
    read: 0,
  })
  expect(inputs).toMatchObject([{ token: 'token0', place: { since: 8 }, isLoaded: false, read: 0 }])
  expect(inputs[0]).not.toHaveProperty('from')
})

test('one that was begun is gone on with; what changed in one beside it that was read is read in the same run', async () => {
  const previous = checkpoint([known(0, 'failed', { place }), known(1, 'finished', { place })], 'failed')
  const { run, inputs, before } = await plan([table(0), table(1)], previous)
  expect({ run, read: before.counts.read }).toEqual({ run: 'first', read: 7 })
  expect(inputs).toMatchObject([
    { place, from: mark(8), read: 7, isLoaded: false },
    { place: { since: 8 }, from: mark(8), read: 7, isLoaded: false },
  ])
})

test('one of which nothing was settled is read from its start', async () => {
  const previous = checkpoint([known(0, 'begun', { mark: mark(1), read: 0 })], 'running')
  const { run, inputs } = await plan([table(0)], previous)
  expect(run).toBe('first')
  expect(inputs).toMatchObject([{ token: 'token0', isLoaded: false, read: 0 }])
  expect(inputs[0]).not.toHaveProperty('place')
})

test('a reading of changes that was cut off before its first row goes on with the changes', async () => {
  const previous = checkpoint([known(0, 'begun', { mark: mark(1), read: 0, place: { since: 5 } })], 'running')
  const { inputs } = await plan([table(0)], previous)
  expect(inputs).toMatchObject([{ place: { since: 5 } }])
  expect(inputs[0]).not.toHaveProperty('from')
})

test.each([
  ['other rows', [table(0, { query: 'a=2' })], {}, 'query of servicenow:t0 was a=1 but is now a=2'],
  [
    'another pipeline',
    [table(0)],
    { options: { ids: 'field', op: 'index', pipeline: 'p' } },
    'the options for sending it have changed',
  ],
] as const)('for %s all is read again, and that is said', async (_, sources, more, why) => {
  const { inputs, warnings } = await plan(sources, checkpoint([known(0, 'finished', { place })], 'finished'), more)
  expect(inputs[0]).not.toHaveProperty('place')
  expect(warnings).toEqual([
    `Sluice reads all of servicenow:t0 again: ${why}. The documents of run first stay in the index`,
  ])
})

test('another operation alone is no reason to read all again', async () => {
  const previous = checkpoint([known(0, 'finished', { place })], 'finished')
  const { inputs, warnings } = await plan([table(0)], previous, { options: { ids: 'field', op: 'create' } })
  expect({ place: inputs[0]?.place, warnings }).toEqual({ place: { since: 8 }, warnings: [] })
})

test('other rows are refused while a run is unfinished, also of a table that was read to its end', async () => {
  const previous = checkpoint([known(0, 'begun', { place }), known(1, 'finished', { place })], 'running')
  const sources = [table(0), table(1, { query: 'a=2' })]
  await expect(plan(sources, previous)).rejects.toMatchObject({
    failure: {
      code: 'RUN_OPTIONS_CHANGED',
      evidence: { differences: ['query of servicenow:t1 was a=1 but is now a=2'] },
    },
  })
})

test('if each run has an index of its own, a table that was read to its end is done', async () => {
  const previous = checkpoint([known(0, 'finished', { place }), known(1, 'begun', { place })], 'failed')
  const { inputs } = await plan([table(0), table(1)], previous, { readsWhole: true })
  expect(inputs).toMatchObject([
    { isLoaded: true, read: 7 },
    { isLoaded: false, place },
  ])
})

test('a table that was read to its end is read again on request', async () => {
  const previous = checkpoint([known(0, 'finished', { place })], 'finished')
  const { inputs, warnings } = await plan([table(0)], previous, { again: true })
  expect(inputs[0]).not.toHaveProperty('place')
  expect(warnings).toEqual([
    'Sluice reads all of servicenow:t0 again: --again asks for it. The documents of run first stay in the index',
  ])
})
