import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { compileKernel } from '../../route/gzip/kernel/kernel.js'

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

/** From this number on, what runs for each input takes most of the time. */
const SEVERAL = 1_000
/** Twice as much as V8 itself sets. */
const SOONER_BUDGET = 135_168

/** Takes back the threshold that `bin/sluice.js` raises. With very many inputs, V8 saves more than it spends on optimising. */
export function optimiseSooner(inputs: number): void {
  // Later engines count otherwise, and bin/sluice.js leaves them as they are.
  if (inputs < SEVERAL || Number.parseInt(process.versions.v8, 10) >= 12) return
  setFlagsFromString(`--interrupt-budget=${SOONER_BUDGET}`)
}

/** Makes V8 look for garbage sooner. A process that runs for months is small most of the time, and others need its memory. */
export function collectSooner(): void {
  setFlagsFromString('--heap-growing-percent=25')
}

/**
 * Makes V8 compile later WebAssembly quickly, and only once. The kernels, also the one that compresses, are compiled before and are still
 * optimised. Undici's HTTP parser reads only a few hundred answers: this saves a tenth of a second of CPU and 30 MB.
 */
export function spareOptimising(): void {
  // Later engines would also stop optimising the kernels.
  if (Number.parseInt(process.versions.v8, 10) >= 13) return
  compileKernel()
  setFlagsFromString('--no-wasm-dynamic-tiering')
  setFlagsFromString('--no-wasm-tier-up')
}
