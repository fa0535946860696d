import { expect, test } from 'vitest'
import type { QueueEngine } from '../../../../../src/programs/jobs/queue/open-engine.js'
import type { JobData } from '../../../../../src/programs/jobs/job.js'
import { submitJob } from '../../../../../src/programs/jobs/control/submit-job.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'

const data: JobData = {
  version: 1,
  sources: ['/in/*'],
  settings: { ids: 'source', concurrency: 8 },
  url: 'http://cluster',
  index: 'logs',
  concurrency: 8,
  rangeBytes: 100,
  deadLetters: '/nowhere/letters',
  host: 'here',
  made: '2026-01-01T00:00:00.000Z',
}

interface Kept {
  data: JobData
  state: 'waiting' | 'active' | 'completed'
}

/** The queue of jobs, as BullMQ documents it: each command is whole, and commands of several processes alternate. */
function control() {
  const jobs = new Map<string, Kept>()
  const did: string[] = []
  const queue = {
    getJob: async (id: string) => {
      await Promise.resolve()
      const kept = jobs.get(id)
      return (
        kept && {
          id,
          data: structuredClone(kept.data),
          getState: async () => await Promise.resolve(jobs.get(id)?.state),
        }
      )
    },
    add: async (_: string, added: JobData, { jobId }: { readonly jobId: string }) => {
      await Promise.resolve()
      if (jobs.has(jobId)) return
      did.push('add')
      jobs.set(jobId, { data: added, state: 'waiting' })
    },
    remove: async (id: string) => {
      await Promise.resolve()
      if (jobs.get(id)?.state === 'active') return 0
      did.push('remove')
      jobs.delete(id)
      return 1
    },
  }
  return { jobs, did, engine: { queue: () => queue, seal: noSeal } as unknown as QueueEngine }
}

test('a job that has ended is put on the queue again with a new time, and keeps the size of its ranges', async () => {
  const { jobs, engine } = control()
  jobs.set('nightly', { data: { ...data, planned: { objects: 1, ranges: 1, bytes: 1 } }, state: 'completed' })
  expect(await submitJob(engine, 'nightly', { ...data, rangeBytes: 7 })).toEqual([])
  const kept = jobs.get('nightly')
  expect(kept).toMatchObject({ state: 'waiting', data: { rangeBytes: 100 } })
  expect(kept?.data.planned).toBeUndefined()
  expect(Date.parse(kept?.data.made ?? '')).toBeGreaterThan(Date.parse(data.made))
})

test('a job that another process has opened meanwhile is joined as it is', async () => {
  const { jobs, engine } = control()
  const planned = { objects: 1, ranges: 1, bytes: 1 }
  jobs.set('nightly', { data, state: 'completed' })
  // The other one opened it, and a worker took and planned it, after this one saw that it has ended.
  const queue = engine.queue('jobs') as unknown as { remove(id: string): Promise<number> }
  const { remove } = queue
  queue.remove = async id => {
    jobs.set(id, { data: { ...data, planned }, state: 'active' })
    return await remove(id)
  }
  await submitJob(engine, 'nightly', data)
  expect(jobs.get('nightly')).toEqual({ data: { ...data, planned }, state: 'active' })
})

test('several processes that open a job at the same time leave one', async () => {
  const { jobs, engine, did } = control()
  jobs.set('nightly', { data, state: 'completed' })
  await Promise.all([1, 2, 3].map(async () => await submitJob(engine, 'nightly', data)))
  expect(jobs.get('nightly')).toMatchObject({ state: 'waiting' })
  expect(did.at(-1)).toBe('add')
})

test.each([
  ['inputs', { sources: ['/other/*'] }, 'other inputs'],
  ['index', { index: 'other' }, 'another index: logs'],
  ['cluster', { url: 'http://other' }, 'another cluster: http://cluster'],
  ['documents', { settings: { ids: 'cluster', concurrency: 8 } }, 'another value of --ids'],
] as const)('an open job of the same name with other %s is refused', async (_, other, problem) => {
  const { jobs, engine } = control()
  jobs.set('nightly', { data, state: 'active' })
  await expect(submitJob(engine, 'nightly', { ...data, ...other })).rejects.toThrow(problem)
})

test('options that an open job ignores are named', async () => {
  const { jobs, engine } = control()
  jobs.set('nightly', { data, state: 'active' })
  const settings = { ...data.settings, concurrency: 16, maxRate: 5, deadLetters: 'elsewhere' }
  const ignored = await submitJob(engine, 'nightly', { ...data, settings, concurrency: 16, byteBudget: 9 })
  expect(ignored).toEqual(['--byte-budget', '--concurrency', '--max-rate'])
  expect(await submitJob(engine, 'nightly', data)).toEqual([])
})
