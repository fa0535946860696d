/** The part of WebAssembly that is used here: TypeScript has its types for browsers alone. */
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

/** Undefined where Node runs without it (`--jitless`). */
export const webAssembly = (globalThis as { WebAssembly?: WebAssemblyApi }).WebAssembly
