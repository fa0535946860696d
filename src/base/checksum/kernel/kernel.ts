import { compile, type Memory, webAssembly } from '../../memory.js'
import { keys } from '../plain-stripes.js'
import { kernelCode } from './code.js'
import { KEYS, STRIPE_BYTES } from './layout.js'

/** The function of assembly/stripes.ts. */
interface Exports {
  addStripes(from: number, to: number, area: number): void
}

/**
 * Compiled when this file is loaded, so that callers can tune the engine before. Undefined if the machine has no
 * SIMD.
 */
const compiled = compile(kernelCode)

/** One instance for each memory, made when the first bytes there are added. */
const places = new WeakMap<ArrayBufferLike, Place>()

interface Place {
  readonly memory: Memory
  readonly area: number
  kernel?: Kernel | undefined
}

/**
 * From now on the kernel adds bytes of this memory where they lie, without a copy. It uses 128 bytes at `area`, a
 * multiple of 4, only during calls. The memory must never grow.
 */
export function sumInPlace(memory: Memory, area: number): void {
  places.set(memory.buffer, { memory, area })
}

/** Returns the kernel that can read this buffer. Undefined if there is none. */
export function kernelAt(buffer: ArrayBufferLike): Kernel | undefined {
  const place = places.get(buffer)
  if (place === undefined) return undefined
  place.kernel ??= openKernel(place.memory, place.area)
  return place.kernel
}

/** Adds whole stripes to the state of a checksum. Keeps nothing between two calls. */
class Kernel {
  readonly #state: Uint32Array
  readonly #area: number
  readonly #addStripes: Exports['addStripes']

  constructor(memory: Memory, area: number, { addStripes }: Exports) {
    this.#state = new Uint32Array(memory.buffer, area, STRIPE_BYTES / 4)
    this.#area = area
    this.#addStripes = addStripes
    new Uint32Array(memory.buffer, area + KEYS, STRIPE_BYTES / 4).set(keys)
  }

  /** Adds the bytes of the memory [from, to). */
  add(state: Uint32Array, from: number, to: number): void {
    this.#state.set(state)
    this.#addStripes(from, to, this.#area)
    state.set(this.#state)
  }
}

function openKernel(memory: Memory, area: number): Kernel | undefined {
  if (webAssembly === undefined || compiled === undefined) return undefined
  const { exports } = new webAssembly.Instance(compiled, { env: { memory } })
  return new Kernel(memory, area, exports as Exports)
}

export type { Kernel }
