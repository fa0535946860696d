/** Gets memory and code of WebAssembly, and frees memory that V8 would keep. */

/** The used part of WebAssembly. TypeScript has its types only for browsers. */
interface WebAssemblyApi {
  readonly Memory: new (size: { initial: number; maximum: number; shared: true }) => Memory
  readonly Module: new (code: Uint8Array) => Module
  readonly Instance: new (
    module: Module,
    imports: { readonly env: { readonly memory: Memory }; readonly [file: string]: unknown },
  ) => { readonly exports: unknown }
}

export interface Memory {
  readonly buffer: SharedArrayBuffer
}

/** Compiled code. */
export type Module = object

/** A number that the code exports. */
export interface Global {
  readonly value: number
}

/** Undefined if Node runs without it (`--jitless`). */
export const webAssembly = (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly

/**
 * Returns a memory of a fixed size, in pages of 64 KiB. Undefined if the machine cannot provide it: address space may be
 * rationed.
 */
export function newMemory(pages: number): Memory | undefined {
  if (webAssembly === undefined) return undefined
  try {
    // Untouched pages take no memory. V8 does not count what threads share, and so collects no garbage because of it.
    return new webAssembly.Memory({ initial: pages, maximum: pages, shared: true })
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** Compiles code. Undefined if the machine has no SIMD. */
export function compile(base64: string): Module | undefined {
  try {
    return webAssembly === undefined ? undefined : new webAssembly.Module(Buffer.from(base64, 'base64'))
  } catch {
    return undefined
  }
}

/** A port whose messages go nowhere, together with the memory that they carry. Opened at its first use: most loads decode nothing. */
let nowhere: ReturnType<typeof closedPort> | undefined

/** Memory that a thread may still read. */
const stillRead = new WeakSet<ArrayBufferLike>()

/** Leaves memory to V8: a decoder was closed, and its thread does not stop at once. */
export function spare(memory: ArrayBufferLike): void {
  stillRead.add(memory)
}

/**
 * Frees memory that the caller no longer uses. If V8 were to find that out, it would look through the whole heap for each 10 MB: decoding
 * took a third more CPU time, and a third more memory.
 */
export function free(memory: ArrayBufferLike): void {
  const isOwn = memory instanceof ArrayBuffer && memory.byteLength > Buffer.poolSize
  if (!isOwn || stillRead.has(memory)) return
  nowhere ??= closedPort()
  try {
    nowhere.postMessage(undefined, [memory])
  } catch {
    // Node keeps the pool from which it takes small buffers, and that has a few bytes more than `poolSize` since Node 26.
  }
}

function closedPort() {
  const { port1 } = new MessageChannel()
  port1.close()
  return port1
}

/** Less than this is copied as fast by V8. */
const FEW_BYTES = 256

/**
 * Copies bytes, and returns how many. The places must not overlap. V8 copies to and from memory that threads share word by word, or even byte by byte if the two
 * places are aligned in different ways: that takes two to six times as long. `fill` copies as C does.
 */
export function copyInto(to: Buffer, at: number, bytes: Uint8Array): number {
  if (bytes.length < FEW_BYTES) to.set(bytes, at)
  else to.fill(bytes, at, at + bytes.length)
  return bytes.length
}
