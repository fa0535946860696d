/** Copies 64 bytes at a time, so up to 63 more than asked for. */
// @ts-ignore: decorator
@inline
export function copy(to: usize, from: usize, bytes: usize): void {
  for (let at: usize = 0; at < bytes; at += 64) {
    const first = v128.load(from + at)
    const second = v128.load(from + at, 16)
    const third = v128.load(from + at, 32)
    const fourth = v128.load(from + at, 48)
    v128.store(to + at, first)
    v128.store(to + at, second, 16)
    v128.store(to + at, third, 32)
    v128.store(to + at, fourth, 48)
  }
}
