import { INPUT_SLACK_BYTES, INPUT_START, SLACK_BYTES } from '../../../base/json/strict/layout.js'
import { compile, type Global, newMemory, webAssembly } from '../../../base/memory.js'
import { type Cut, type Cutter, INPUT_BYTES, LONGEST_BYTES, type Between } from '../cut.js'
import { kernelCode } from './code.js'
import { FIRST, NEXT, STOP_END, STOP_OBJECT, TOP_LEVEL } from './layout.js'

/** The function and the globals of assembly/cut.ts. Sizes and addresses are in bytes. */
interface Exports {
  cut(from: number, to: number, out: number, place: number, most: number, longest: number): number
  readonly objects: Global
  readonly takenTo: Global
  readonly writtenTo: Global
  readonly stoppedAt: Global
}

const OUTPUT_START = INPUT_START + INPUT_BYTES + INPUT_SLACK_BYTES
/** Without a separator between them, objects of two bytes become lines of three. */
const MEMORY_BYTES = OUTPUT_START + 2 * INPUT_BYTES + SLACK_BYTES
const PAGE_BYTES = 64 << 10
const places = { first: FIRST, next: NEXT, top: TOP_LEVEL }
const MOST_OBJECTS = 2 ** 32 - 1

/** Returns undefined if the machine has no SIMD, or no memory for it. */
export function kernelCutter(): Cutter | undefined {
  compiled ??= compile(kernelCode)
  const memory = newMemory(Math.ceil(MEMORY_BYTES / PAGE_BYTES))
  if (memory === undefined || webAssembly === undefined || compiled === undefined) return undefined
  const kernel = new webAssembly.Instance(compiled, { env: { memory } }).exports as Exports
  const bytes = Buffer.from(memory.buffer)
  const input = bytes.subarray(INPUT_START, INPUT_START + INPUT_BYTES)

  function cut(from: number, to: number, place: Between, most = MOST_OBJECTS): Cut {
    // No token holds a zero byte, so the kernel does not run past it.
    bytes[INPUT_START + to] = 0
    const stop = kernel.cut(INPUT_START + from, INPUT_START + to, OUTPUT_START, places[place], most, LONGEST_BYTES)
    return {
      lines: bytes.subarray(OUTPUT_START, kernel.writtenTo.value),
      objects: kernel.objects.value,
      takenTo: kernel.takenTo.value - INPUT_START,
      stoppedAt: kernel.stoppedAt.value - INPUT_START,
      stop: stop === STOP_END ? 'end' : stop === STOP_OBJECT ? 'object' : 'other',
    }
  }

  return { input, cut }
}

let compiled: ReturnType<typeof compile>
