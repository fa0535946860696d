import { createHash, randomBytes } from 'node:crypto'

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** Returns an id for a run: sortable by time, and unique. */
export function newRunId(): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, '')
  return `${time}-${randomBytes(3).toString('hex')}`
}

/** Makes the part of a run's ids that belongs to one input: 80 random bits, only letters and digits. */
export function randomToken(): string {
  return spell(randomBytes(16))
}

/** The same token for the same parts, on any machine. */
export function tokenOf(...parts: readonly (string | number)[]): string {
  return spell(createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16))
}

function spell(bytes: Uint8Array): string {
  return Array.from(bytes, byte => letters[byte & 31]).join('')
}
