/** Lends what cuts the objects of JSON into NDJSON lines: what is usual, as fast as the kernel can. The parser does the rest. */
import { endOfValue } from '../text/json-fault.js'
import { type Cut, type Cutter, LONGEST_BYTES } from './cut.js'
import { kernelCutter } from './kernel/kernel.js'
import { plainCutter } from './plain-cutter.js'

/** What nobody uses at the moment. Memory of a kernel is dear to make, and inputs may be many and small. */
const idle: Cutter[] = []

/** Takes a cutter for one input. It has to be given back. */
export function takeCutter(): Cutter {
  return idle.pop() ?? kernelCutter() ?? plainCutter()
}

export function giveBack(cutter: Cutter): void {
  if (idle.length === 0) idle.push(cutter)
}

/** Scanning costs more than waiting for the rest. */
const MOST_SCANNED_BYTES = 64 << 10

/** Tells whether only the rest of an object may be missing. [from, to) was left by the cutter, and ends with the input so far. */
export function isCutOff({ input }: Cutter, { stop, stoppedAt }: Cut, from: number, to: number): boolean {
  if (stop === 'end') return to - from <= LONGEST_BYTES
  if (stop === 'other' || to - stoppedAt > LONGEST_BYTES) return false
  // What is wrong with a long object shows when it gets too long, or when the input is over.
  return to - stoppedAt > MOST_SCANNED_BYTES || endOfValue(input, stoppedAt, to) === 'cut'
}
