import { expect, test } from 'vitest'
import { ByteBudget } from '../../../../../src/route/sender/layers/limits.js'
import { budget } from '../../../../../src/route/sender/layers/within-limits.js'
import { STOPPING } from '../../../../../src/route/sender/send.js'
import { bulkRequest, done, lowerLayer } from '../../../../support/load/bulk-request.js'

const spare = () => new ByteBudget({ limit: 10_000, used: () => 0, overhead: 100, onSpent: () => expect.unreachable() })
const going = new AbortController().signal

test('without a budget the request passes as it is', async () => {
  const lower = lowerLayer()
  const request = await bulkRequest()
  expect(await budget(undefined, going, lower)(request)).toBe(done)
  expect(lower.requests).toEqual([request])
})

test('with a budget the request takes the length of its answer', async () => {
  const lower = lowerLayer()
  expect(await budget(spare(), going, lower)(await bulkRequest())).toBe(done)
  expect(lower.requests[0]?.answered).toBeTypeOf('function')
})

test('nothing is sent if the budget is spent, or if the run is stopping', async () => {
  const lower = lowerLayer()
  let needed = 0
  const spent = new ByteBudget({ limit: 500, used: () => 300, overhead: 100, onSpent: what => (needed = what.needed) })
  expect(await budget(spent, going, lower)(await bulkRequest())).toEqual(STOPPING)
  expect(needed).toBeGreaterThan(100)
  expect(await budget(undefined, AbortSignal.abort(), lower)(await bulkRequest())).toEqual(STOPPING)
  expect(lower.requests).toEqual([])
})

test('a request goes back to the gate if access was lost meanwhile', async () => {
  const lower = lowerLayer()
  const held = await bulkRequest({ isHeld: () => true })
  expect(await budget(spare(), going, lower)(held)).toEqual({ kind: 'notSent', because: 'noAccess' })
  expect(lower.requests).toEqual([])
})
