import { expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import { AccessGate, access } from '../../../../../src/route/sender/layers/access.js'
import type { Verdict } from '../../../../../src/route/sender/send.js'
import { SkippingClock } from '../../../../support/load/held-clock.js'
import { bulkRequest, done } from '../../../../support/load/bulk-request.js'

const filtered = failure('EGRESS_NOT_ALLOWED', { cluster: 'c', refused: 1, probes: 1, observed: 'Forbidden' })

test('a request that lost access is sent again, and counted, once access is back', async () => {
  const gate = new AccessGate({
    waitMs: 0,
    clock: new SkippingClock(),
    wallClock: () => 0,
    random: () => 1,
    halted: new AbortController().signal,
    probe: async () => await Promise.resolve(),
    renew: async () => await Promise.resolve(undefined),
    onBlocked: () => expect.unreachable(),
    onUnblocked: () => undefined,
  })
  const held: (boolean | undefined)[] = []
  const answers: Verdict[] = [
    { kind: 'stop', failure: filtered, delivery: 'none' },
    { kind: 'notSent', because: 'noAccess' },
    done,
  ]
  let again = 0
  const send = access(
    gate,
    () => (again += 1),
    async ({ isHeld }) => {
      held.push(isHeld?.())
      return await Promise.resolve(answers.shift() ?? done)
    },
  )
  expect(await send(await bulkRequest())).toBe(done)
  expect([held, again]).toEqual([[false, false, false], 1])
})
