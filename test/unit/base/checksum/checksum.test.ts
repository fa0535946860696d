import { describe, expect, test } from 'vitest'
import { kernelMemory } from '../../../../src/pipeline/bulk/kernel/memory.js'
import { Checksum, kernelAt } from '../../../../src/base/checksum/checksum.js'
import { addStripesPlainly, firstStripe, keys } from '../../../../src/base/checksum/plain-stripes.js'
import { rounds } from '../../../support/rounds.js'
import { type Seeded, seeded } from '../../../support/random/seeded.js'

const memory = kernelMemory(1, 1 << 20)
/** Where files are read into: the kernel adds these bytes without a copy. */
const reading = memory?.reading.buffers[0] ?? Buffer.alloc(0)

function digestOf(bytes: Uint8Array): string {
  const checksum = new Checksum()
  checksum.add(bytes)
  return checksum.digest()
}

function randomBytes(random: Seeded, count: number): Buffer {
  return Buffer.from(Uint8Array.from({ length: count }, () => random.below(256)))
}

/** Mostly text and zeros, sometimes nothing but extreme words. */
function likelyBytes(random: Seeded, count: number): Buffer {
  if (random.chance(0.2)) return Buffer.alloc(count, random.pick([0, 0xff, 0x20, 0x80]))
  const bytes = randomBytes(random, count)
  if (random.chance(0.3)) bytes.fill(0, random.below(count + 1))
  if (random.chance(0.3)) bytes.fill(0xff, random.below(count + 1))
  return bytes
}

/** The function as its comments say it, with numbers of any size. */
function expected(bytes: Uint8Array): string {
  const padded = Buffer.alloc(Math.ceil(bytes.length / 64) * 64)
  padded.set(bytes)
  const u64 = (number: bigint) => BigInt.asUintN(64, number)
  const state = [...firstStripe].map(BigInt)
  const key = [...keys].map(BigInt)
  for (let at = 0; at < padded.length; at += 64) {
    const words = state.map((word, index) => word ^ BigInt(padded.readUInt32LE(at + 4 * index)))
    const word = (index: number) => words[index % 16] ?? 0n
    for (let column = 0; column < 16; column += 4)
      for (const half of [0, 1]) {
        const [one, other] = [column + half, column + half + 2]
        const products = word(one) * (key[one] ?? 0n) + word(other) * (key[other] ?? 0n)
        const sum = u64(products + word(column + 4 + 2 * half) + (word(column + 5 + 2 * half) << 32n))
        state[column + 2 * half] = sum & 0xffff_ffffn
        state[column + 2 * half + 1] = sum >> 32n
      }
  }
  let mixed = BigInt(bytes.length)
  const lanes = Array.from({ length: 8 }, (_, lane) => (state[2 * lane] ?? 0n) | ((state[2 * lane + 1] ?? 0n) << 32n))
  for (const lane of [...lanes, 0n, 0n, 0n]) {
    mixed = u64((mixed ^ lane) * 0xf281f239_9204cd9dn)
    mixed ^= mixed >> 32n
  }
  return Buffer.from(mixed.toString(16).padStart(16, '0'), 'hex').toString('base64url')
}

