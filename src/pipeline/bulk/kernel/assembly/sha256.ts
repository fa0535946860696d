/** SHA-256 (FIPS 180-4) of a short text. JavaScript has laid down the constants: the first state and the rounds. */
import { FIRST_STATE, HASHED, HASH_STATE, ROUNDS, ROUND_CONSTANTS, SCHEDULE } from '../layout'

/** As hex. */
export const HASH_BYTES: usize = 64
const BLOCK: usize = 64
const WORDS: usize = 8
const STATE: usize = HASH_STATE
const WORK: usize = SCHEDULE
const CONSTANTS: usize = ROUND_CONSTANTS
const LAST: usize = ROUNDS * 4

/** Hashes the bytes at `HASHED`. Behind them is room for the padding. */
export function hash(bytes: usize): void {
  const text: usize = HASHED
  memory.copy(STATE, FIRST_STATE, WORDS * 4)
  // The text, one bit, and the length in bits in the last eight bytes of a block.
  const end = text + ((bytes + 8) / BLOCK + 1) * BLOCK
  memory.fill(text + bytes, 0, end - text - bytes)
  store<u8>(text + bytes, 0x80)
  store<u64>(end - 8, bswap<u64>(u64(bytes) << 3))
  for (let block = text; block < end; block += BLOCK) addBlock(block)
}

/** Writes the hash as 64 lower-case hexadecimal digits. */
export function writeHash(to: usize): usize {
  for (let word: usize = 0; word < WORDS; word += 1) {
    const value = load<u32>(STATE + word * 4)
    for (let digit: u32 = 0; digit < 8; digit += 1) {
      const four = u8((value >> (28 - digit * 4)) & 15)
      store<u8>(to + word * 8 + <usize>digit, four < 10 ? 0x30 + four : 0x57 + four)
    }
  }
  return to + HASH_BYTES
}

function addBlock(block: usize): void {
  for (let at: usize = 0; at < BLOCK; at += 4) store<u32>(WORK + at, bswap<u32>(load<u32>(block + at)))
  for (let at: usize = BLOCK; at < LAST; at += 4) {
    const early = load<u32>(WORK + at - 60)
    const late = load<u32>(WORK + at - 8)
    const one = rotr<u32>(early, 7) ^ rotr<u32>(early, 18) ^ (early >> 3)
    const two = rotr<u32>(late, 17) ^ rotr<u32>(late, 19) ^ (late >> 10)
    store<u32>(WORK + at, load<u32>(WORK + at - 64) + one + load<u32>(WORK + at - 28) + two)
  }
  let a = load<u32>(STATE)
  let b = load<u32>(STATE, 4)
  let c = load<u32>(STATE, 8)
  let d = load<u32>(STATE, 12)
  let e = load<u32>(STATE, 16)
  let f = load<u32>(STATE, 20)
  let g = load<u32>(STATE, 24)
  let h = load<u32>(STATE, 28)
  for (let at: usize = 0; at < LAST; at += 4) {
    const turned = rotr<u32>(e, 6) ^ rotr<u32>(e, 11) ^ rotr<u32>(e, 25)
    const first = h + turned + ((e & f) ^ (~e & g)) + load<u32>(CONSTANTS + at) + load<u32>(WORK + at)
    const mixed = rotr<u32>(a, 2) ^ rotr<u32>(a, 13) ^ rotr<u32>(a, 22)
    const second = mixed + ((a & b) ^ (a & c) ^ (b & c))
    h = g
    g = f
    f = e
    e = d + first
    d = c
    c = b
    b = a
    a = first + second
  }
  add(0, a)
  add(4, b)
  add(8, c)
  add(12, d)
  add(16, e)
  add(20, f)
  add(24, g)
  add(28, h)
}

// @ts-ignore: decorator
@inline
function add(at: usize, value: u32): void {
  store<u32>(STATE + at, load<u32>(STATE + at) + value)
}
