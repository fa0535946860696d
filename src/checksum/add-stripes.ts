import { newMemory } from '../web-assembly.js'
import { type Kernel, kernelAt, sumInPlace } from './kernel/kernel.js'
import { AREA_BYTES } from './kernel/layout.js'
import { addStripesPlainly } from './plain-stripes.js'

/**
 * Adds the bytes [from, to) of a chunk, whole stripes, to the state of a checksum: where they lie if the kernel can read
 * that memory, otherwise through a memory of its own.
 */
export function addStripesTo(state: Uint32Array, chunk: Uint8Array, from: number, to: number): void {
  const here = kernelAt(chunk.buffer)
  if (here !== undefined) here.add(state, chunk.byteOffset + from, chunk.byteOffset + to)
  else addCopied(state, chunk, from, to)
}

function addCopied(state: Uint32Array, chunk: Uint8Array, from: number, to: number): void {
  own ??= openOwn()
  const { kernel, bytes } = own
  if (kernel === undefined) return addStripesPlainly(state, chunk, from, to)
  for (let at = from; at < to; at += COPY_BYTES) {
    const end = Math.min(to, at + COPY_BYTES)
    bytes.set(chunk.subarray(at, end))
    kernel.add(state, AREA_BYTES, AREA_BYTES + end - at)
  }
}

/** Fits the CPU's first cache. */
const COPY_BYTES = 16 << 10

interface Own {
  /** Undefined if the machine has no memory for it, or no SIMD. */
  readonly kernel: Kernel | undefined
  readonly bytes: Uint8Array
}

/** Opened when it is first needed. One is enough, because nothing stays in it between two calls. */
let own: Own | undefined

function openOwn(): Own {
  const memory = newMemory(1)
  if (memory === undefined) return { kernel: undefined, bytes: new Uint8Array() }
  sumInPlace(memory, 0)
  return { kernel: kernelAt(memory.buffer), bytes: new Uint8Array(memory.buffer, AREA_BYTES, COPY_BYTES) }
}