describe('the checksum of bytes', () => {
  test.each([
    ['no bytes', Buffer.alloc(0), 'S86sECZIGZs'],
    ['one zero', Buffer.alloc(1), 'LtCGVguEqFQ'],
    ['one line', Buffer.from('{"id":1}\n'), 'jqee3NAzMOU'],
    ['a stripe of zeros', Buffer.alloc(64), 'jg_1uY3cdOY'],
    ['a million times the letter a', Buffer.alloc(1_000_000, 'a'), 'DDNT3BQszM4'],
  ])('%s has a known value, which checkpoints keep', (_, bytes, digest) => {
    expect(digestOf(bytes)).toBe(digest)
  })

  test('a kernel adds the bytes on this machine, in the memory that files are read into and elsewhere', () => {
    expect(kernelAt(reading.buffer)).toBeDefined()
    expect(kernelAt(Buffer.alloc(1).buffer)).toBeUndefined()
  })

  test.each(Array.from({ length: rounds(20, 200) }, (_, seed) => seed))(
    'is what its definition says, seed %i',
    seed => {
      const random = seeded(seed)
      for (let count = 0; count < 20; count += 1) {
        const bytes = likelyBytes(random, random.below(random.pick([10, 200, 5000])))
        expect(digestOf(bytes)).toBe(expected(bytes))
      }
    },
  )

  test.each(Array.from({ length: rounds(50, 3000) }, (_, seed) => seed))(
    'does not depend on chunks, nor on the memory that they lie in, seed %i',
    seed => {
      const random = seeded(seed)
      const bytes = likelyBytes(random, random.below(random.pick([130, 3000, 100_000])))
      const longest = random.pick([3, 64, 65, 1000, 100_000])
      const checksum = new Checksum()
      let kept: { readonly checksum: Checksum; readonly at: number } | undefined
      for (let at = 0; at < bytes.length;) {
        const chunk = bytes.subarray(at, at + random.below(longest + 1))
        const isHere = random.chance(0.5)
        const from = random.below(100)
        if (isHere) chunk.copy(reading, from)
        checksum.add(isHere ? reading.subarray(from, from + chunk.length) : chunk)
        // What the chunk lay in is free again.
        reading.fill(0x55, 0, from + chunk.length)
        at += chunk.length
        if (random.chance(0.1)) expect(checksum.digest()).toBe(digestOf(bytes.subarray(0, at)))
        if (random.chance(0.1)) kept = { checksum: checksum.clone(), at }
      }
      expect(checksum.bytes).toBe(bytes.length)
      expect(checksum.digest()).toBe(digestOf(bytes))
      if (kept === undefined) return
      expect(kept.checksum.bytes).toBe(kept.at)
      expect(kept.checksum.digest()).toBe(digestOf(bytes.subarray(0, kept.at)))
      kept.checksum.add(bytes.subarray(kept.at))
      expect(kept.checksum.digest()).toBe(checksum.digest())
    },
  )

  test('several at once do not disturb each other', () => {
    const random = seeded(7)
    const inputs = Array.from({ length: 50 }, () => randomBytes(random, random.below(2000)))
    const checksums = inputs.map(() => new Checksum())
    for (let at = 0; at < 2000; at += 100)
      inputs.forEach((bytes, index) => checksums[index]?.add(bytes.subarray(at, at + 100)))
    expect(checksums.map(checksum => checksum.digest())).toEqual(inputs.map(digestOf))
  })
})

describe('the kernel and its twin', () => {
  test.each(Array.from({ length: rounds(40, 1000) }, (_, seed) => seed))('reach the same state, seed %i', seed => {
    const random = seeded(seed)
    const kernel = kernelAt(reading.buffer)
    const stripes = random.below(40)
    const from = random.below(70)
    likelyBytes(random, stripes * 64).copy(reading, from)
    const words = likelyBytes(random, 64)
    const state = new Uint32Array(words.buffer, words.byteOffset, 16)
    const twin = state.slice()
    kernel?.add(state, reading.byteOffset + from, reading.byteOffset + from + stripes * 64)
    addStripesPlainly(twin, reading, from, from + stripes * 64)
    expect([...twin]).toEqual([...state])
  })
})

