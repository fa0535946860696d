import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** From this number on, the inputs take more memory than anything else. */
const MANY = 10_000

/**
 * Makes V8 look for garbage now, and later before the heap has doubled, if a load has very many inputs. Other loads have a small heap,
 * and would only look more often.
 */
export function spareMemory(inputs: number): void {
  if (inputs < MANY) return
  setFlagsFromString('--heap-growing-percent=20')
  setFlagsFromString('--expose-gc')
  const collect: unknown = runInNewContext('gc')
  if (typeof collect === 'function') collect()
}

/** Makes V8 look for garbage sooner. A process that runs for months is small most of the time, and others need its memory. */
export function collectSooner(): void {
  setFlagsFromString('--heap-growing-percent=25')
}

/**
 * Makes V8 compile later WebAssembly quickly, and only once. The kernel is compiled before and is still optimised.
 * This saves a tenth of a second of CPU for undici's HTTP parser, which reads only a few hundred answers.
 */
export function spareOptimising(): void {
  // Later engines would also stop optimising the kernel.
  if (Number.parseInt(process.versions.v8, 10) >= 13) return
  setFlagsFromString('--no-wasm-dynamic-tiering')
  setFlagsFromString('--no-wasm-tier-up')
}
