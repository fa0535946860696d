/** Writes bits, the lowest first, as deflate wants them. */

/** Bits that wait for their byte, and how many these are: fewer than eight after each `flush`. */
export let waiting: u64 = 0
export let waitingBits: u64 = 0
/** Where the next whole byte goes. */
export let end: usize = 0

export function beginAt(at: usize): void {
  end = at
}

export function beginStream(): void {
  waiting = 0
  waitingBits = 0
}

/** Takes up to 32 bits. */
// @ts-ignore: decorator
@inline
export function put(value: u32, bits: u32): void {
  waiting |= u64(value) << waitingBits
  waitingBits += bits
}

// @ts-ignore: decorator
@inline
export function flush(): void {
  store<u64>(end, waiting)
  end += usize(waitingBits >> 3)
  waiting >>= waitingBits & ~7
  waitingBits &= 7
}

/** Fills the last byte with zeros. */
export function align(): void {
  if (waitingBits > 0) {
    store<u8>(end, u8(waiting))
    end += 1
  }
  beginStream()
}

/** Goes on where a caller wrote on its own. */
// @ts-ignore: decorator
@inline
export function goOnWith(bits: u64, count: u64, at: usize): void {
  waiting = bits
  waitingBits = count
  end = at
}
