import { describe, expect, test } from 'vitest'
import { failure } from '../../../../src/base/failure/failure.js'
import { persist } from '../../../../src/route/servicenow/calls/persist.js'
import type { InstanceVerdict } from '../../../../src/route/servicenow/calls/judge-refusal.js'
import { SkippingClock } from '../../../support/load/held-clock.js'

const busy = failure('SERVICENOW_RATE_LIMITED', { instance: 'https://instance.example', observed: 'busy' })
const later = (undone: boolean, afterMs?: number): InstanceVerdict<string> => ({
  is: 'later',
  failure: busy,
  undone,
  ...(afterMs === undefined ? {} : { afterMs }),
})
const done: InstanceVerdict<string> = { is: 'done', value: 'rows' }

/** Answers in this order, the last one again and again. */
function answering(...verdicts: InstanceVerdict<string>[]) {
  const asked = { times: 0 }
  const attempt = async () => {
    asked.times += 1
    return await Promise.resolve(verdicts[Math.min(asked.times, verdicts.length) - 1] ?? done)
  }
  return { asked, attempt }
}

function patience(clock: SkippingClock, maxElapsedMs = 900_000) {
  return { clock, random: () => 0.5, maxElapsedMs }
}

describe('a call that may succeed later', () => {
  test('is repeated after ever longer pauses, up to half a minute', async () => {
    const clock = new SkippingClock()
    const { attempt } = answering(...Array.from({ length: 10 }, () => later(true)), done)
    expect(await persist(attempt, patience(clock), { isRepeatable: true })).toBe(done)
    expect(clock.slept).toEqual([187.5, 375, 750, 1500, 3000, 6000, 12_000, 22_500, 22_500, 22_500])
  })

  test('waits as long as the instance asks for', async () => {
    const clock = new SkippingClock()
    const { attempt } = answering(later(true, 60_000), done)
    await persist(attempt, patience(clock), { isRepeatable: true })
    expect(clock.slept).toEqual([60_000])
  })

  test('fails at once where the instance asks for longer than allowed', async () => {
    const clock = new SkippingClock()
    const { attempt } = answering(later(true, 1_800_000))
    const verdict = await persist(attempt, patience(clock), { isRepeatable: true })
    expect(verdict).toEqual({ is: 'stop', failure: busy })
    expect(clock.slept).toEqual([])
  })

  test('fails when the time is over', async () => {
    const clock = new SkippingClock()
    const { attempt, asked } = answering(later(true))
    const verdict = await persist(attempt, patience(clock, 10_000), { isRepeatable: true })
    expect(verdict).toEqual({ is: 'stop', failure: busy })
    expect(asked.times).toBe(6)
    expect(clock.now()).toBeLessThanOrEqual(10_000)
  })

  test('is not repeated when it may have been carried out, and the failure says so', async () => {
    const { attempt, asked } = answering(later(false), done)
    const verdict = await persist(attempt, patience(new SkippingClock()), { isRepeatable: false })
    expect(verdict).toMatchObject({ is: 'stop', failure: { evidence: { outcome: 'unknown' } } })
    expect(asked.times).toBe(1)
  })

  test('is repeated when it was certainly not carried out', async () => {
    const { attempt } = answering(later(true), done)
    expect(await persist(attempt, patience(new SkippingClock()), { isRepeatable: false })).toBe(done)
  })

  test('ends when its caller aborts in a pause', async () => {
    const clock = new SkippingClock()
    const controller = new AbortController()
    clock.onSleep = () => controller.abort('SIGINT')
    const { attempt } = answering(later(true))
    const asking = persist(attempt, patience(clock), { isRepeatable: true, signal: controller.signal })
    await expect(asking).rejects.toMatchObject({ code: 'RUN_INTERRUPTED', cause: 'SIGINT' })
  })
})
