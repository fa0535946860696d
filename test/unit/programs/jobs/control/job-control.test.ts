import type { Queue } from 'bullmq'
import { expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import { JobControl } from '../../../../../src/programs/jobs/control/job-control.js'
import type { JobRow, JobState } from '../../../../../src/programs/jobs/queue/job-state.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'

const why = failure('EGRESS_NOT_ALLOWED', { cluster: 'http://cluster', observed: 'status 403', refused: 2, probes: 2 })
const blocked = { type: 'blocked', worker: 'one', host: 'here', failure: why } as const

/** A coordinator that takes over a job of eight requests, with the state and the rows that it finds. */
function takeOver(before: JobState, rows: readonly JobRow[]) {
  const log = [...rows]
  const did: string[] = []
  const note = (what: string) => async () => {
    did.push(what)
    await Promise.resolve()
  }
  const ranges = {
    pause: note('pause'),
    resume: note('resume'),
    setGlobalConcurrency: async (most: number) => await note(`limit ${most}`)(),
  }
  const control = {
    getJobLogs: async (_: string, from: number, to: number) =>
      await Promise.resolve({ logs: log.slice(from, to + 1).map(row => JSON.stringify(row)) }),
    updateJobProgress: async () => await Promise.resolve(),
  }
  const keeping = new JobControl({
    control: control as unknown as Queue,
    job: 'logs',
    made: '',
    seal: noSeal,
    ranges: ranges as unknown as Queue,
    before,
    most: 8,
    fair: { of: async () => await Promise.resolve(2) },
    leaseMs: 1000,
    now: () => 0,
  })
  return { keeping, log, did }
}

test('a job that waits for access waits under its next coordinator, until one worker is let through', async () => {
  const { keeping, log, did } = takeOver({ parked: { host: 'here', failure: why, since: 'then' } }, [
    { ...blocked, isNew: true },
    blocked,
  ])
  await keeping.share()
  await keeping.look()
  expect(did).not.toContain('resume')
  expect(keeping.state).toMatchObject({ parked: { host: 'here' }, share: 2 })
  log.push({ type: 'unblocked', worker: 'one' })
  await keeping.look()
  expect(did.at(-2)).toBe('resume')
  expect(keeping.state).toEqual({ share: 2 })
})

test('a job that is slowed is as slow under its next coordinator', async () => {
  const { keeping, log, did } = takeOver({ slowedTo: 4 }, [{ type: 'busy', worker: 'one' }])
  await keeping.share()
  await keeping.look()
  expect(did).toEqual(['resume', 'limit 4'])
  log.push({ type: 'busy', worker: 'one' })
  await keeping.look()
  expect(did.at(-1)).toBe('limit 2')
})

test('a job that stops also stops under its next coordinator', async () => {
  const { keeping, did } = takeOver({ stopping: why }, [])
  await keeping.share()
  expect(await keeping.look()).toEqual(why)
  expect(did).not.toContain('resume')
})
