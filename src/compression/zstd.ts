import * as zlib from 'node:zlib'
import { type Engine, OUTPUT_BYTES, slices, watch } from './engine.js'
import { corrupt, explained, type StreamPlace, truncated } from './fault.js'
import { decodeByProgram } from './program.js'
import { ZstdFrame } from './zstd-frame.js'

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
  let frame: { end: ZstdFrame; engine: Engine; outputOf: ReturnType<typeof watch> } | undefined
  try {
    for await (const slice of slices(compressed))
      for (let rest = slice; rest.length > 0;) {
        if (frame === undefined) {
          const engine = create({ chunkSize: OUTPUT_BYTES })
          frame = { end: new ZstdFrame(), engine, outputOf: watch(engine) }
        }
        const { end, engine, outputOf } = frame
        const part = rest.subarray(0, end.take(rest))
        rest = rest.subarray(part.length)
        const steps = [
          (done: () => void) => void engine.write(part, done),
          ...(end.isOver ? [(done: () => void) => void engine.once('end', done).end()] : []),
        ]
        for (const step of steps)
          for await (const output of outputOf(step)) {
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
