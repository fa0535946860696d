import { expect, test } from 'vitest'
import { agreeOnName, useUpName } from '../../../../../src/programs/jobs/control/agree-on-name.js'
import type { JobData } from '../../../../../src/programs/jobs/job.js'
import type { QueueEngine } from '../../../../../src/programs/jobs/queue/open-engine.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'

const data: JobData = {
  version: 1,
  sources: ['/in/*'],
  settings: { swapAlias: 'logs', ids: 'source' },
  url: 'http://cluster',
  index: 'logs',
  concurrency: 8,
  rangeBytes: 100,
  deadLetters: '/in/sluice-dead-letters-one',
  host: 'here',
  made: '2026-01-01T00:00:00.000Z',
}

/** The queues of jobs and of names. */
function world() {
  const names = new Map<string, unknown>()
  const states = new Map<string, string>()
  const engine = {
    queue: (queue: string) => ({
      add: async (_: string, added: unknown, { jobId }: { readonly jobId: string }) => {
        await Promise.resolve()
        if (!names.has(jobId)) names.set(jobId, added)
      },
      getJob: async (id: string) => {
        await Promise.resolve()
        if (queue === 'names') return names.has(id) ? { data: names.get(id) } : undefined
        const state = states.get(id)
        return state === undefined ? undefined : { getState: async () => await Promise.resolve(state) }
      },
    }),
    seal: noSeal,
  } as unknown as QueueEngine
  const agree = async (wanted: string, more: Partial<JobData> = {}) =>
    (await agreeOnName(engine, wanted, { ...data, ...more })).name
  return { engine, states, agree }
}

test('processes with the same command have one job, also if they begin at the same time', async () => {
  const { states, agree } = world()
  const names = await Promise.all(['one', 'two', 'three'].map(async name => await agree(name)))
  expect(new Set(names).size).toBe(1)
  states.set(names[0] ?? '', 'active')
  expect(await agree('four')).toBe(names[0])
})

test('a job that is over is followed by a new one, on which all agree again', async () => {
  const { states, agree } = world()
  states.set(await agree('one'), 'completed')
  expect(await agree('two')).toBe('two')
  expect(await agree('three')).toBe('two')
  states.set('two', 'failed')
  expect(await agree('three')).toBe('three')
})

test('a command that loads something else has a job of its own', async () => {
  const { agree } = world()
  await agree('one')
  expect(await agree('two', { sources: ['/other/*'] })).toBe('two')
  expect(await agree('three', { settings: { ids: 'source' } })).toBe('three')
  // It is the same load, however many requests it makes.
  expect(await agree('four', { settings: { ...data.settings, concurrency: 4 } })).toBe('one')
})

test('the name of a job that was removed never comes again', async () => {
  const { engine, states, agree } = world()
  states.set(await agree('one'), 'completed')
  await useUpName(engine, 'one', { ...data, settings: { ids: 'source', swapAlias: 'logs' } })
  states.delete('one')
  const next = await agree('two')
  expect(next).not.toBe('one')
  expect(await agree('three')).toBe(next)
})

test('dead letters go to the folder of the job that is joined', async () => {
  const { engine } = world()
  await agreeOnName(engine, 'zero', data)
  expect((await agreeOnName(engine, 'one', data)).data.deadLetters).toBe('/in/sluice-dead-letters-zero')
  const chosen = { ...data, deadLetters: '/letters' }
  expect((await agreeOnName(engine, 'one', chosen)).data.deadLetters).toBe('/letters')
})
