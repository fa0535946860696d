import { setFlagsFromString } from 'node:v8'

/**
 * From now on V8 compiles WebAssembly quickly, and once. What was compiled before, the kernel, is still optimised when it runs
 * hot; what comes is undici's HTTP parser, whose optimised form takes a tenth of a second of CPU, to read a few hundred answers.
 */
export function spareOptimising(): void {
  // Later engines would leave the kernel as it is, too.
  if (Number.parseInt(process.versions.v8, 10) >= 13) return
  setFlagsFromString('--no-wasm-dynamic-tiering')
  setFlagsFromString('--no-wasm-tier-up')
}
