/** Memory of a pool that ended goes to the next one, and never to two at once. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SlotPool } from '../../../../src/pipeline/bulk/slots.js'

const SLOT_BYTES = 1000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  // No test leaves memory to the next one.
  vi.runAllTimers()
  vi.useRealTimers()
})

const pool = (slots = 2, slotBytes = SLOT_BYTES) => new SlotPool(slots, slotBytes)

function memoryOf({ memory }: SlotPool): object {
  if (memory === undefined) throw new Error('no kernel on this machine')
  return memory
}

/** Returns the memory of a pool that was used and has ended. */
async function used(given: SlotPool): Promise<object> {
  const slot = await given.acquire()
  given.release(slot)
  given[Symbol.dispose]()
  return memoryOf(given)
}

test('the next pool of the same size has the memory of the last one', async () => {
  const memory = await used(pool())
  const next = pool()
  expect(memoryOf(next) === memory).toBe(true)
  expect((await used(next)) === memory).toBe(true)
  expect(memoryOf(pool()) === memory).toBe(true)
})

test('two pools at once have memory of their own, and only the last one is kept', async () => {
  const [one, other] = [pool(), pool()]
  expect(memoryOf(one) === memoryOf(other)).toBe(false)
  await used(one)
  await used(other)
  expect(memoryOf(pool()) === memoryOf(other)).toBe(true)
  expect(memoryOf(pool()) === memoryOf(one)).toBe(false)
})

test.each([
  ['more slots', 3, SLOT_BYTES],
  ['larger slots', 2, SLOT_BYTES + 1],
])('a pool of %s has new memory', async (_, slots, slotBytes) => {
  const memory = await used(pool())
  expect(memoryOf(pool(slots, slotBytes)) === memory).toBe(false)
})

test('memory is not kept while somebody holds a slot, or waits for one', async () => {
  const holding = pool()
  await holding.acquire()
  holding[Symbol.dispose]()
  expect(memoryOf(pool()) === memoryOf(holding)).toBe(false)

  const waiting = pool(1)
  const slot = await waiting.acquire()
  const next = waiting.acquire()
  waiting.release(slot)
  waiting[Symbol.dispose]()
  await next
  expect(memoryOf(pool(1)) === memoryOf(waiting)).toBe(false)
})

test('memory is not kept while a file may still be read into it', () => {
  const reading = pool()
  if (reading.memory === undefined) throw new Error('no kernel on this machine')
  reading.memory.reading.readers += 1
  reading[Symbol.dispose]()
  expect(memoryOf(pool()) === memoryOf(reading)).toBe(false)
})

test('memory is kept for a few seconds only', async () => {
  const memory = await used(pool())
  vi.advanceTimersByTime(4_999)
  const next = pool()
  expect(memoryOf(next) === memory).toBe(true)
  await used(next)
  vi.advanceTimersByTime(5_000)
  expect(memoryOf(pool()) === memory).toBe(false)
})
