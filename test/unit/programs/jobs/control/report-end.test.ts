import { expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import type { JobEnd } from '../../../../../src/programs/jobs/job.js'
import { claimReport, reportEnd } from '../../../../../src/programs/jobs/control/report-end.js'
import { JobLog } from '../../../../support/load/job-log.js'
import { noSeal } from '../../../../../src/programs/jobs/queue/seal.js'

const end: JobEnd = { failure: failure('JOB_CANCELLED', { job: 'job' }) }
const alarm = { job: 'nightly' }

function coordinator(log: JobLog, hasAccess: boolean) {
  const reports: JobEnd[] = []
  const report = async (reported: JobEnd) => {
    if (hasAccess) reports.push(reported)
    return await Promise.resolve(hasAccess)
  }
  return {
    reports,
    finish: async () =>
      await reportEnd(end, { control: log.asQueue, job: 'job', made: '', seal: noSeal, alarm, report }),
  }
}

test('the coordinator reports the end of a job, and one that takes over afterwards does not repeat it', async () => {
  const log = new JobLog()
  const [one, other] = [coordinator(log, true), coordinator(log, true)]
  expect(await one.finish()).toEqual({ ...end, isReported: true })
  expect(await other.finish()).toEqual({ ...end, isReported: true })
  expect([one.reports, other.reports]).toEqual([[end], []])
})

test('if the coordinator has no access, exactly one of those that wait for the job reports it', async () => {
  const log = new JobLog()
  const { finish } = coordinator(log, false)
  expect(await finish()).toEqual(end)
  const claims = await Promise.all(
    Array.from(
      { length: 3 },
      async () => await claimReport({ control: log.asQueue, job: 'job', made: '', seal: noSeal }),
    ),
  )
  expect(claims.filter(Boolean)).toHaveLength(1)
})

test('a job without an alarm reports nothing', async () => {
  const log = new JobLog()
  const report = async () => await Promise.reject(new Error('reported'))
  expect(
    await reportEnd(end, { control: log.asQueue, job: 'job', made: '', seal: noSeal, alarm: undefined, report }),
  ).toEqual(end)
  expect(log.rows).toEqual([])
})
