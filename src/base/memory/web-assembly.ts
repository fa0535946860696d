/** The used part of WebAssembly. TypeScript has its types only for browsers. */
interface WebAssemblyApi {
  readonly Memory: new (size: { initial: number; maximum: number }) => Memory
  readonly Module: new (code: Uint8Array) => Module
  readonly Instance: new (module: Module, imports: { env: { memory: Memory } }) => { readonly exports: unknown }
}

export interface Memory {
  readonly buffer: ArrayBuffer
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
    // Untouched pages take no memory.
    return new webAssembly.Memory({ initial: pages, maximum: pages })
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
