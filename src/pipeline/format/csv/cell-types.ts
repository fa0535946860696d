type IntegerType = 'byte' | 'short' | 'integer' | 'long' | 'unsigned_long'

const ranges: Readonly<Record<IntegerType, readonly [bigint, bigint]>> = {
  byte: signed(8n),
  short: signed(16n),
  integer: signed(32n),
  long: signed(64n),
  unsigned_long: [0n, 2n ** 64n - 1n],
}

function signed(bits: bigint): readonly [bigint, bigint] {
  return [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n]
}

/** Returns the JSON of a whole number, whatever its size. Undefined: the text is none, or too large for its type. */
export function integerIn(text: string, type: IntegerType): string | undefined {
  if (!/^[+-]?\d{1,40}$/.test(text)) return undefined
  const number = BigInt(text.replace('+', ''))
  const [least, most] = ranges[type]
  return number >= least && number <= most ? String(number) : undefined
}

/** Returns the JSON of a decimal number with its own digits. */
export function decimalIn(text: string): string | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = ''] =
    /^([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/.exec(text) ?? []
  if (whole + fraction === '' || !Number.isFinite(Number(text))) return undefined
  const digits = whole.replace(/^0+(?=\d)/, '') || '0'
  return `${sign === '-' ? '-' : ''}${digits}${fraction === '' ? '' : `.${fraction}`}${exponent}`
}

/** Returns the JSON of a truth value, as spreadsheets and databases write it. */
export function booleanIn(text: string): string | undefined {
  if (TRUTH.test(text)) return 'true'
  return FALSEHOOD.test(text) ? 'false' : undefined
}

export const truths: readonly string[] = ['true', 't', '1', 'yes', 'y', 'ja', 'j', 'wahr', 'oui', 'vrai']
export const falsehoods: readonly string[] = ['false', 'f', '0', 'no', 'n', 'nein', 'falsch', 'non', 'faux']
const TRUTH = new RegExp(`^(?:${truths.join('|')})$`, 'i')
const FALSEHOOD = new RegExp(`^(?:${falsehoods.join('|')})$`, 'i')

/** This many digits survive in a double, and fit into a long. */
export const MOST_DIGITS = 15

const MINUS = 0x2d
const POINT = 0x2e
const DIGIT_0 = 0x30

/**
 * Returns whether a cell stands as JSON would write it: a whole number or a decimal without an exponent, of at most 15 digits. Numbers with
 * leading zeros are codes.
 */
export function plainNumber(bytes: Uint8Array, start: number, end: number): 'whole' | 'decimal' | undefined {
  const first = bytes[start] === MINUS ? start + 1 : start
  let point = -1
  for (let at = first; at < end; at += 1) {
    const byte = bytes[at] as number
    if (byte === POINT && point === -1) point = at
    else if (byte < DIGIT_0 || byte > DIGIT_0 + 9) return undefined
  }
  const wholeEnd = point === -1 ? end : point
  if (wholeEnd === first || point === end - 1) return undefined
  if (bytes[first] === DIGIT_0 && (wholeEnd > first + 1 || (point === -1 && first > start))) return undefined
  return end - first - (point === -1 ? 0 : 1) > MOST_DIGITS ? undefined : point === -1 ? 'whole' : 'decimal'
}

/**
 * Returns whether a cell is JSON for the same value: true, false, a whole number that every program can hold, or a decimal of at most 15
 * digits. Longer numbers are ids.
 */
export function isInferred(bytes: Buffer, start: number, end: number): boolean {
  const first = bytes[start] as number
  if (first === MINUS || (first >= DIGIT_0 && first <= DIGIT_0 + 9)) {
    if (plainNumber(bytes, start, end) !== undefined) return true
    // 16 digits may still be exact.
    if (end - start > MOST_DIGITS + 2) return false
    const text = bytes.toString('latin1', start, end)
    return /^-?[1-9]\d{15}$/.test(text) && Number.isSafeInteger(Number(text))
  }
  const text = end - start < 6 && (first === 0x74 || first === 0x66) ? bytes.toString('latin1', start, end) : ''
  return text === 'true' || text === 'false'
}
