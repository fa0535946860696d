/** A checksum of bytes, and of the first bytes of files. A kernel computes it if the machine has WebAssembly. */
import type { Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { AREA_BYTES, KEYS, STRIPE_BYTES } from './kernel/layout.js'
import { addStripesPlainly, digestOf, firstStripe, keys } from './plain-stripes.js'
import { compile, copyInto, type Memory, newMemory, webAssembly } from '../memory.js'
import { kernelCode } from './kernel/code.js'

/** Sluice compares two inputs only if these first bytes have the same checksum. */
export const FIRST_BYTES = 256

/**
 * A checksum of 64 bits of the bytes that are added, in their order. It finds accidental changes: other bits, bytes that
 * are added, missing, moved or exchanged, also zeros. It misses such a change with a chance of about 2^-64. It is no
 * protection from somebody who changes bytes on purpose: other bytes with the same checksum are easy to construct.
 *
 * It never fails, holds about 300 bytes, and needs no end: a caller may drop it at any time.
 */
export class Checksum {
  readonly #state: Uint32Array
  /** Bytes behind the last whole stripe. */
  readonly #rest: Uint8Array
  #bytes = 0

  constructor() {
    this.#state = firstStripe.slice()
    this.#rest = new Uint8Array(STRIPE_BYTES)
  }

  /** Returns a checksum that continues after the first `bytes` of an input. Returns undefined if the text is not the state of a checksum. */
  static continued(state: string, bytes: number): Checksum | undefined {
    const saved = Buffer.from(state, 'base64url')
    const held = bytes % STRIPE_BYTES
    if (saved.length !== firstStripe.length * 4 + held) return undefined
    const sum = new Checksum()
    for (let word = 0; word < firstStripe.length; word += 1) sum.#state[word] = saved.readUInt32LE(word * 4)
    sum.#rest.set(saved.subarray(firstStripe.length * 4))
    sum.#bytes = bytes
    return sum
  }

  /** Returns the digest of these bytes. */
  static of(bytes: Uint8Array): string {
    const sum = new Checksum()
    sum.add(bytes)
    return sum.digest()
  }

  /** Bytes added so far. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds the next bytes. It does not matter how the bytes are divided into chunks. The chunk is free again afterwards. */
  add(chunk: Uint8Array): void {
    const held = this.#bytes % STRIPE_BYTES
    this.#bytes += chunk.length
    let at = 0
    if (held > 0) {
      at = Math.min(STRIPE_BYTES - held, chunk.length)
      this.#rest.set(chunk.subarray(0, at), held)
      if (held + at < STRIPE_BYTES) return
      addStripesPlainly(this.#state, this.#rest, 0, STRIPE_BYTES)
    }
    const end = chunk.length - ((chunk.length - at) % STRIPE_BYTES)
    if (end > at) addStripesTo(this.#state, chunk, at, end)
    if (end < chunk.length) this.#rest.set(chunk.subarray(end))
  }

  /** Returns 64 bits of the bytes so far, as 11 characters of base64url. Bytes can be added afterwards. */
  digest(): string {
    const state = this.#state.slice()
    const held = this.#bytes % STRIPE_BYTES
    if (held > 0) {
      // The number of bytes tells these zeros from others.
      const last = new Uint8Array(STRIPE_BYTES)
      last.set(this.#rest.subarray(0, held))
      addStripesPlainly(state, last, 0, STRIPE_BYTES)
    }
    return digestOf(state, this.#bytes)
  }

  /** Returns what another process needs to continue it, as up to 170 characters. */
  state(): string {
    const held = this.#bytes % STRIPE_BYTES
    const saved = Buffer.alloc(firstStripe.length * 4 + held)
    for (const [word, value] of this.#state.entries()) saved.writeUInt32LE(value, word * 4)
    saved.set(this.#rest.subarray(0, held), firstStripe.length * 4)
    return saved.toString('base64url')
  }

  /** Returns a copy that continues by itself. */
  clone(): Checksum {
    const copy = new Checksum()
    copy.#state.set(this.#state)
    copy.#rest.set(this.#rest)
    copy.#bytes = this.#bytes
    return copy
  }
}

/**
 * Adds the bytes [from, to) of a chunk, whole stripes, to the state of a checksum: where they lie if the kernel can read
 * that memory, otherwise through a memory of its own.
 */
function addStripesTo(state: Uint32Array, chunk: Uint8Array, from: number, to: number): void {
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
    copyInto(bytes, 0, chunk.subarray(at, end))
    kernel.add(state, AREA_BYTES, AREA_BYTES + end - at)
  }
}

/** Fits the CPU's first cache. */
const COPY_BYTES = 16 << 10

interface Own {
  /** Undefined if the machine has no memory for it, or no SIMD. */
  readonly kernel: Kernel | undefined
  readonly bytes: Buffer
}

/** Opened when it is first needed. One is enough, because nothing stays in it between two calls. */
let own: Own | undefined

function openOwn(): Own {
  const memory = newMemory(1)
  if (memory === undefined) return { kernel: undefined, bytes: Buffer.alloc(0) }
  sumInPlace(memory, 0)
  return { kernel: kernelAt(memory.buffer), bytes: Buffer.from(memory.buffer, AREA_BYTES, COPY_BYTES) }
}

const READ_BYTES = 1 << 20

/**
 * Returns the checksums of a file's first bytes: as many as each of `ends` says, in ascending order. Undefined if the
 * file is shorter. Reads each byte once. Does not move the position of the handle. Throws what reading throws, and the
 * reason of the signal.
 */
export async function checksumOf(
  handle: FileHandle,
  ends: readonly number[],
  signal?: AbortSignal,
): Promise<(string | undefined)[]> {
  return (await checksumsAt(handle, ends, signal)).map(checksum => checksum?.digest())
}

/** Adds the bytes of a file up to each end. Returns a checksum for each end, which can continue from there. */
export async function checksumsAt(
  handle: FileHandle,
  ends: readonly number[],
  signal?: AbortSignal,
): Promise<(Checksum | undefined)[]> {
  const buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, ends.at(-1) ?? 0))
  const sofar = new Checksum()
  const found: (Checksum | undefined)[] = []
  for (const end of ends) found.push((await addUpTo(end, sofar, handle, buffer, signal)) ? sofar.clone() : undefined)
  return found
}

/** Adds the bytes of a file up to an offset. Returns false if the file is shorter. */
export async function addUpTo(
  end: number,
  checksum: Checksum,
  handle: FileHandle,
  buffer: Buffer = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, end)),
  signal?: AbortSignal,
): Promise<boolean> {
  while (checksum.bytes < end) {
    signal?.throwIfAborted()
    const length = Math.min(buffer.length, end - checksum.bytes)
    const { bytesRead } = await handle.read(buffer, 0, length, checksum.bytes)
    if (bytesRead === 0) return false
    checksum.add(buffer.subarray(0, bytesRead))
  }
  return true
}

/** Returns the checksums of the first bytes of the file at a path: see `checksumOf`. None if the file cannot be read. */
export async function sumsOf(path: string, ends: readonly number[]): Promise<readonly (string | undefined)[]> {
  try {
    const file = await open(path, 'r')
    try {
      return await checksumOf(file, ends)
    } finally {
      await file.close()
    }
  } catch {
    return ends.map(() => undefined)
  }
}

/** A file that changed within this time may change again and show the same time: two seconds is the coarsest step of all systems. */
const RACY_MS = 2000

/**
 * Returns what shows that a file is unchanged. Its time of change is 0, which no file has, if that was so recent that the next change
 * may show the same time.
 */
export function fileStat({ size, ino: inode, mtimeMs, ctimeMs }: Stats) {
  return { size, inode, mtimeMs, ctimeMs: ctimeMs + RACY_MS < Date.now() ? ctimeMs : 0 }
}

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
