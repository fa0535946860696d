import { LINE_FEED, SPACE, endWithoutSpace, isWhiteSpace } from '../text/bytes.js'
import { JsonScan } from '../text/json-fault.js'
import { type Cut, type Cutter, INPUT_BYTES, LONGEST_BYTES, MOST_LEVELS, type Between } from './cut.js'

const QUOTE = 0x22
const COMMA = 0x2c
const BACKSLASH = 0x5c
const BRACE = 0x7b

/** Does what the kernel does, in plain JavaScript. */
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
