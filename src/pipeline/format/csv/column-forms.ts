import { visible } from '../../../base/text/shown.js'
import { type CellType, numberTypes } from '../formats.js'
import { type FirstRows, forEachRow } from './first-rows.js'
import type { IsMissing } from './missing-values.js'
import { looksLikeNumber, type NumberForm, numberFormOf, shownForm } from './number-forms.js'

/** How the columns write their numbers, by their position. */
interface ColumnForms {
  readonly forms: ReadonlyMap<number, NumberForm>
  /** What a person should know of them: one sentence each. */
  readonly notes: readonly string[]
}

interface Asked {
  readonly names: readonly string[]
  readonly types: Readonly<Record<string, CellType>>
  readonly inferTypes: boolean
  readonly isMissing: IsMissing
  /** Whether decimals may have a comma anyway. */
  readonly takesComma: boolean
  /** Whether notes may hold cells. */
  readonly showsCells: boolean
}

/** Looks at the columns that have a type of numbers, and with `inferTypes` also at those without a type, which stay text. */
export function columnForms(
  rows: FirstRows,
  { names, types, inferTypes, isMissing, takesComma, showsCells }: Asked,
): ColumnForms {
  const typeOf = (name: string) => (Object.hasOwn(types, name) ? types[name] : undefined)
  const looked = names.flatMap((name, at) => {
    const type = typeOf(name)
    const isLooked = type === undefined ? inferTypes : numberTypes.has(type)
    return isLooked ? [{ at, name, type, cells: new Set<string>() }] : []
  })
  const forms = new Map<number, NumberForm>()
  if (looked.length === 0) return { forms, notes: [] }
  const { sample, splitter } = rows
  forEachRow(rows, names.length, () => {
    for (const { at, cells } of looked) {
      const [start, end] = [splitter.starts[at] as number, splitter.ends[at] as number]
      if (start !== end && !isMissing(sample, start, end)) cells.add(sample.toString('utf8', start, end).trim())
    }
  })
  const notes: string[] = []
  for (const { at, name, type, cells } of looked) {
    const texts = [...cells]
    // Codes and sentences may look like numbers now and then.
    if (type === undefined && !texts.every(looksLikeNumber)) continue
    const form = numberFormOf(texts)
    if (form === undefined) continue
    if (type !== undefined) {
      if (takesComma && form.group === '' && form.unit === '') continue
      forms.set(at, form)
      notes.push(`Numbers in ${visible(name)} are written as in ${shownForm(form)}`)
      continue
    }
    const values = showsCells
      ? `, such as ${texts
          .slice(0, 2)
          .map(text => visible(text))
          .join(' and ')}`
      : ''
    // The option separates its columns by commas.
    const next = name.includes(',') ? '' : `. To load its numbers, pass --types ${visible(name)}:double`
    notes.push(`${visible(name)} stays text${values}${next}`)
  }
  return { forms, notes }
}
