import { constants, open as openWithCallback } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { Socket } from 'node:net'
import { promisify } from 'node:util'
import { fail } from '../failure/fail.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { ReadMemory } from '../flow.js'
import { cannotRead } from './cannot-read.js'
import { readStream } from './read-stream.js'

// The socket owns the descriptor. A FileHandle would close it when it is collected.
const openDescriptor = promisify(openWithCallback)

const READ_BYTES = 1 << 20
const SMALLEST_READ_BYTES = 64 << 10

/**
 * Reads a file from the byte at offset `from`, into `into` or memory of its own. A chunk is valid until the next one is asked for.
 * Throws SluiceError INPUT_TRUNCATED if the file shrinks meanwhile, after all that was there.
 */
export async function* readFile(
  path: string,
  name: string,
  signal: AbortSignal,
  from = 0,
  into?: ReadMemory,
): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  try {
    const handle = await open(path, 'r')
    try {
      yield* readAhead(handle, name, signal, from, into)
    } finally {
      await handle.close()
    }
  } catch (error) {
    if (signal.aborted) throw signal.reason
    throw cannotRead(name, error)
  }
}

/** Fills one buffer while the consumer has the other one. */
async function* readAhead(
  handle: FileHandle,
  name: string,
  signal: AbortSignal,
  from: number,
  into: ReadMemory | undefined,
): AsyncGenerator<Uint8Array> {
  const { size } = await handle.stat()
  // With one byte more than the file, the read that finds its end needs no second buffer. Files in /proc report size 0.
  const length = Math.min(into?.[0].length ?? READ_BYTES, Math.max(SMALLEST_READ_BYTES, size - from + 1))
  let bytes = from
  // Devices and pipes have no offsets: they are read from their start.
  const read = (buffer: Buffer) => handle.read(buffer, 0, length, from === 0 ? null : bytes)
  let filling = read(into?.[0] ?? Buffer.allocUnsafeSlow(length))
  let idle = into?.[1]
  try {
    for (;;) {
      const { bytesRead, buffer } = await filling
      if (bytesRead === 0) {
        // Files in /sys report more than can be read. Only a size that has become smaller is a fault.
        if (bytes < size && (await handle.stat()).size < size) throw shrunk(name, bytes)
        return
      }
      bytes += bytesRead
      signal.throwIfAborted()
      filling = read(idle ?? Buffer.allocUnsafeSlow(length))
      filling.catch(() => undefined) // seen above, when its turn comes
      yield buffer.subarray(0, bytesRead)
      idle = buffer
    }
  } finally {
    // A read under way still needs the handle and the buffer.
    await filling.catch(() => undefined)
  }
}

function shrunk(input: string, bytes: number): SluiceError {
  return fail('INPUT_TRUNCATED', { input, encoding: 'stored', bytes })
}

/**
 * Reads a named pipe without blocking. A thread that blocks in open or read cannot be stopped: the process would live until
 * somebody writes.
 */
export async function* readFifo(path: string, name: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted()
  let fd: number
  try {
    fd = await openDescriptor(path, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch (error) {
    throw cannotRead(name, error)
  }
  yield* readStream(new Socket({ fd, readable: true, writable: false }), name, signal)
}
