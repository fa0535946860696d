import { inShell, visible } from '../../../base/text/shown.js'
import { type CellType, numberTypes } from '../formats.js'
import { type FirstRows, forEachRow } from './first-rows.js'
import type { IsMissing } from './missing-values.js'
import { looksLikeNumber, mayBeThousands, type NumberForm, numberFormOf, shownForm } from './number-forms.js'
import { offerOf } from './offer-type.js'
import { type Quotation, unquoted } from './quotation.js'
import { DOUBLED } from './split-row.js'

/** How the columns write their numbers, by their position. */
interface ColumnForms {
  readonly forms: ReadonlyMap<number, NumberForm>
  /** Types that columns without one could have, by their names. */
  readonly offered: Readonly<Record<string, CellType>>
  /** Notes for people, one sentence each. */
  readonly notes: readonly string[]
}

interface Asked {
  readonly names: readonly string[]
  readonly types: Readonly<Record<string, CellType>>
  readonly inferTypes: boolean
  readonly isMissing: IsMissing
  /** Whether decimals may have a comma anyway. */
  readonly takesComma: boolean
  readonly quotation: Quotation
  /** Whether notes may hold cells. */
  readonly showsCells: boolean
}

/** Looks at the columns that have a type of numbers, and with `inferTypes` also at those without a type, which stay text. */
export function columnForms(
  rows: FirstRows,
  { names, types, inferTypes, isMissing, takesComma, quotation, showsCells }: Asked,
): ColumnForms {
  const typeOf = (name: string) => (Object.hasOwn(types, name) ? types[name] : undefined)
  const looked = names.flatMap((name, at) => {
    const type = typeOf(name)
    const isLooked = type === undefined ? inferTypes : numberTypes.has(type)
    return isLooked ? [{ at, name, type, cells: new Set<string>() }] : []
  })
  const forms = new Map<number, NumberForm>()
  const offered: Record<string, CellType> = {}
  if (looked.length === 0) return { forms, offered, notes: [] }
  const { sample, splitter } = rows
  forEachRow(rows, names.length, () => {
    for (const { at, cells } of looked) {
      const [start, end] = [splitter.starts[at] as number, splitter.ends[at] as number]
      if (start === end || isMissing(sample, start, end)) continue
      const text = sample.toString('utf8', start, end).trim()
      const isDoubled = ((splitter.marks[at] as number) & DOUBLED) !== 0
      cells.add(isDoubled ? unquoted(text, quotation) : text)
    }
  })
  const notes: string[] = []
  const perhapsThousands: string[] = []
  for (const { at, name, type, cells } of looked) {
    const texts = [...cells]
    if (takesComma && arePerhapsThousands(texts, type)) perhapsThousands.push(name)
    const form = type === undefined ? undefined : numberFormOf(texts)
    if (form !== undefined && !(takesComma && form.group === '' && form.unit === '')) {
      forms.set(at, form)
      notes.push(`Numbers in ${visible(name)} are written as in ${shownForm(form)}`)
    }
    const offer = type === undefined ? offerOf(texts, showsCells) : undefined
    if (offer === undefined) continue
    // The option separates its columns by commas.
    const isNamed = offer.type !== undefined && !name.includes(',')
    if (isNamed && offer.type !== undefined) offered[name] = offer.type
    notes.push(`${visible(name)} stays text${offer.why}`)
  }
  if (perhapsThousands.length > 0) notes.push(thousandsNote(perhapsThousands))
  const wanted = Object.entries(offered)
  const only = wanted.length === 1 ? wanted[0] : undefined
  const what = only === undefined ? 'these columns with types' : `${visible(only[0])} as ${WHAT[only[1]] ?? only[1]}`
  if (wanted.length > 0) notes.push(`To load ${what}, pass --types ${typesOption(offered)}`)
  return { forms, offered, notes }
}

/** Returns whether a column of decimals may hold thousands. Cells that do not fit its type are no numbers. */
function arePerhapsThousands(cells: readonly string[], type: CellType | undefined): boolean {
  if (type === undefined) return mayBeThousands(cells)
  return FRACTIONS.test(type) && mayBeThousands(cells.filter(looksLikeNumber))
}

const FRACTIONS = /float|double/

/** Columns that the note names. */
const NAMED = 5

/** No option reads such numbers as thousands, because nothing in the file shows that they are. */
function thousandsNote(names: readonly string[]): string {
  const list = names.slice(0, NAMED).map(visible).join(', ') + (names.length > NAMED ? ', …' : '')
  return `Sluice reads the points in the numbers of ${list} as decimal points. If they separate thousands, save the file without thousands separators`
}

/** Returns the value of `--types` for a shell. */
function typesOption(types: Readonly<Record<string, string>>): string {
  const value = Object.entries(types).map(([name, type]) => `${visible(name)}:${type}`)
  return inShell(value.join(','))
}

const WHAT: Readonly<Record<string, string>> = { double: 'numbers', boolean: 'truth values', object: 'objects' }
