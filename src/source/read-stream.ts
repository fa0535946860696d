import { addAbortSignal, type Readable } from 'node:stream'
import { cannotRead } from './cannot-read.js'

/** Reads a byte stream. A consumer that stops early destroys the stream, and so does the signal. */
export async function* readStream(stream: Readable, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  addAbortSignal(signal, stream)
  try {
    for await (const chunk of stream) yield bytesOf(chunk, stream)
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw cannotRead(name, error)
  }
}

/** A stream with an encoding set yields strings; a web stream may yield anything. */
function bytesOf(chunk: unknown, stream: Readable): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  if (typeof chunk === 'string') return Buffer.from(chunk, stream.readableEncoding ?? 'utf8')
  throw new TypeError(`its chunks are of type ${typeof chunk}, not bytes: pass objects as an async iterable`)
}
