import { expect, test } from 'vitest'
import { type PlannedRange, planRanges } from '../../../../../src/programs/jobs/plan/plan-ranges.js'
import type { FoundInput } from '../../../../../src/features/ranges/range-load.js'

const input = (name: string, size: number, canBeCut = false): FoundInput => ({
  name,
  size,
  canBeCut,
  identity: `file ${size} 1 abcdef`,
})

async function planned(inputs: readonly FoundInput[], rangeBytes = 100): Promise<PlannedRange[]> {
  const ranges: PlannedRange[] = []
  const find = async function* () {
    yield* await Promise.resolve(inputs)
  }
  for await (const range of planRanges({ sources: ['/in/*'], rangeBytes }, find)) ranges.push(range)
  return ranges
}

test('a large input is cut into ranges that cover each byte once', async () => {
  const ranges = await planned([input('a', 250, true)])
  expect(ranges.map(range => range.inputs.map(({ from, to }) => [from, to]))).toEqual([
    [[0, 100]],
    [[100, 200]],
    [[200, 250]],
  ])
  expect(ranges.map(({ begins }) => begins)).toEqual([1, 0, 0])
})

test('small inputs share a range, up to 16 MiB or 1,000 of them', async () => {
  const MIB = 1 << 20
  const bySize = await planned(Array.from({ length: 5 }, (_, at) => input(`${at}`, 7 * MIB)))
  expect(bySize.map(({ inputs }) => inputs.length)).toEqual([2, 2, 1])
  const byNumber = await planned(Array.from({ length: 1500 }, (_, at) => input(`${at}`, 1)))
  expect(byNumber.map(({ inputs }) => inputs.length)).toEqual([1000, 500])
})

test('a plan of the same inputs has the same ids, and a replaced input has others', async () => {
  const ids = async (...inputs: readonly FoundInput[]) => (await planned(inputs)).map(({ id }) => id)
  const first = await ids(input('a', 250, true), input('b', 7))
  expect(await ids(input('a', 250, true), input('b', 7))).toEqual(first)
  const other = await ids({ ...input('a', 250, true), identity: 'file 250 2 fedcba' }, input('b', 7))
  expect(other.filter(id => first.includes(id))).toHaveLength(1)
  expect(new Set([...first, ...other]).size).toBe(7)
})

/** A shard of 1,000 sequence numbers, of 10 bytes each. */
const shard: FoundInput = {
  name: 'elasticsearch:orders',
  identity: 'shard 0 abc',
  size: 10_000,
  numbers: 1000,
  canBeCut: true,
}

test('a shard is cut by its sequence numbers, into spans of about the bytes of a range', async () => {
  const ranges = await planned([shard], 4000)
  expect(ranges.map(range => range.inputs.map(({ from, to }) => [from, to]))).toEqual([
    [[0, 400]],
    [[400, 800]],
    [[800, 1000]],
  ])
  expect(ranges.map(({ begins, bytes }) => [begins, bytes])).toEqual([
    [1, 4000],
    [0, 4000],
    [0, 2000],
  ])
})

test('a shard of one large document is a range', async () => {
  const ranges = await planned([{ ...shard, size: 1_000_000, numbers: 1 }], 4000)
  expect(ranges.map(({ inputs }) => inputs)).toEqual([[{ name: shard.name, identity: shard.identity, from: 0, to: 1 }]])
})

test('a shard behind two names is read once', async () => {
  const ranges: PlannedRange[] = []
  const find = async function* (name: string) {
    yield await Promise.resolve({ ...shard, name })
  }
  const sources = ['elasticsearch:orders', 'elasticsearch:orders*']
  for await (const range of planRanges({ sources, rangeBytes: 4000 }, find)) ranges.push(range)
  expect(ranges.map(({ inputs }) => inputs[0]?.name)).toEqual(Array(3).fill('elasticsearch:orders'))
})
