import { Untransformable } from './untransformable.js'

/**
 * A number that JavaScript cannot hold: `0.12345678901234567890`, `1e400`. Written back as it is. Arithmetic and comparisons throw, so that
 * nothing is rounded unnoticed, and so does every attempt to copy it otherwise than by reference.
 */
export class ExactNumber {
  readonly text: string
  /** Own fields, so that a structured clone fails instead of leaving the number out. */
  readonly toString: () => string
  readonly valueOf: () => never
  readonly toJSON: () => never

  constructor(text: string) {
    const refuse = () => {
      throw new Untransformable('it uses a number that JavaScript cannot hold exactly. Use its .text')
    }
    this.text = text
    this.toString = () => text
    this.valueOf = refuse
    this.toJSON = refuse
    Object.freeze(this)
  }
}

/** Returns what the function gets for a number, as it stands in the document. */
export function readNumber(text: string): number | bigint | ExactNumber {
  const value = Number(text)
  if (/^-?\d+$/.test(text)) return Number.isSafeInteger(value) ? value : BigInt(text)
  return Number.isFinite(value) && digitsOf(text) === digitsOf(String(value)) ? value : new ExactNumber(text)
}

/** Returns the digits of a number and the place of its point, in the same way for all its spellings. */
function digitsOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(text) ?? []
  const digits = (whole + fraction).replace(/^0+/, '')
  const significant = digits.replace(/0+$/, '')
  if (significant === '') return `${sign}0`
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`
}
