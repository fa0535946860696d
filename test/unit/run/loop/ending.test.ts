import { describe, expect, test } from 'vitest'
import { StopSignals, type StopOptions } from '../../../../src/run/loop/stop-signals.js'
import { failure } from '../../../../src/base/failure/failure.js'
import { HeldClock } from '../../../support/load/held-clock.js'

interface Run {
  readonly stop: StopSignals
  readonly clock: HeldClock
  /** Moves the clock to that time. */
  at(ms: number): Promise<'going on' | 'ended' | 'given up'>
}

function run(options: Omit<StopOptions, 'clock'>): Run {
  const clock = new HeldClock()
  const stop = new StopSignals({ ...options, clock })
  return {
    stop,
    clock,
    at: async ms => {
      clock.advance(ms - clock.now())
      await new Promise(resolve => setImmediate(resolve))
      return stop.givenUp.aborted ? 'given up' : stop.signal.aborted ? 'ended' : 'going on'
    },
  }
}

const MINUTE = 60_000

describe('a run that is interrupted', () => {
  test('ends at once, and gives up what is under way after the grace', async () => {
    const controller = new AbortController()
    const { stop, at } = run({ signal: controller.signal, graceMs: 500 })
    expect(await at(1000)).toBe('going on')
    controller.abort('SIGTERM')
    expect(await at(1499)).toBe('ended')
    expect(await at(1500)).toBe('given up')
    expect(stop.why(7)).toMatchObject({ code: 'RUN_INTERRUPTED', evidence: { reason: 'SIGTERM', settled: 7 } })
  })

  test('has 25 seconds, if nothing else is said', async () => {
    const { at } = run({ signal: AbortSignal.abort() })
    expect(await at(24_999)).toBe('ended')
    expect(await at(25_000)).toBe('given up')
  })

  test('may have been so before it began, and for a reason that is no text', () => {
    const { stop } = run({ signal: AbortSignal.abort(new Error('a secret')) })
    expect(stop.signal.aborted).toBe(true)
    expect(stop.why(0).evidence).toEqual({ reason: 'aborted by the calling program', settled: 0 })
  })
})

describe('a time budget', () => {
  test('keeps the grace for what is under way, and the last five seconds of that for the checkpoint', async () => {
    const { stop, at } = run({ timeBudget: { ms: 14 * MINUTE, elapsedMs: 0 } })
    expect(await at(14 * MINUTE - 25_001)).toBe('going on')
    expect(await at(14 * MINUTE - 25_000)).toBe('ended')
    expect(await at(14 * MINUTE - 5001)).toBe('ended')
    expect(await at(14 * MINUTE - 5000)).toBe('given up')
    expect(stop.why(3)).toMatchObject({ code: 'TIME_BUDGET_SPENT', evidence: { seconds: 840, settled: 3 } })
  })

  test('keeps a quarter at most, however long the grace', async () => {
    const { at } = run({ timeBudget: { ms: 4000, elapsedMs: 0 }, graceMs: MINUTE })
    expect(await at(2999)).toBe('going on')
    expect(await at(3000)).toBe('ended')
    expect(await at(3799)).toBe('ended')
    expect(await at(3800)).toBe('given up')
  })

  test('leaves time for the checkpoint, however short the grace', async () => {
    const { at } = run({ timeBudget: { ms: 4000, elapsedMs: 0 }, graceMs: 0 })
    expect(await at(3799)).toBe('going on')
    expect(await at(3800)).toBe('given up')
  })

  test('counts what was over when the run began', async () => {
    const { at } = run({ timeBudget: { ms: 4000, elapsedMs: 1000 } })
    expect(await at(1999)).toBe('going on')
    expect(await at(2000)).toBe('ended')
    const late = run({ timeBudget: { ms: 4000, elapsedMs: 9000 } })
    expect(await late.at(0)).toBe('given up')
    expect(late.stop.why(0).code).toBe('TIME_BUDGET_SPENT')
  })

  test('also ends the grace of a signal that came shortly before', async () => {
    const controller = new AbortController()
    const { stop, at } = run({ signal: controller.signal, timeBudget: { ms: 14 * MINUTE, elapsedMs: 0 } })
    await at(14 * MINUTE - 26_000)
    controller.abort('SIGTERM')
    expect(await at(14 * MINUTE - 5001)).toBe('ended')
    expect(await at(14 * MINUTE - 5000)).toBe('given up')
    expect(stop.why(0).code).toBe('RUN_INTERRUPTED')
  })
})

test('the first reason to end is the one that counts', async () => {
  const controller = new AbortController()
  const { stop, at } = run({ signal: controller.signal, graceMs: 100 })
  stop.end(settled => failure('BYTE_BUDGET_SPENT', { budget: 10, used: 9, needed: 2, settled }))
  controller.abort('SIGTERM')
  expect(stop.why(4).message).toMatch(/^the byte budget of 10 bytes is spent after 4 documents: 9 bytes are used/)
  expect(await at(100)).toBe('given up')
})

test('a beginning that failed is called by the end of the run where that came first, and speaks of this process alone', () => {
  const controller = new AbortController()
  const { stop } = run({ signal: controller.signal })
  const failed = new Error('no answer')
  expect(stop.cause(failed)).toBe(failed)
  controller.abort('SIGTERM')
  expect(stop.cause(failed)).toMatchObject({
    code: 'RUN_INTERRUPTED',
    message: 'interrupted after 0 documents: SIGTERM. Loading had not begun',
  })
})

test('a run that is over waits for nothing, and hears nothing more', async () => {
  const controller = new AbortController()
  const { stop, clock, at } = run({ signal: controller.signal, timeBudget: { ms: 1000, elapsedMs: 0 } })
  expect(clock.sleeping).toBe(2)
  stop[Symbol.dispose]()
  controller.abort()
  expect(clock.sleeping).toBe(0)
  expect(await at(5000)).toBe('going on')
})
