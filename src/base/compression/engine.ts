import type { Transform } from 'node:stream'
import { free, spare } from '../memory.js'

export const OUTPUT_BYTES = 1 << 20
const FIRST_SLICE_BYTES = 1 << 10
const TRAILER_BYTES = 8

/** A decoder of `node:zlib`. `bytesWritten`: the bytes that it took so far. */
export type Engine = Transform & { readonly bytesWritten: number }

type Step = (done: (error?: Error | null) => void) => void

/**
 * Returns a function that runs a step of the engine, yields all its output, and then throws the engine's error, if any. `slice`: what
 * the step writes. The engine's thread may read it for a while if the output is not taken to its end.
 * A Node stream that fails drops its output. So each slice is decoded and taken out before the next one is written.
 */
export function runSteps(engine: Engine): (step: Step, slice?: Uint8Array) => AsyncGenerator<Uint8Array> {
  let failed: Error | undefined
  let wake = () => {}
  engine.on('readable', () => wake())
  engine.on('error', error => {
    failed = error
    wake()
  })
  return async function* outputOf(step, slice) {
    let done = false
    step(error => {
      done = true
      failed ??= error ?? undefined
      wake()
    })
    try {
      for (;;) {
        // Taking output also starts zlib on more, in its own thread, while the consumer works on this.
        const output: unknown = engine.read()
        if (output instanceof Uint8Array) yield output
        else if (failed !== undefined) throw failed
        else if (done) return
        else await new Promise<void>(resolve => (wake = resolve))
      }
    } finally {
      if (!done && slice !== undefined) spare(slice.buffer)
    }
  }
}

/**
 * Cuts the data into slices. A fault loses all output of its slice, so the first slices are small, and the trailer with the
 * checksum is a slice of its own.
 */
export async function* slices(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = FIRST_SLICE_BYTES
  let held: Uint8Array = new Uint8Array(0)
  try {
    for await (const chunk of compressed) {
      // As a slice of its own it would cost zlib's thread a turn.
      const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk])
      const end = Math.max(0, bytes.length - TRAILER_BYTES)
      for (let from = 0; from < end; from += size, size = Math.min(size * 2, OUTPUT_BYTES)) {
        yield bytes.subarray(from, Math.min(from + size, end))
      }
      held = Uint8Array.from(bytes.subarray(end))
      if (bytes !== chunk) free(bytes.buffer)
    }
  } catch (error) {
    // Decode what came before the error first.
    if (held.length > 0) yield held
    throw error
  }
  if (held.length > 0) yield held
}
