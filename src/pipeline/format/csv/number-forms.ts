/** Finds out how a column writes its numbers: with thousands separators, a decimal comma, or a unit that all of them have. */
import { decimalIn } from './cell-types.js'

export interface NumberForm {
  /** What stands between thousands. Empty: nothing. */
  readonly group: string
  readonly decimal: '.' | ','
  /** A currency or a percent sign. Empty: none. */
  readonly unit: string
}

/** A number and its unit. */
interface Parts {
  readonly unit: string
  readonly number: string
}

const styles = [
  ['', '.'],
  ['', ','],
  [',', '.'],
  ['.', ','],
  [' ', ','],
  [' ', '.'],
  ["'", '.'],
  ["'", ','],
] as const

const escaped = (character: string) => (character === '.' ? String.raw`\.` : character)
const patterns = new Map(
  styles.map(([group, decimal]) => {
    const whole = group === '' ? String.raw`\d+` : String.raw`(?:\d+|\d{1,3}(?:${escaped(group)}\d{3})+)`
    return [group + decimal, new RegExp(`^[+-]?${whole}(?:${escaped(decimal)}\\d+)?$`)] as const
  }),
)

const UNIT = String.raw`\p{Sc}|%|[A-Z]{3}`
const NUMBER = String.raw`\d[\d.,' ]*`
const CELL = new RegExp(`^([+-]?)(?:(${UNIT}) ?)?([+-]?)(${NUMBER}?)(?: ?(${UNIT}))?$`, 'u')
/** Blanks that do not break a line, and narrow ones, stand between thousands. */
const BLANKS = /[\u00a0\u2007\u2009\u202f]/g
const LONGEST = 40

/**
 * Returns the form in which all cells that look like numbers can be read. Undefined: they are plain, they have no form in common, or two forms
 * read them as different numbers, such as `1.234`.
 */
export function numberFormOf(cells: readonly string[]): NumberForm | undefined {
  const parts = cells.flatMap(cell => partsOf(cell) ?? [])
  const [first] = parts
  if (first === undefined || parts.some(({ unit }) => unit !== first.unit)) return undefined
  const numbers = parts.map(({ number }) => number)
  const fitting = styles
    .map(([group, decimal]): NumberForm => ({ group, decimal, unit: first.unit }))
    .filter(({ group, decimal }) => numbers.every(number => patterns.get(group + decimal)?.test(number)))
  const [form, ...others] = fitting
  if (form === undefined) return undefined
  const isClear = numbers.every(number => others.every(other => plain(number, other) === plain(number, form)))
  if (others.length === 0 && !outweighs(cells, form)) return undefined
  const isPlain = form.group === '' && form.decimal === '.' && form.unit === ''
  return isClear && !isPlain ? form : undefined
}

/** A program may have written `1.234` for a number below two. One cell such as `1,5` must not make thousands of many such numbers. */
function outweighs(cells: readonly string[], form: NumberForm): boolean {
  const other = cells.filter(cell => {
    const [was, now] = [decimalIn(cell), readAs(form, cell)]
    return was !== undefined && now !== undefined && Number(was) !== Number(now)
  })
  const proofs = cells.filter(cell => decimalIn(cell) === undefined && readAs(form, cell) !== undefined)
  return proofs.length >= other.length
}

/**
 * Returns whether points that are read as decimal points could separate thousands: three digits stand behind each of them, and numbers
 * without one have no more. A number with other digits behind its point, or with a zero before it, shows that they do not.
 */
export function mayBeThousands(cells: readonly string[]): boolean {
  if (!cells.some(cell => cell.includes('.')) || !cells.every(cell => THOUSANDS.test(cell))) return false
  return numberFormOf(cells) === undefined
}

const THOUSANDS = /^[+-]?(?:0|[1-9]\d{0,2}(?:\.\d{3})?)(?:,\d+)?$/

/** Returns the number as a program writes it, with all its digits. Undefined: the cell does not have this form. */
export function readAs(form: NumberForm, cell: string): string | undefined {
  const parts = partsOf(cell)
  if (parts?.unit !== form.unit || patterns.get(form.group + form.decimal)?.test(parts.number) !== true)
    return undefined
  return plain(parts.number, form)
}

/** Returns whether a cell is a number in some form. */
export function looksLikeNumber(cell: string): boolean {
  return decimalIn(cell) !== undefined || partsOf(cell) !== undefined
}

function plain(number: string, { group, decimal }: NumberForm): string {
  const whole = group === '' ? number : number.replaceAll(group, '')
  return whole.replace(decimal, '.')
}

function partsOf(cell: string): Parts | undefined {
  if (cell.length > LONGEST) return undefined
  const text = cell.replaceAll(BLANKS, ' ').replaceAll('’', "'").trim()
  const [, sign = '', before = '', inner = '', number = '', behind = ''] = CELL.exec(text) ?? []
  if (number === '' || (sign !== '' && inner !== '') || (before !== '' && behind !== '')) return undefined
  return { unit: before + behind, number: sign + inner + number }
}

/** Says how a form looks, without a value. */
export function shownForm({ group, decimal, unit }: NumberForm): string {
  const example = `1${group}234${decimal}5`
  return unit === '' ? example : `${example} ${unit}`
}
