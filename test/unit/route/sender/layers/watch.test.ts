import { expect, test } from 'vitest'
import { failure } from '../../../../../src/base/failure/failure.js'
import { type AnsweredRequest, type SentRequest, watchRequests } from '../../../../../src/route/sender/layers/watch.js'
import type { Send, Verdict } from '../../../../../src/route/sender/send.js'
import { bulkRequest, done } from '../../../../support/load/bulk-request.js'
import { HeldClock } from '../../../../support/load/held-clock.js'

function watched(answer: (clock: HeldClock, request: Parameters<Send>[0]) => Promise<Verdict>) {
  const clock = new HeldClock()
  const seen: (SentRequest | AnsweredRequest)[] = []
  const note = (one: SentRequest | AnsweredRequest) => void seen.push(one)
  const send = watchRequests({ onSent: note, onAnswered: note }, clock, async request => await answer(clock, request))
  return { send, seen }
}

test('a request is reported when it is sent, and with status and time when its answer is there', async () => {
  const heard: number[] = []
  const { send, seen } = watched(async (clock, request) => {
    clock.advance(40)
    request.answered?.(900, 200)
    // What is asked because of the answer is not its time.
    clock.advance(1000)
    return await Promise.resolve(done)
  })
  const request = await bulkRequest({ answered: bytes => void heard.push(bytes) })
  expect(await send(request)).toBe(done)
  const bytes = request.body.bytes.length
  expect(seen).toEqual([
    { open: 1, documents: 2, bytes },
    { open: 0, documents: 2, ms: 40, status: 200, bytes: 900 },
  ])
  expect(heard).toEqual([900])
  await send({ ...request, wire: { bytes: Buffer.alloc(7), isGzip: true } })
  expect(seen[2]).toMatchObject({ bytes: 7 })
})

test('requests at the same time are counted, and one that is lost has a code and no status', async () => {
  const lost = failure('CLUSTER_UNAVAILABLE', { cluster: 'c', observed: 'reset' })
  const answers: ((verdict: Verdict) => void)[] = []
  const { send, seen } = watched(async () => await new Promise<Verdict>(resolve => answers.push(resolve)))
  const sending = [send(await bulkRequest()), send(await bulkRequest())]
  answers[1]?.({ kind: 'wait', failure: lost, delivery: 'possible' })
  await sending[1]
  answers[0]?.(done)
  await sending[0]
  expect(seen.map(({ open }) => open)).toEqual([1, 2, 1, 0])
  expect(seen[2]).toEqual({ open: 1, documents: 2, ms: 0, bytes: 0, code: 'CLUSTER_UNAVAILABLE' })
})

test('a bug below ends the request too', async () => {
  const { send, seen } = watched(async () => await Promise.reject(new Error('bug')))
  await expect(send(await bulkRequest())).rejects.toThrow('bug')
  expect(seen.at(-1)).toMatchObject({ open: 0 })
})
