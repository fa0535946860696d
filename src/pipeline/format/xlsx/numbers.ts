import { decimalIn } from '../csv/cell-types.js'

/** Digits with which programs write a number of 64 bits, so that no bit is lost. */
const MOST_DIGITS = 17
/** As many digits always stand as somebody wrote them. */
const SURE_DIGITS = 15

/**
 * Returns the JSON of a number. Spreadsheet programs write 0.1 as 0.10000000000000001: then the short form stands for the same number.
 * All other digits stay. Undefined: the text is no number.
 */
export function numberOfCell(text: string): string | undefined {
  const json = decimalIn(text.trim())
  if (json === undefined || /^-?\d+$/.test(json)) return json
  const { digits } = partsOf(json)
  if (digits.length <= SURE_DIGITS || digits.length > MOST_DIGITS) return json
  const number = Number(json)
  return isSame(number.toPrecision(MOST_DIGITS), json) ? String(number) : json
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [partsOf(one), partsOf(other)]
  return a.digits === b.digits && a.exponent === b.exponent
}

/** Returns the digits of a number without zeros around them, and the exponent of the last one. */
function partsOf(text: string): { readonly digits: string; readonly exponent: number } {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const all = (whole + fraction).replace(/^0+/, '')
  const digits = all.replace(/0+$/, '')
  return { digits, exponent: Number(exponent) - fraction.length + all.length - digits.length }
}
