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
