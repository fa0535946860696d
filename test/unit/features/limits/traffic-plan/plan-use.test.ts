import { describe, expect, test } from 'vitest'
import type { PlanLimit } from '../../../../../src/options/ingest-options.js'
import { PlanUse } from '../../../../../src/features/limits/traffic-plan/plan-use.js'

const GB = 1e9

/** A plan of 100 GB on the 21st, ten days before the month ends. */
function planOf(planLimit: PlanLimit, used: number): PlanUse {
  const now = () => Date.UTC(2026, 10, 21)
  const journal = { since: Date.UTC(2026, 5, 1), used: () => used }
  return new PlanUse({ traffic: { plan: 100 * GB, planDay: 1, planLimit }, journal, now })
}

describe('a plan whose use is reported', () => {
  test('limits nothing, even if all is used', () => {
    const plan = planOf('report', 120 * GB)
    expect([plan.left, plan.perSecond]).toEqual([Infinity, Infinity])
    expect(() => plan.refuseSpent()).not.toThrow()
  })
})

describe('a plan that stops loads', () => {
  test('leaves its share, and refuses a load that could only make its first checks', () => {
    expect(planOf('stop', 60 * GB).left).toBe(40 * GB)
    expect(planOf({ stop: 95 }, 60 * GB).left).toBe(35 * GB)
    expect(() => planOf('stop', 100 * GB - 100_000).refuseSpent()).not.toThrow()
    expect(() => planOf('stop', 100 * GB - 99_999).refuseSpent()).toThrow(
      "the proxy's plan is spent: 99,999,900,001 bytes are used, and --plan-limit allows 100,000,000,000 of 100,000,000,000. The next month of the plan begins on 2026-12-01",
    )
  })
})

describe('a plan that slows loads down', () => {
  test('spreads what is left over the rest of the month, from its share on', () => {
    expect(planOf('slow', 79.9 * GB).perSecond).toBe(Infinity)
    expect(planOf('slow', 80 * GB).perSecond).toBeCloseTo((20 * GB) / (10 * 86_400))
    expect(planOf({ slow: 50 }, 50 * GB).perSecond).toBeCloseTo((50 * GB) / (10 * 86_400))
    expect(planOf('slow', 101 * GB).perSecond).toBe(0)
  })

  test('stops them when all is used', () => {
    expect(planOf({ slow: 50 }, 100 * GB).left).toBe(0)
  })
})
