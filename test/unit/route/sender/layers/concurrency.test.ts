import { expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import { Learning } from '../../../../../src/route/sender/layers/learn.js'
import { Concurrency, limitConcurrency } from '../../../../../src/route/sender/layers/concurrency.js'
import { type Verdict, STOPPING } from '../../../../../src/route/sender/send.js'
import { HeldClock } from '../../../../support/load/held-clock.js'
import { bulkRequest, done, lowerLayer } from '../../../../support/load/bulk-request.js'

function concurrencyOf(safeToResend = true) {
  const clock = new HeldClock()
  const halting = new AbortController()
  const learning = new Learning({ concurrency: 4, batchBytes: 1_000_000, clock })
  const options = { ownIds: safeToResend, safeToResend, clock, random: () => 1, halted: halting.signal }
  return { clock, halt: () => halting.abort(), learning, taken: new Concurrency(options, learning) }
}

async function aMoment(): Promise<void> {
  await new Promise(setImmediate)
}

test('no more requests pass at once than the cluster bears', async () => {
  const { taken, learning } = concurrencyOf()
  const answers: (() => void)[] = []
  const send = limitConcurrency(taken, async () => {
    await new Promise<void>(resolve => answers.push(resolve))
    return done
  })
  const request = await bulkRequest()
  const sending = [send(request), send(request), send(request)]
  await aMoment()
  expect([answers.length, learning.limit.allowed]).toEqual([2, 2])
  answers.shift()?.()
  await aMoment()
  expect(answers).toHaveLength(2)
  for (const answer of answers) answer()
  expect(await Promise.all(sending)).toEqual([done, done, done])
})

test('nothing is sent once the run is stopping, and the reader need not wait', async () => {
  const { taken, halt } = concurrencyOf()
  const lower = lowerLayer()
  let isRoom = false
  const open = Array.from({ length: 4 }, () => taken.whileOpen(async () => await new Promise(() => undefined)))
  const room = taken.room().then(() => (isRoom = true))
  await aMoment()
  expect([isRoom, open.length]).toEqual([false, 4])
  halt()
  await room
  expect(await limitConcurrency(taken, lower)(await bulkRequest())).toEqual(STOPPING)
  expect(lower.requests).toEqual([])
})

test('with ids of the cluster a lost request stays open for a while', async () => {
  const { taken, clock } = concurrencyOf(false)
  const lost: Verdict = {
    kind: 'wait',
    failure: failure('CLUSTER_UNAVAILABLE', { cluster: 'c', observed: 'status 502' }),
    delivery: 'possible',
  }
  const sending = limitConcurrency(taken, lowerLayer(lost))(await bulkRequest())
  await aMoment()
  expect(clock.sleeping).toBe(1)
  clock.advance(1000)
  expect(await sending).toBe(lost)
})
