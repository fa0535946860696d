import { describe, expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import type { JobState } from '../../../../../src/programs/jobs/queue/job-state.js'
import { Lease } from '../../../../../src/programs/jobs/queue/lease.js'
import { RangePermit } from '../../../../../src/programs/jobs/range/range-permit.js'

describe('a lease', () => {
  test('is lost when its time is over since the request that renewed it, and not before', () => {
    let now = 0
    const lease = new Lease(1000, () => now, 0)
    now = 999
    expect(lease.lost).toBeUndefined()
    lease.renewed(500)
    now = 1499
    expect(lease.lost).toBeUndefined()
    now = 1500
    expect(lease.lost?.code).toBe('JOB_LEASE_LOST')
  })

  test('is lost at once if the queue gave the range to another worker, and a late answer does not bring it back', () => {
    const lease = new Lease(1000, () => 2000, 2000)
    lease.revoke()
    expect(lease.lost?.code).toBe('JOB_LEASE_LOST')
    lease.renewed(900)
    expect(lease.lost?.code).toBe('JOB_LEASE_LOST')
  })
})

describe('the permit of a range', () => {
  test('refuses the next request of a process that was stopped for too long, and ends the range', async () => {
    let now = 0
    const stop = new AbortController()
    const clock = () => now
    const permit = new RangePermit({ lease: new Lease(1000, clock, 0), state: () => ({}), now: clock, stop, most: 4 })
    const halted = new AbortController().signal
    expect(await permit.ask(halted)).toBe(true)
    now = 5000
    expect(await permit.ask(halted)).toBe(false)
    expect(stop.signal.aborted).toBe(true)
  })

  test('waits while a worker of the job has no access', async () => {
    let state: JobState = {
      parked: { host: 'a', since: '', failure: failure('JOB_CANCELLED', { job: 'x' }) },
    }
    const lease = new Lease(1000, () => 0, 0)
    const stop = new AbortController()
    const permit = new RangePermit({ lease, state: () => state, now: () => 0, stop, most: 4 })
    let isGranted = false
    const asking = permit.ask(new AbortController().signal).then(granted => (isGranted = granted))
    await Promise.resolve()
    expect(isGranted).toBe(false)
    state = {}
    expect(await asking).toBe(true)
  })
})
