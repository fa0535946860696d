/** Passes on lines of inputs that may be other ones each time that they are opened. */
import { Checksum } from '../../base/checksum/checksum.js'
import { fail } from '../../base/failure/failure.js'

/** Throws SluiceError INPUT_REPLACED if the first lines are not those of before. */
export async function* beginning(
  lines: AsyncIterable<Uint8Array>,
  { bytes, sum }: { readonly bytes: number; readonly sum: string },
  input: string,
): AsyncGenerator<Uint8Array> {
  const seen = new Checksum()
  const isOther = () => seen.bytes < bytes || seen.digest() !== sum
  const replaced = () => fail('INPUT_REPLACED', { input, observed: 'it does not begin as before' })
  for await (const chunk of lines) {
    const missing = bytes - seen.bytes
    if (missing > 0) {
      seen.add(chunk.subarray(0, missing))
      if (seen.bytes === bytes && isOther()) throw replaced()
    }
    yield chunk
  }
  if (isOther()) throw replaced()
}

/** Stops to wait for the next lines if the signal aborts: they are those of an answer that began before the load. */
export async function* untilAborted(lines: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const iterator = lines[Symbol.asyncIterator]()
  let reject: (why: unknown) => void = () => undefined
  const abort = () => reject(signal.reason)
  signal.addEventListener('abort', abort)
  try {
    for (;;) {
      signal.throwIfAborted()
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, refuse) => {
        reject = refuse
        iterator.next().then(resolve, refuse)
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    signal.removeEventListener('abort', abort)
    // It may wait for bytes that never come. The end of the run ends it.
    iterator.return?.().catch(() => undefined)
  }
}
