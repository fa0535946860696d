import * as zlib from 'node:zlib'
import { type Engine, OUTPUT_BYTES, slices, runSteps } from './engine.js'
import { corrupt, explained, type StreamPlace, truncated } from './fault.js'
import { decodeByProgram } from './program.js'

/** Node 22.15 and newer have it. */
const { createZstdDecompress } = zlib as { createZstdDecompress?: (options: { chunkSize: number }) => Engine }

/** Decodes concatenated frames of zstd. */
export function unzstd(compressed: AsyncIterable<Uint8Array>, input: string): AsyncGenerator<Uint8Array> {
  if (createZstdDecompress === undefined) return decodeByProgram('zstd', compressed, input)
  return decodeFrames(createZstdDecompress, compressed, { input, encoding: 'zstd', bytes: 0 })
}

/**
 * Gives each frame to an engine of its own. Node's engine stops after one frame, without a word about the others, and many
 * versions of Node do not report that a frame was cut.
 */
async function* decodeFrames(
  create: (options: { chunkSize: number }) => Engine,
  compressed: AsyncIterable<Uint8Array>,
  place: StreamPlace,
): AsyncGenerator<Uint8Array> {
  let frame: { end: ZstdFrame; engine: Engine; outputOf: ReturnType<typeof runSteps> } | undefined
  try {
    for await (const slice of slices(compressed))
      for (let rest = slice; rest.length > 0;) {
        if (frame === undefined) {
          const engine = create({ chunkSize: OUTPUT_BYTES })
          frame = { end: new ZstdFrame(), engine, outputOf: runSteps(engine) }
        }
        const { end, engine, outputOf } = frame
        const part = rest.subarray(0, end.take(rest))
        rest = rest.subarray(part.length)
        const steps = [
          (done: () => void) => void engine.write(part, done),
          ...(end.isOver ? [(done: () => void) => void engine.once('end', done).end()] : []),
        ]
        for (const step of steps)
          for await (const output of outputOf(step, part)) {
            place.bytes += output.length
            yield output
          }
        if (end.isOver) {
          engine.destroy()
          frame = undefined
        }
      }
    if (frame !== undefined) throw truncated(place)
  } catch (error) {
    throw error instanceof RangeError ? corrupt(place, error.message, error) : explained(error, place)
  } finally {
    frame?.engine.destroy()
  }
}

const FRAME_MAGIC = 0xfd2fb528
const EXTRA_MAGIC = 0x184d2a50
const RLE = 1

/**
 * Finds the end of one frame of zstd data, without decoding it.
 * Source: RFC 8878, section 3.1.
 */
export class ZstdFrame {
  readonly #parts = partsOfFrame()
  /** Bytes of the frame to pass over, then bytes to read. */
  #skips = 0
  #needs: number
  #read: number[] = []
  #isOver = false

  constructor() {
    this.#needs = this.#parts.next().value?.needs ?? 0
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Returns how many of the bytes belong to the frame. Throws RangeError if the bytes do not begin like a frame. */
  take(bytes: Uint8Array): number {
    let at = 0
    while (!this.#isOver) {
      const skipped = Math.min(this.#skips, bytes.length - at)
      this.#skips -= skipped
      at += skipped
      while (this.#skips === 0 && this.#read.length < this.#needs && at < bytes.length)
        this.#read.push(bytes[at++] ?? 0)
      if (this.#skips > 0 || this.#read.length < this.#needs) return at
      const part = this.#parts.next(this.#read.splice(0))
      this.#isOver = part.done === true
      this.#skips = part.value?.skips ?? 0
      this.#needs = part.value?.needs ?? 0
    }
    return at
  }
}

interface Part {
  readonly skips?: number
  readonly needs?: number
}

/** Asks for the parts of a frame: passes over `skips` bytes, then reads `needs` bytes. */
function* partsOfFrame(): Generator<Part, undefined, readonly number[]> {
  const magic = number(yield { needs: 4 })
  if ((magic & ~0xf) >>> 0 === EXTRA_MAGIC) {
    yield { skips: number(yield { needs: 4 }) }
    return
  }
  if (magic !== FRAME_MAGIC) throw new RangeError('other data between its frames')
  const descriptor = number(yield { needs: 1 })
  const isSingle = (descriptor & 0x20) !== 0
  const window = isSingle ? 0 : 1
  const dictionary = [0, 1, 2, 4][descriptor & 3] ?? 0
  const contentSize = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6] ?? 0
  let skips = window + dictionary + contentSize
  for (let isLast = false; !isLast;) {
    const block = number(yield { skips, needs: 3 })
    isLast = (block & 1) === 1
    skips = ((block >> 1) & 3) === RLE ? 1 : block >> 3
  }
  const checksum = (descriptor & 4) === 0 ? 0 : 4
  yield { skips: skips + checksum }
}

/** Little-endian. */
function number(bytes: readonly number[]): number {
  return bytes.reduceRight((sum, byte) => sum * 256 + byte, 0)
}
