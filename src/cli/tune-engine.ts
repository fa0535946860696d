import { setFlagsFromString } from 'node:v8'

/**
 * Tells V8 what kind of program a load is. To be called when its modules are loaded, and before the first connection: Node's own
 * modules are there in compiled form, which V8 takes only while its flags are as Node has them.
 */
export function tuneEngine(): void {
  const v8 = Number.parseInt(process.versions.v8, 10)
  // Most of a load is native code or runs a few times for each body. V8 would compile much of the latter for good within the first
  // second, on other cores, and a twentieth of all CPU time would go there: a function has to prove itself for longer. Later
  // engines count otherwise, and do not know this flag.
  if (v8 < 12) setFlagsFromString('--interrupt-budget=1000000')
  // Answers that were read are garbage outside the heap. A heap of 15 MB would let 30 MB of it gather before it looks.
  setFlagsFromString('--heap-growing-percent=100')
  // What holds them is young, and dies young: looked at often and in small, it is gone before it is moved to where only that
  // helps. A young generation that grows would let 40 MB of it wait.
  setFlagsFromString('--semi-space-growth-factor=1')
  // From now on WebAssembly is compiled quickly, and once. What was compiled before, the kernel, is still optimised when it runs
  // hot; what comes is undici's HTTP parser, whose optimised form takes a tenth of a second of CPU, to read a few hundred
  // answers. Later engines would leave the kernel as it is, too.
  if (v8 >= 13) return
  setFlagsFromString('--no-wasm-dynamic-tiering')
  setFlagsFromString('--no-wasm-tier-up')
}
