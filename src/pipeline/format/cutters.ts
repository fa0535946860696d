/** Lends cutters, which cut JSON into NDJSON lines: usual objects only. The parser reads the others. */
import { LINE_FEED, SPACE, endWithoutSpace, isWhiteSpace } from '../../base/text/bytes.js'
import { JsonScan, endOfValue } from '../../base/json/json-fault.js'
import { type Between, type Cut, type Cutter, INPUT_BYTES, LONGEST_BYTES, MOST_LEVELS } from './cut.js'
import { kernelCutter } from './kernel/kernel.js'

/** Cutters that are free at the moment. Memory of a kernel is dear to make, and inputs may be many and small. */
const idle: Cutter[] = []

/** Takes a cutter for one input. The caller gives it back with `giveBack`. */
export function takeCutter(): Cutter {
  return idle.pop() ?? kernelCutter() ?? plainCutter()
}

export function giveBack(cutter: Cutter): void {
  if (idle.length === 0) idle.push(cutter)
}

/** Scanning costs more than waiting for the rest. */
const MOST_SCANNED_BYTES = 64 << 10

/** Returns whether only the rest of an object may be missing. [from, to) was left by the cutter, and ends with the input so far. */
export function isCutOff({ input }: Cutter, { stop, stoppedAt }: Cut, from: number, to: number): boolean {
  if (stop === 'end') return to - from <= LONGEST_BYTES
  if (stop === 'other' || to - stoppedAt > LONGEST_BYTES) return false
  // Sluice finds the fault of a long object when the object gets too long, or when the input ends.
  return to - stoppedAt > MOST_SCANNED_BYTES || endOfValue(input, stoppedAt, to) === 'cut'
}

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const BRACE = 0x7b

/** Makes a cutter that does the same as the kernel, in plain JavaScript. */
export function plainCutter(): Cutter {
  const input = Buffer.allocUnsafeSlow(INPUT_BYTES)
  const output = Buffer.allocUnsafeSlow(2 * INPUT_BYTES)
  const scan = new JsonScan(MOST_LEVELS)
  return { input, cut }

  function cut(from: number, to: number, place: Between, most = Infinity): Cut {
    let [objects, takenTo, written] = [0, from, 0]
    for (;;) {
      let at = behindSpace(takenTo, to)
      const hasComma = place === 'next' || (place === 'first' && objects > 0)
      const isPlaced = !hasComma || input[at] === COMMA || at === to
      if (hasComma && at < to && isPlaced) at = behindSpace(at + 1, to)
      const isNear = isPlaced && input[at] === BRACE && at - takenTo <= LONGEST_BYTES
      const stop = at === to ? 'end' : isNear ? 'object' : 'other'
      const end = stop === 'object' && objects < most ? endOfObject(at, to) : 0
      if (end === 0) return { lines: output.subarray(0, written), objects, takenTo, stoppedAt: at, stop }
      written = squeeze(at, end, written)
      output[written++] = LINE_FEED
      takenTo = end
      objects += 1
    }
  }

  function behindSpace(from: number, to: number): number {
    let at = from
    while (at < to && isWhiteSpace(input[at])) at += 1
    return at
  }

  function endOfObject(from: number, to: number): number {
    scan.fault(input, from, to)
    const end = scan.isValue ? endWithoutSpace(input, scan.at) : 0
    return end - from <= LONGEST_BYTES ? end : 0
  }

  /** Copies a valid value without the white space between its tokens. Returns the end of the copy. */
  function squeeze(from: number, to: number, out: number): number {
    let end = out
    let isInString = false
    for (let at = from; at < to; at += 1) {
      const byte = input[at] as number
      if (!isInString && byte <= SPACE) continue
      output[end++] = byte
      if (byte === QUOTE) isInString = !isInString
      else if (byte === BACKSLASH) output[end++] = input[++at] as number
    }
    return end
  }
}
