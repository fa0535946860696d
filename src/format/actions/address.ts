import type { Range } from './action-writer.js'

const QUOTE = 0x22
const MINUS = 0x2d
const ZERO = 0x30
const NINE = 0x39
const BACKSLASH = 0x5c
/** Elasticsearch refuses a request with a longer id. */
const MAX_ID_BYTES = 512

/** Returns why a value can be no id and no routing. Undefined: it can, or there is none. */
export function addressProblem(name: string, value: Range | undefined): string | undefined {
  if (value === undefined) return undefined
  const { bytes, from, to } = value
  const first = bytes[from] as number
  if (first !== QUOTE) {
    const isNumber = first === MINUS || (first >= ZERO && first <= NINE)
    return isNumber ? undefined : `its ${name} is neither a string nor a number`
  }
  if (to - from === 2) return `its ${name} is empty`
  // Only an escaped text may be shorter than it stands.
  if (name === '_id' && to - from - 2 > MAX_ID_BYTES && isLonger(value))
    return `its ${name} has more than ${MAX_ID_BYTES} bytes`
  return undefined
}

function isLonger({ bytes, from, to }: Range): boolean {
  if (!bytes.subarray(from, to).includes(BACKSLASH)) return true
  return Buffer.byteLength(JSON.parse(bytes.toString('utf8', from, to)) as string) > MAX_ID_BYTES
}
