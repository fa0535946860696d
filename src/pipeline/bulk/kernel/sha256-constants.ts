/** The constants of SHA-256: the first 32 bits of the fractions of roots of the first primes. */
const primes: bigint[] = []
for (let number = 2n; primes.length < 64; number += 1n)
  if (primes.every(prime => number % prime !== 0n)) primes.push(number)

/** From square roots. */
export const firstState = Uint32Array.from(primes.slice(0, 8), prime => fraction(prime, 2n))
/** From cube roots. */
export const roundConstants = Uint32Array.from(primes, prime => fraction(prime, 3n))

/** Newton's method in whole numbers, for the root of `prime` times 2^32. */
function fraction(prime: bigint, degree: bigint): number {
  const target = prime << (32n * degree)
  let root = prime << 32n
  for (;;) {
    const next = ((degree - 1n) * root + target / root ** (degree - 1n)) / degree
    if (next >= root) return Number(root & 0xffffffffn)
    root = next
  }
}
