/**
 * Remembers how numbers of a document were written, if JavaScript would write one of them otherwise: `1.0`, `10.50`, `1E3`, `-0`. The
 * function gets usual numbers, and one that it leaves untouched is written as it was.
 */
export class Spellings {
  /** Where each number stood. */
  readonly #held = new Map<object, Map<string, Spelling>>()
  /** By name and value, for objects that the function copied. Undefined: the same number is written in several ways under the name. */
  readonly #named = new Map<string, Map<number, string | undefined>>()

  note(holder: object, key: string, value: number, text: string): void {
    const held = this.#held.get(holder) ?? new Map<string, Spelling>()
    this.#held.set(holder, held.set(key, { value, text }))
    const name = nameIn(holder, key)
    const named = this.#named.get(name) ?? new Map<number, string | undefined>()
    const isOther = named.has(value) && named.get(value) !== text
    this.#named.set(name, named.set(value, isOther ? undefined : text))
  }

  /** Returns how a number is to be written. Undefined: as JavaScript writes it. */
  textOf(holder: object, key: string, value: number): string | undefined {
    const held = this.#held.get(holder)
    if (held === undefined) return this.#named.get(nameIn(holder, key))?.get(value)
    const known = held.get(key)
    return known !== undefined && Object.is(known.value, value) ? known.text : undefined
  }
}

interface Spelling {
  readonly value: number
  readonly text: string
}

/** Elements of arrays move when others are left out. */
function nameIn(holder: object, key: string): string {
  return Array.isArray(holder) ? '[]' : `.${key}`
}

/** Finds what may be such a number. Elsewhere it finds more than that. */
const MAY_BE_UNUSUAL = /-0|\.\d*0(?!\d)|\d[eE]|0\.0{6}|[\d.]{16}/

/** Returns whether a document may hold a number that JavaScript would write otherwise. */
export function mayBeUnusual(text: string): boolean {
  return MAY_BE_UNUSUAL.test(text)
}