describe('a change of the bytes', () => {
  /** Lines of an ordinary export. */
  const lines = Array.from(
    { length: 40 },
    (_, id) => `{"id":${id},"count":${(id * 7) % 10},"name":"${'x'.repeat(id)}"}\n`,
  )
  const text = Buffer.from(lines.join(''))

  /** Of equal variants, one counts. */
  function expectAllDifferent(variants: readonly Buffer[]): void {
    const different = new Map(variants.map(bytes => [bytes.toString('latin1'), bytes]))
    expect(new Set([...different.values()].map(digestOf)).size).toBe(different.size)
  }

  test.each([1, 63, 64, 65, 127, 128, 300])('of any one or two bits is seen: %i bytes', count => {
    const bytes = randomBytes(seeded(count), count)
    const bits = Array.from({ length: count * 8 }, (_, bit) => bit)
    const flipped = (...places: number[]) => {
      const copy = Buffer.from(bytes)
      for (const bit of places) copy.writeUInt8(copy.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
      return copy
    }
    const random = seeded(count)
    const pairs: Buffer[] = []
    for (let more = 0; more < 3000; more += 1) {
      const one = random.below(bits.length)
      // Also the same place of the next stripe, of the next column and of the next word.
      const other = (one + random.pick([1, 32, 64, 128, 384, 512, 896, random.below(bits.length)])) % bits.length
      if (one !== other) pairs.push(flipped(one, other))
    }
    expectAllDifferent([bytes, ...bits.map(bit => flipped(bit)), ...pairs])
  })

  test('that exchanges two lines, two blocks, two words or two bytes is seen', () => {
    const changed = [text]
    for (let one = 0; one < lines.length; one += 1)
      for (let other = one + 1; other < lines.length; other += 1) {
        const copy = lines.slice()
        copy[one] = lines[other] ?? ''
        copy[other] = lines[one] ?? ''
        changed.push(Buffer.from(copy.join('')))
      }
    for (const size of [1, 2, 4, 8, 16, 32, 64, 128, 256]) {
      const blocks = Math.floor(text.length / size)
      const random = seeded(size)
      for (let more = 0; more < 500; more += 1) {
        const [one, other] = [random.below(blocks) * size, random.below(blocks) * size]
        const copy = Buffer.from(text)
        text.copy(copy, one, other, other + size)
        text.copy(copy, other, one, one + size)
        changed.push(copy)
      }
    }
    expectAllDifferent(changed)
  })

  test('that exchanges two words, and the same two back elsewhere, is seen', () => {
    const random = seeded(3)
    const bytes = Buffer.alloc(64 * 64)
    const [one, other] = [randomBytes(random, 8), randomBytes(random, 8)]
    const variants: Buffer[] = []
    const put = (copy: Buffer, at: number, words: readonly Buffer[]) =>
      words.forEach((word, index) => word.copy(copy, at + 64 * index))
    for (const [first, second] of [
      [
        [one, other],
        [other, one],
      ],
      [
        [other, one],
        [one, other],
      ],
    ] as const)
      for (let distance = 2; distance < 60; distance += 1) {
        const copy = Buffer.from(bytes)
        put(copy, 8, first)
        put(copy, 8 + 64 * distance, second)
        variants.push(copy)
      }
    expectAllDifferent(variants)
  })

  test('that adds, removes or moves zeros is seen', () => {
    const zeros = Array.from({ length: 2000 }, (_, count) => Buffer.alloc(count))
    const before = Buffer.from('before')
    const moved = Array.from({ length: 1500 }, (_, at) =>
      Buffer.concat([Buffer.alloc(at), before, Buffer.alloc(1500 - at)]),
    )
    const within = [1, 3, 64, 512].flatMap(count =>
      Array.from({ length: text.length }, (_, at) =>
        Buffer.concat([text.subarray(0, at), Buffer.alloc(count), text.subarray(at)]),
      ),
    )
    expectAllDifferent([...zeros, ...moved, ...within])
  })

  test('that cuts the end, or repeats a part, is seen', () => {
    const cut = Array.from({ length: text.length }, (_, end) => text.subarray(0, end))
    const repeated = Array.from({ length: text.length - 64 }, (_, at) =>
      Buffer.concat([text.subarray(0, at + 64), text.subarray(at)]),
    )
    expectAllDifferent([...cut, ...repeated])
  })

  test('turns each bit of the checksum with a chance of one half, wherever it is', () => {
    const random = seeded(11)
    const times = 400
    for (const count of [1, 64, 200]) {
      const turned = new Uint32Array(64)
      for (let time = 0; time < times; time += 1) {
        const bytes = randomBytes(random, count)
        const was = Buffer.from(digestOf(bytes), 'base64url')
        const bit = random.below(count * 8)
        bytes.writeUInt8(bytes.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
        const is = Buffer.from(digestOf(bytes), 'base64url')
        for (let place = 0; place < 64; place += 1) {
          const differs = (was.readUInt8(place >> 3) ^ is.readUInt8(place >> 3)) >> (place & 7)
          turned[place] = (turned[place] ?? 0) + (differs & 1)
        }
      }
      // Five standard deviations of a fair coin.
      const most = 5 * Math.sqrt(times / 4)
      for (const often of turned) expect(Math.abs(often - times / 2)).toBeLessThan(most)
    }
  })
})

test('a checksum continues from its state in another process as if it had never ended', () => {
  const random = seeded(11)
  for (let round = 0; round < rounds(50, 1000); round += 1) {
    const bytes = randomBytes(random, random.below(400))
    const at = random.below(bytes.length + 1)
    const first = new Checksum()
    first.add(bytes.subarray(0, at))
    const next = Checksum.continued(first.state(), at)
    next?.add(bytes.subarray(at))
    expect(next?.digest()).toBe(digestOf(bytes))
    expect(next?.bytes).toBe(bytes.length)
  }
  expect(Checksum.continued('AAAA', 7)).toBeUndefined()
})
