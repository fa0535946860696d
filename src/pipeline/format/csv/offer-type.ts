/** Finds out which type a column of text could have, if a person asks for it. */
import { visible } from '../../../base/text/shown.js'
import { parseJson } from '../../../base/json/parse-json.js'
import type { CellType } from '../formats.js'
import { booleanIn, decimalIn } from './cell-types.js'
import { looksLikeNumber, numberFormOf } from './number-forms.js'

interface Offer {
  readonly type?: CellType
  /** Why the column stays text. */
  readonly why: string
}

/** `cells`: what the first rows have in the column, each once. Undefined: it is text, or Sluice reads its values anyway. */
export function offerOf(cells: readonly string[], showsCells: boolean): Offer | undefined {
  if (cells.length === 0) return undefined
  // Codes and sentences may look like numbers now and then.
  if (cells.every(looksLikeNumber))
    return numberFormOf(cells) === undefined ? undefined : { type: 'double', why: shown(cells, showsCells) }
  if (areTruthValues(cells)) return { type: 'boolean', why: shown(cells, showsCells) }
  if (cells.every(isJson)) return { type: 'object', why: ', although its cells are JSON' }
  const others = cells.filter(cell => decimalIn(cell) === undefined)
  if (cells.length < FEWEST || others.length > cells.length * MOST_OTHERS) return undefined
  return { why: `: most of its cells are numbers, but not ${otherCells(others, showsCells)}` }
}

/** So many different numbers are no chance. */
const FEWEST = 10
const MOST_OTHERS = 0.1

function shown(cells: readonly string[], showsCells: boolean): string {
  return showsCells ? `, such as ${named(cells)}` : ''
}

function named(cells: readonly string[]): string {
  return cells
    .slice(0, 2)
    .map(text => visible(text))
    .join(' and ')
}

function otherCells(others: readonly string[], showsCells: boolean): string {
  if (!showsCells) return 'all. `sluice look` shows the others'
  const values = others.slice(0, 2).filter(text => !text.includes(','))
  const option =
    values.length === 0
      ? ''
      : `. If they mean that a value is missing, pass --null-values ${values.map(value => visible(value)).join(',')}`
  return named(others) + option
}

/** Both truth values, and not as digits, which are also numbers. */
function areTruthValues(cells: readonly string[]): boolean {
  const values = new Set(cells.map(booleanIn))
  return values.size === 2 && !values.has(undefined) && !cells.some(cell => /^(?:\d|true|false)$/.test(cell))
}

function isJson(cell: string): boolean {
  return /^[{[]/.test(cell) && typeof parseJson(cell) === 'object'
}
