import { randomFillSync } from 'node:crypto'

const idBytes = 15
const pool = Buffer.alloc(idBytes * 256)
let used = pool.length

/** An id as the cluster makes one: 20 URL-safe characters. */
export function newId(): string {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += idBytes
  return pool.toString('base64url', used - idBytes, used)
}
