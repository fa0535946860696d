import { createBrotliDecompress, createGunzip, createInflateRaw } from 'node:zlib'
import { type Engine, OUTPUT_BYTES, slices, runSteps } from './engine.js'
import { corrupt, explained, type StreamPlace } from './fault.js'

const options = { chunkSize: OUTPUT_BYTES }

/** Gunzips concatenated members. If the data is corrupt, up to 1 MiB before the fault is missing, because no checksum covers it. */
export function gunzip(compressed: AsyncIterable<Uint8Array>, input: string): AsyncGenerator<Uint8Array> {
  return inflate(createGunzip(options), compressed, { input, encoding: 'gzip', bytes: 0 }, (rest, place) => {
    if (rest.some(byte => byte !== 0)) throw corrupt(place, 'zeros, and then other data')
  })
}

export function unbrotli(compressed: AsyncIterable<Uint8Array>, input: string): AsyncGenerator<Uint8Array> {
  const place = { input, encoding: 'brotli', bytes: 0 }
  return inflate(createBrotliDecompress(options), compressed, place, () => {
    throw corrupt(place, 'other data after its end')
  })
}

/** Decodes deflate data without a header, as ZIP archives hold it. */
export function inflateRaw(compressed: AsyncIterable<Uint8Array>, input: string): AsyncGenerator<Uint8Array> {
  const place = { input, encoding: 'deflate', bytes: 0 }
  return inflate(createInflateRaw(options), compressed, place, () => {
    throw corrupt(place, 'other data after its end')
  })
}

/** Decodes slice by slice. The end comes last: only then does the engine notice that the data was cut. */
async function* inflate(
  engine: Engine,
  compressed: AsyncIterable<Uint8Array>,
  place: StreamPlace,
  checkRest: (rest: Uint8Array, place: StreamPlace) => void,
): AsyncGenerator<Uint8Array> {
  const outputOf = runSteps(engine)
  let fed = 0
  let isOver = false
  try {
    for await (const slice of slices(compressed)) {
      if (isOver) {
        checkRest(slice, place)
        continue
      }
      fed += slice.length
      for await (const output of outputOf(done => void engine.write(slice, done), slice)) {
        place.bytes += output.length
        yield output
      }
      // For zlib, a zero byte behind a member ends the data, whatever follows.
      isOver = engine.bytesWritten < fed
      if (isOver) checkRest(slice.subarray(slice.length - (fed - engine.bytesWritten)), place)
    }
    if (isOver) return
    for await (const output of outputOf(done => void engine.once('end', done).end())) {
      place.bytes += output.length
      yield output
    }
  } catch (error) {
    throw explained(error, place)
  } finally {
    engine.destroy()
  }
}
