/**
 * Matches names with patterns of wildcards. Others choose the names, so the time grows only with the lengths of both. A regular expression
 * with a few stars may take hours for one name.
 */

/** A part of a pattern: one character, any number of characters, or one of several sequences. */
export type GlobPart =
  | { readonly one: CharacterTest }
  | { readonly many: CharacterTest }
  | { readonly either: readonly (readonly GlobPart[])[] }

type CharacterTest = (character: string) => boolean

export const anyCharacter: CharacterTest = () => true
/** What `*` and `?` stand for: a name of a folder or a file ends at a slash. */
export const inOneName: CharacterTest = character => character !== '/'

/** A text that means itself. */
export function literally(text: string): GlobPart[] {
  return Array.from(text, wanted => ({ one: character => character === wanted }))
}

/** Any folders, or none. */
export const anyFolders: GlobPart = { either: [[], [{ many: anyCharacter }, ...literally('/')]] }

/** A place in a pattern. With a test, it takes one character. Without one, it leads on at once. */
interface Place {
  readonly test?: CharacterTest
  readonly to: number[]
}

/** Returns what tells whether the pattern matches a whole name. It follows all ways through the pattern at the same time. */
export function globMatcher(parts: readonly GlobPart[]): (name: string) => boolean {
  const places: Place[] = [{ to: [] }]
  const first = placesOf(parts, END, places)
  /** When a place was last reached: the number of a step. */
  const reached = new Float64Array(places.length)
  let step = 0
  const reach = (from: readonly number[], found: Place[]): void => {
    const open = [...from]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const place = places[at]
      if (place === undefined || reached[at] === step) continue
      reached[at] = step
      if (place.test === undefined) open.push(...place.to)
      else found.push(place)
    }
  }
  return name => {
    step += 1
    let now: Place[] = []
    reach([first], now)
    for (const character of name) {
      step += 1
      const next: Place[] = []
      for (const { test, to } of now) if (test?.(character) === true) reach(to, next)
      if (next.length === 0 && reached[END] !== step) return false
      now = next
    }
    return reached[END] === step
  }
}

/** The place behind the pattern. */
const END = 0

/** Adds the places of parts that lead to `next`. Returns the first one. */
function placesOf(parts: readonly GlobPart[], next: number, places: Place[]): number {
  let to = next
  for (const part of parts.toReversed()) {
    const at = places.length
    if ('one' in part) places.push({ test: part.one, to: [to] })
    else if ('many' in part) places.push({ to: [to, at + 1] }, { test: part.many, to: [at] })
    else {
      const ways: number[] = []
      places.push({ to: ways })
      for (const way of part.either) ways.push(placesOf(way, to, places))
    }
    to = at
  }
  return to
}
