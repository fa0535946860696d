import { gunzipSync } from 'node:zlib'
import { mostBytes, openGzipKernel } from '../../../src/route/gzip/kernel/kernel.js'
import { BLOCK_BYTES, WINDOW_BYTES } from '../../../src/route/gzip/kernel/layout.js'
import { randomLine } from './random-lines.js'
import { type Seeded, seeded } from './seeded.js'

const kernel = openGzipKernel()

/** Returns the body as the kernel compresses it. */
export function gzipped(body: Uint8Array): Buffer {
  if (kernel === undefined) throw new Error('this machine has no kernel')
  return Buffer.concat(Array.from(kernel.gzip(body), part => Buffer.from(part)))
}

/** Compresses random bodies. Throws if zlib reads another body, or if a file is longer than its bound. */
export function fuzzGzip(seed: number, bodies: number): void {
  const random = seeded(seed)
  for (let at = 0; at < bodies; at += 1) {
    const body = randomBody(random)
    const file = gzipped(body)
    const isSame = gunzipSync(file).equals(body)
    if (!isSame || file.length > mostBytes(body.length))
      throw new Error(`body ${at} of seed ${seed}, ${body.length} bytes`)
  }
}

/** Pieces that follow each other: text, noise, runs, and copies of what was there before, at edges of the format. */
function randomBody(random: Seeded): Buffer {
  const room = random.chance(0.02) ? 3 * BLOCK_BYTES : random.below(random.chance(0.1) ? 80_000 : 600)
  const body = Buffer.alloc(room)
  let end = 0
  while (end < room) end += piece(random, body, end)
  return body
}

const edges = [1, 2, 3, 4, 5, 6, 7, 8, 257, 258, 259, 260, WINDOW_BYTES - 1, WINDOW_BYTES, WINDOW_BYTES + 1]

function piece(random: Seeded, body: Buffer, end: number): number {
  const length = random.chance(0.5) ? random.pick(edges) : 1 + random.below(400)
  const to = Math.min(body.length, end + length)
  const kind = random.below(5)
  const alphabet = random.pick([2, 4, 20, 256])
  if (kind === 0) body.fill(random.below(256), end, to)
  else if (kind === 1) for (let at = end; at < to; at += 1) body[at] = random.below(alphabet)
  else if (kind === 2) return Math.max(1, body.write(randomLine(random), end))
  else {
    // Byte by byte, so that a copy may overlap itself.
    const back = random.chance(0.5) ? random.pick(edges) : 1 + random.below(end + 1)
    for (let at = end; at < to; at += 1) body[at] = body[at - back] ?? 7
  }
  return to - end
}
