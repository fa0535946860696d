import { expect, test } from 'vitest'
import { Room, type Share } from '../../../../src/programs/serve/room.js'
import { HeldClock } from '../../../support/load/held-clock.js'
import { seeded } from '../../../support/random/seeded.js'
import { rounds } from '../../../support/rounds.js'

const clock = new HeldClock()
const none: Buffer = Buffer.alloc(0)
const grow = (share: Share | undefined, bytes: number, before: Buffer = none) => share?.grow(before, bytes)

test('buffers in use never share memory, keep their content while they grow, and are whole again in the end', () => {
  const random = seeded(3)
  const room = new Room(1_000_001, clock)
  const open: { share: Share; buffer: Buffer; mark: number }[] = []
  for (let round = 0; round < rounds(1000, 5000); round += 1) {
    const share = room.open()
    const buffer = grow(share, 1 + random.below(random.chance(0.1) ? 1_000_001 : 60_000))
    if (share === undefined || buffer === undefined) share?.close()
    else open.push({ share, buffer: buffer.fill(round % 251), mark: round % 251 })
    if (open.length > random.below(40)) {
      const [one] = open.splice(random.below(open.length), 1)
      if (one === undefined) throw new Error('none is open')
      const larger = one.share.grow(one.buffer, one.buffer.length + 1)
      const kept = larger?.subarray(0, one.buffer.length) ?? one.buffer
      expect(kept.equals(Buffer.alloc(kept.length, one.mark))).toBe(true)
      one.share.close()
    }
    expect(open.filter(({ buffer: of, mark }) => of[0] !== mark || of.at(-1) !== mark)).toEqual([])
  }
  for (const { share } of open) share.close()
  const whole = [1, 2].map(() => grow(room.open(), 1_000_001))
  expect(whole.every(one => one !== undefined && one.length >= 1_000_001)).toBe(true)
})

test('a large request fits, however its content grows, and large ones leave memory to small ones', () => {
  const room = new Room(1_000_001, clock)
  const large = room.open()
  expect(grow(large, 1_000_001)).toBeDefined()
  let content: Buffer = none
  for (let bytes = 1000; bytes < 2_000_000; bytes *= 2) {
    const larger = grow(large, Math.min(bytes, 1_000_001), content)
    if (larger === undefined) throw new Error(`no room for ${bytes} bytes`)
    content = larger
  }
  while (grow(room.open(), 200_000) !== undefined);
  expect(grow(room.open(), 100_000)).toBeDefined()
  large?.close()
  expect(grow(room.open(), 1_000_001)).toBeDefined()
})

test('has a limit of requests', () => {
  const room = new Room(10_000, clock)
  const shares = Array.from({ length: 1001 }, () => room.open())
  expect(shares.filter(share => share === undefined)).toHaveLength(1)
  shares[0]?.close()
  expect(room.open()).toBeDefined()
})

test('a slow upload makes room for others, the largest first, and one that is quick does not', () => {
  const room = new Room(1_000_001, clock)
  const ended: string[] = []
  const upload = (name: string, bytes: number): void => {
    const share = room.open()
    share?.begin(() => {
      ended.push(name)
      share.end()
      share.close()
    })
    expect(grow(share, bytes)).toBeDefined()
  }
  upload('small and slow', 10_000)
  upload('large and slow', 1_000_001)
  clock.advance(9000)
  upload('quick', 1_000_001)
  expect(grow(room.open(), 500_000)).toBeUndefined()
  expect(ended).toEqual([])
  clock.advance(2000)
  expect(grow(room.open(), 500_000)).toBeUndefined()
  expect(ended).toEqual(['large and slow'])
  expect(grow(room.open(), 500_000)).toBeDefined()
  expect(grow(room.open(), 1_000_001)).toBeUndefined()
  expect(ended).toEqual(['large and slow', 'small and slow'])
})

test('a large request that waits gets its turn, although smaller ones take all that becomes free', async () => {
  const room = new Room(1_000_001, clock)
  const small: Share[] = []
  const crowd = () => {
    for (;;) {
      const share = room.open()
      if (share === undefined) return
      if (grow(share, 60_000) === undefined) return share.close()
      small.push(share)
    }
  }
  const large = room.open()
  const start = grow(large, 100_000)?.fill('x')
  crowd()
  if (large === undefined || start === undefined) throw new Error('no room at all')
  expect(large.grow(start, 200_000)).toBeUndefined()
  let got: Buffer | undefined
  void large.wait(start, 200_000).then(buffer => (got = buffer))
  for (let turn = 0; turn < 200; turn += 1) {
    small.shift()?.close()
    crowd()
    await Promise.resolve()
  }
  expect(got?.length).toBeGreaterThanOrEqual(1_000_001)
  expect(got?.subarray(0, start.length).every(byte => byte === 0x78)).toBe(true)
  for (const share of [large, ...small]) share.close()
  expect([1, 2].map(() => grow(room.open(), 1_000_001) !== undefined)).toEqual([true, true])
})

test('a request waits for the rest of a block that it began, and moves to its front', async () => {
  const room = new Room(1_000_001, clock)
  const [before, large, other] = [room.open(), room.open(), room.open()]
  grow(before, 200_000)
  const start = grow(large, 200_000)?.fill('x')
  grow(other, 1_000_001)
  if (large === undefined || start === undefined) throw new Error('no room at all')
  expect(large.grow(start, 1_000_001)).toBeUndefined()
  const waiting = large.wait(start, 1_000_001)
  expect(await other?.wait(none, 1_000_001)).toBeUndefined()
  before?.close()
  const got = await waiting
  expect(got?.subarray(0, start.length).every(byte => byte === 0x78)).toBe(true)
  expect(got?.length).toBeGreaterThanOrEqual(1_000_001)
})

test('a request that waits too long, or whose caller goes away, leaves the memory to others', async () => {
  const held = new HeldClock()
  const room = new Room(1_000_001, held)
  const blocks = [room.open(), room.open()]
  for (const share of blocks) grow(share, 1_000_001)
  const late = room.open()
  const waiting = late?.wait(none, 300_000)
  held.advance(10_000)
  expect(await waiting).toBeUndefined()
  const gone = room.open()
  const given = gone?.wait(none, 300_000)
  gone?.close()
  expect(await given).toBeUndefined()
  for (const share of blocks) share?.close()
  expect([1, 2].map(() => grow(room.open(), 1_000_001) !== undefined)).toEqual([true, true])
})
