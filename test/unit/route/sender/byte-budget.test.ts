import { describe, expect, test } from 'vitest'
import { type Admission, ByteBudget, type Spent } from '../../../../src/route/sender/layers/limits.js'
import { seeded } from '../../../support/random/seeded.js'

interface Wire {
  readonly budget: ByteBudget
  readonly spent: Spent[]
  used: number
}

function wire(limit: number, overhead = 100): Wire {
  const spent: Wire['spent'] = []
  const one: Wire = {
    budget: new ByteBudget({ limit, used: () => one.used, overhead, onSpent: what => spent.push(what) }),
    spent,
    used: 0,
  }
  return one
}

/** A body that is sent as it is. */
const plain = (bytes: number, items: number) => ({ items, sent: bytes, framed: bytes })

function later() {
  let resolve = () => undefined as void
  const promise = new Promise<void>(done => (resolve = done))
  return { promise, resolve: () => resolve() }
}

async function soon<T>(promise: Promise<T>): Promise<T | 'waits'> {
  return await Promise.race([promise, new Promise<'waits'>(resolve => setImmediate(() => resolve('waits')))])
}

describe('a request', () => {
  test('is admitted with its body, its answer, its headers and what may still be asked at the end', async () => {
    // 1000 of the body, 48 of one answer, half a percent of both, twice 100.
    expect(await wire(1254).budget.admit(plain(1000, 1))).toBeDefined()
    const { budget, spent } = wire(1253)
    expect(await budget.admit(plain(1000, 1))).toBeUndefined()
    expect(spent).toEqual([{ used: 0, needed: 1154, isFirst: true }])
  })

  test('waits where it may not fit beside those under way, until they are answered', async () => {
    const one = wire(3000)
    const first = (await one.budget.admit(plain(1000, 1))) as Admission
    const second = (await one.budget.admit(plain(1000, 1))) as Admission
    const third = one.budget.admit(plain(1000, 1))
    expect(await soon(third)).toBe('waits')
    one.used = 600
    first.leave()
    expect(await soon(third)).toBe('waits')
    one.used = 900
    second.leave()
    expect(await soon(third)).toEqual(expect.objectContaining({}))
    expect(one.spent).toEqual([])
  })

  test('that does not fit with nothing under way is not sent, nor any after it', async () => {
    const one = wire(3000)
    const first = (await one.budget.admit(plain(1000, 1))) as Admission
    const large = one.budget.admit(plain(2000, 1))
    const other = one.budget.admit(plain(2000, 1))
    one.used = 1100
    first.leave()
    expect([await large, await other]).toEqual([undefined, undefined])
    expect(await one.budget.admit(plain(1, 1))).toBeUndefined()
    expect(one.spent).toEqual([{ used: 1100, needed: 2159, isFirst: false }])
  })

  test('counts on answers as long as the longest that was seen', async () => {
    const one = wire(10_000)
    const first = (await one.budget.admit(plain(100, 10))) as Admission
    first.answered(5000)
    first.leave()
    expect(await one.budget.admit(plain(100, 20))).toBeUndefined()
    expect(one.spent[0]?.needed).toBeGreaterThan(20 * 500)
  })
})

describe('a request without documents', () => {
  test('is admitted with the answer that is foretold, or one as long as the longest', async () => {
    // 1000 of the answer, half a percent of it, twice 100.
    expect(await wire(1205).budget.admitQuestion(0, 1000)).toBeDefined()
    expect(await wire(1204).budget.admitQuestion(0, 1000)).toBeUndefined()
    const one = wire(20_000)
    const first = (await one.budget.admitQuestion(0)) as Admission
    first.answered(15_000)
    one.used = 5000
    expect(await one.budget.admitQuestion(0)).toBeUndefined()
    expect(one.spent).toEqual([{ used: 5000, needed: 15_175, isFirst: false }])
  })

  test('that is asked because of an answer does not wait for the request that was answered', async () => {
    const one = wire(3000)
    const first = (await one.budget.admit(plain(1000, 1))) as Admission
    const second = one.budget.admit(plain(1800, 1))
    expect(await soon(second)).toBe('waits')
    first.answered(48)
    expect(await soon(second)).toEqual(expect.objectContaining({}))
    // It was over already.
    first.leave()
    expect(await soon(one.budget.admit(plain(1000, 1)))).toBe('waits')
    expect(one.spent).toEqual([])
  })

  test('each on a fresh connection, they are admitted all at once or not at all', async () => {
    expect(await wire(1700).budget.admitConnections(16)).toBeDefined()
    const { budget, spent } = wire(1699)
    expect(await budget.admitConnections(16)).toBeUndefined()
    expect(spent).toEqual([{ used: 0, needed: 1600, isFirst: false }])
  })
})

