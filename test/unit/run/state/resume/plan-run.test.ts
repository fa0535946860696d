import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nothing } from '../../../../../src/pipeline/ledger/account.js'
import { StoredInput } from '../../../../../src/pipeline/source/stored-file.js'
import type { Checkpoint, CheckpointInput } from '../../../../../src/run/state/checkpoint/checkpoint.js'
import { planRun } from '../../../../../src/run/state/resume/plan-run.js'
import type { Plan, Planning } from '../../../../../src/run/state/resume/plan.js'
import { tableOf } from '../../../../support/load/file-table.js'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plan-run-'))
})
afterEach(async () => await rm(folder, { recursive: true }))

/** Three lines of nine bytes each. */
async function file(name: string, id = 0): Promise<StoredInput> {
  const path = join(folder, name)
  await writeFile(path, `{"n":"${name}"}\n`.repeat(3))
  const { size, ino: inode, mtimeMs, ctimeMs } = await stat(path)
  return new StoredInput(id, tableOf(folder, name, { size, inode, mtimeMs, ctimeMs }, id))
}

/** What a run keeps of a file of which it has settled so many lines. */
async function known(
  source: StoredInput,
  lines: number,
  more: Partial<CheckpointInput> = {},
): Promise<CheckpointInput> {
  const { path, stat: seen, name } = source
  const { size } = seen
  const [sum = ''] = await source.sums([size])
  const offset = (size / 3) * lines
  const mark = { kind: 'lines', document: lines + 1, line: lines + 1, offset, tail: 0 } as const
  const status = lines === 3 ? 'finished' : 'begun'
  const input = { id: 1, name, token: `token-${name}`, status, mark, read: lines, hasStored: true } as const
  return { ...input, file: { path, stat: seen, bytes: size, sum }, ...more }
}

function run(name: string, inputs: readonly CheckpointInput[], more: Partial<Checkpoint> = {}): Checkpoint {
  const target = { url: 'https://c', index: 'i' }
  const left = inputs.filter(({ status }) => status !== 'finished').length
  const whole = { status: left === 0 ? 'finished' : 'interrupted', target, scope: 'i', key: `key-${name}` } as const
  const time = '2026-11-21T10:00:00.000Z'
  const counts = { began: time, written: time, counts: nothing, rejections: [], isDoubtful: false, left }
  return { run: name, ...whole, ...counts, sources: [], options: { op: 'create' }, inputs, ...more }
}

async function plan(
  sources: readonly StoredInput[],
  runs: readonly Checkpoint[],
  more: Partial<Planning> = {},
): Promise<Plan> {
  return await planRun({
    runs,
    lost: new Set(),
    sources,
    options: { op: 'create' },
    again: false,
    key: 'key',
    named: undefined,
    newRunId: () => 'new',
    newToken: async ({ name }) => await Promise.resolve(`new-${name}`),
    ...more,
  })
}

test('three inputs that are no longer there are named, and the others counted', async () => {
  const files = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map(async (name, id) => await file(name, id)))
  const first = run('1', await Promise.all(files.map(async one => await known(one, 1))))
  expect((await plan(files, [first])).warnings).toEqual([])
  const { warnings } = await plan(files.slice(0, 1), [first])
  expect(warnings).toEqual([
    ...['b', 'c', 'd'].map(name => `${name} is no longer among the inputs. Sluice loaded only 1 of its documents`),
    'the same is true of 2 more files',
  ])
})

describe('other options', () => {
  const options = { op: 'update' }

  test.each([
    ['of a finished input', 3, {}, {}],
    ['of an input that was begun', 1, {}, {}],
    ['where only the documents that were under way may be stored', 1, { hasStored: false }, { isDoubtful: true }],
  ])('are refused for documents that may be stored: %s', async (_, lines, input, state) => {
    const a = await file('a')
    const first = run('1', [await known(a, lines, input)], state)
    await expect(plan([a], [first], { options })).rejects.toMatchObject({
      code: 'RUN_OPTIONS_CHANGED',
      failure: { evidence: { differences: ['op was create but is now update'] } },
    })
  })

  test.each([[1], [3]])('load an input anew of which nothing is stored, after %i lines', async lines => {
    const a = await file('a')
    const first = run('1', [await known(a, lines, { hasStored: false })])
    const { run: name, inputs } = await plan([a], [first], { options })
    expect(name).toBe('new')
    expect(inputs).toMatchObject([{ token: 'new-a', isLoaded: false }])
  })
})

describe('several runs', () => {
  test('each input goes by the run that has read it, and the newest with something left continues', async () => {
    const [a, b, c] = [await file('a', 0), await file('b', 1), await file('c', 2)]
    const first = run('1', [await known(a, 3)])
    const second = run('2', [await known(b, 1)])
    const result = await plan([a, b, c], [second, first])
    expect(result).toMatchObject({ run: '2', continues: second, isDone: false })
    expect(result.inputs).toMatchObject([
      { token: '', isLoaded: true, by: first },
      { token: 'token-b', isLoaded: false, from: { document: 2 }, read: 1 },
      { token: 'new-c', isLoaded: false, read: 0 },
    ])
    expect(result.inputs[1]).not.toHaveProperty('by')
  })

  test('the numbers of a run that does not continue are continued by the one that does', async () => {
    const [a, b] = [await file('a', 0), await file('b', 1)]
    const first = run('1', [await known(a, 1)])
    const second = run('2', [await known(b, 2)])
    const { run: name, inputs } = await plan([a, b], [second, first])
    expect(name).toBe('2')
    expect(inputs).toMatchObject([
      { token: 'token-a', from: { document: 2 }, start: { document: 2, wasRead: false }, read: 0 },
      { token: 'token-b', from: { document: 3 }, read: 2 },
    ])
  })

  test('nothing is left if all is loaded: a new run says so, and loads nothing', async () => {
    const [a, b] = [await file('a', 0), await file('b', 1)]
    const runs = [run('2', [await known(b, 3)]), run('1', [await known(a, 3)])]
    const { run: name, inputs, isDoubtful } = await plan([a, b], runs)
    expect({ name, isDoubtful }).toEqual({ name: 'new', isDoubtful: false })
    expect(inputs.every(({ isLoaded }) => isLoaded)).toBe(true)
  })

  test('a file that fails is read again, also if all of its bytes were read', async () => {
    const a = await file('a')
    const { run: name, inputs } = await plan([a], [run('1', [await known(a, 2, { status: 'failed' })])])
    expect(name).toBe('1')
    expect(inputs).toMatchObject([{ token: 'token-a', from: { document: 3 }, isLoaded: false }])
  })
})
