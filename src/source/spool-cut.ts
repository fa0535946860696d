import { open } from 'node:fs/promises'
import type { ReadMemory } from '../flow.js'
import { readFile } from './read-file.js'
import { storedFile } from './stored-file.js'
import { fail } from '../failure/fail.js'

const LINE_FEED = 0x0a
const LOOK_BYTES = 1 << 16

/** A spooled file that lacks its end: all that is there; then throws SluiceError INPUT_UNENDED. */
export async function* readCut(
  path: string,
  name: string,
  signal: AbortSignal,
  from: number,
  into?: ReadMemory,
): AsyncGenerator<Uint8Array> {
  yield* readFile(path, name, signal, from, into)
  const { size, isCompressed } = await storedFile(path, name).look()
  const torn = isCompressed ? 0 : await bytesOfLastLine(path, size)
  const inLine = torn === 0 ? '' : `, the last ${torn} of them in the middle of a line`
  throw fail('INPUT_UNENDED', { input: name, observed: `${size} bytes were spooled${inLine}`, bytes: size, torn })
}

/** Behind the last line feed. */
async function bytesOfLastLine(path: string, size: number): Promise<number> {
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.alloc(LOOK_BYTES)
    for (let end = size; end > 0;) {
      const start = Math.max(0, end - LOOK_BYTES)
      const { bytesRead } = await file.read(buffer, 0, end - start, start)
      const lineFeed = buffer.subarray(0, bytesRead).lastIndexOf(LINE_FEED)
      if (lineFeed !== -1) return size - (start + lineFeed + 1)
      end = start
    }
    return size
  } finally {
    await file.close()
  }
}