describe('a body', () => {
  test('is as small as its answer may make it necessary, until one was sent', async () => {
    // A quarter of what twice 100 leaves.
    expect(wire(20_200).budget.bodyBytes).toBe(5000)
    const one = wire(20_200)
    await one.budget.admit({ items: 1, sent: 1000, framed: 5000 })
    // 1048 bytes on the wire for 5000 of the body, and half a percent.
    expect(one.budget.bodyBytes).toBe(Math.floor(20_000 / ((1048 / 5000) * 1.005)))
    // The worst one counts.
    await one.budget.admit({ items: 1, sent: 100, framed: 50_000 })
    expect(one.budget.bodyBytes).toBe(Math.floor(20_000 / ((1048 / 5000) * 1.005)))
  })

  test('leaves room for those that are made before it, and never shrinks to nothing', async () => {
    const one = wire(20_200)
    const first = later()
    const made = one.budget.whileMade(3000, async () => await first.promise)
    expect(one.budget.bodyBytes).toBe((20_000 - 100 - 4 * 3000) / 4)
    one.used = 20_000
    expect(one.budget.bodyBytes).toBe(1000)
    first.resolve()
    await made
    one.used = 12_000
    expect(one.budget.bodyBytes).toBe(2000)
  })

  test('is not made beside others if little is left, until one of them has its outcome', async () => {
    const one = wire(20_200, 1000)
    const first = later()
    const made = one.budget.whileMade(4200, async () => await first.promise)
    const room = one.budget.room()
    expect(await soon(room)).toBe('waits')
    first.resolve()
    await made
    expect(await soon(room)).toBeUndefined()
    expect(await soon(one.budget.room())).toBeUndefined()
  })

  test('holds up no request once the budget is closed', async () => {
    const one = wire(20_200, 1000)
    void one.budget.whileMade(4200, async () => await new Promise(() => undefined))
    const room = one.budget.room()
    expect(await soon(room)).toBe('waits')
    one.budget.close()
    expect(await soon(room)).toBeUndefined()
  })
})

test('a budget that is closed admits nothing, and no request waits for it', async () => {
  const one = wire(3000)
  await one.budget.admit(plain(1000, 1))
  await one.budget.admit(plain(1000, 1))
  const waiting = one.budget.admit(plain(1000, 1))
  one.budget.close()
  expect(await waiting).toBeUndefined()
  expect(await one.budget.admit(plain(1, 1))).toBeUndefined()
  expect(one.spent).toEqual([])
})

test('whatever comes and goes, the limit is kept, and what is left at the end is less than the next request needs', async () => {
  for (let seed = 1; seed <= 50; seed += 1) {
    const random = seeded(seed)
    const limit = 20_000 + random.below(200_000)
    const one = wire(limit, 100)
    const turn = async () => await new Promise(resolve => setImmediate(resolve))
    const sender = async () => {
      for (;;) {
        const body = 100 + random.below(5000)
        const items = 1 + random.below(20)
        const admission = await one.budget.admit(plain(body, items))
        if (admission === undefined) return
        await turn()
        one.used += body
        await turn()
        const answer = items * (20 + random.below(28))
        one.used += answer + random.below(100)
        admission.answered(answer)
        admission.leave()
      }
    }
    await Promise.all(Array.from({ length: 1 + random.below(8) }, sender))
    expect(one.used).toBeLessThanOrEqual(limit)
    expect(one.spent).toHaveLength(1)
    expect(one.used + (one.spent[0]?.needed ?? 0)).toBeGreaterThan(limit - 100)
  }
})
