import { visible } from '../../../base/text/shown.js'

/** The names of all columns, and what a person should know about those that the file does not name. */
export interface NamedColumns {
  readonly names: readonly string[]
  /** Columns whose names Sluice gave. Their empty cells are never written. */
  readonly given: ReadonlySet<number>
  /** One sentence, or none. */
  readonly note: string
}

/**
 * Gives each column a name of its own. R and pandas write no name above the names of rows, spreadsheets leave delimiters at the end of
 * rows, and exports of joined tables repeat names. `hasRowNames`: each row has one cell more than the first one, in front. `isUnused`:
 * whether nothing stands in a column, so that its name is of no use to a person.
 */
export function nameColumns(
  header: readonly string[],
  hasRowNames: boolean,
  isUnused: (column: number) => boolean = () => false,
): NamedColumns {
  const written = hasRowNames ? ['', ...header] : header
  const taken = new Set(written)
  const given = new Set<number>()
  const changed: string[] = []
  let nameless = 0
  const seen = new Set<string>()
  const free = freeNames(taken)
  const names = written.map((name, at) => {
    if (name !== '' && !seen.has(name)) {
      seen.add(name)
      return name
    }
    const own = free(name === '' ? (at === 0 ? 'row' : `column${at + 1}`) : name, name !== '')
    taken.add(own)
    if (name === '') given.add(at)
    if (name === '' && isUnused(at)) return own
    if (name === '') nameless += 1
    changed.push(`column ${at + 1} ${visible(own)}`)
    return own
  })
  return { names, given, note: noteOf(changed, nameless) }
}

/** Returns a function that returns a name, or the name with the least number behind it that makes it free. */
function freeNames(taken: ReadonlySet<string>): (name: string, isTaken: boolean) => string {
  // A file may repeat one name 100,000 times.
  const next = new Map<string, number>()
  return (name, isTaken) => {
    if (!isTaken && !taken.has(name)) return name
    let number = next.get(name) ?? 2
    while (taken.has(`${name}_${number}`)) number += 1
    next.set(name, number + 1)
    return `${name}_${number}`
  }
}

/** Most columns that a note names. */
const NAMED = 5

function noteOf(changed: readonly string[], nameless: number): string {
  if (changed.length === 0) return ''
  const list = changed.slice(0, NAMED).join(', ') + (changed.length > NAMED ? ', …' : '')
  const why =
    nameless === 0
      ? 'The file repeats names'
      : nameless === changed.length
        ? 'Names are missing'
        : 'Names are missing or repeated'
  return `${why}, so Sluice calls ${list}`
}
