/** Makes keys and names that no other facts, runs or inputs have. */
import { createHash, randomBytes } from 'node:crypto'

/** Returns a key of facts: 128 bits in hex, the same on any machine. */
export function keyOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 32)
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** Returns an id for a run: sortable by time, and unique. */
export function newRunId(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${randomBytes(3).toString('hex')}`
}

/** Returns whether a name has the form of such an id. */
export function isRunId(name: string): boolean {
  return /^\d{8}T\d{6}Z-[\da-f]{6}$/.test(name)
}

/** Makes the part of a run's ids that belongs to one input: 80 random bits, only letters and digits. */
export function randomToken(): string {
  return spell(randomBytes(16))
}

/** Returns such parts by number: they follow each other from one that is random, so another process gets none of them. */
export function randomTokens(): (number: number) => string {
  const first = randomBytes(16)
  return number => {
    const digits = Uint8Array.from(first, byte => byte & 31)
    let carry = number
    for (let at = digits.length - 1; carry > 0 && at >= 0; at -= 1) {
      const sum = (digits[at] ?? 0) + carry
      digits[at] = sum & 31
      carry = Math.floor(sum / 32)
    }
    return spell(digits)
  }
}

/** Returns the same token for the same parts, on any machine. */
export function tokenOf(...parts: readonly (string | number)[]): string {
  return spell(createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16))
}

function spell(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += letters[byte & 31]
  return text
}
