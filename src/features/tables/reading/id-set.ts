/**
 * A set of row ids with 16 bytes for each: ten million fit in 160 MB. Ids that are not 32 hex digits are kept as text.
 * Ids that arrive in order need no sorting.
 */
const WORDS = 4
const DIGITS_OF_WORD = 8
const FIRST_ROOM = 1 << 12
/** Ids of one segment: 4 MB. */
const MOST_ROOM = 1 << 18

const regular = /^[0-9a-f]{32}$/

export function isSysId(id: string): boolean {
  return regular.test(id)
}

type Words = readonly [number, number, number, number]

export class IdSet {
  readonly #segments: Segment[] = []
  readonly #irregular = new Set<string>()
  #size = 0

  /** Counts every added id. An id added twice counts twice. */
  get size(): number {
    return this.#size + this.#irregular.size
  }

  add(id: string): void {
    if (!isSysId(id)) return void this.#irregular.add(id)
    const last = this.#segments.at(-1)
    if (last === undefined || last.isFull) {
      this.#segments.push(new Segment(Math.min(MOST_ROOM, Math.max(FIRST_ROOM, this.#size))))
    }
    this.#segments.at(-1)?.add(wordsOf(id))
    this.#size += 1
  }

  has(id: string): boolean {
    if (!isSysId(id)) return this.#irregular.has(id)
    const words = wordsOf(id)
    return this.#segments.some(segment => segment.has(words))
  }

  *pages(most: number): Generator<readonly string[]> {
    let page: string[] = []
    for (const id of this.#all()) {
      page.push(id)
      if (page.length < most) continue
      yield page
      page = []
    }
    if (page.length > 0) yield page
  }

  *#all(): Generator<string> {
    for (const segment of this.#segments) yield* segment.ids()
    yield* this.#irregular
  }
}

class Segment {
  readonly #room: number
  readonly #words: Uint32Array
  #length = 0
  #isSorted = true

  constructor(room: number) {
    this.#room = room
    this.#words = new Uint32Array(room * WORDS)
  }

  get isFull(): boolean {
    return this.#length === this.#room
  }

  add(words: Words): void {
    if (this.#length > 0 && this.#compare(this.#length - 1, words) > 0) this.#isSorted = false
    this.#words.set(words, this.#length * WORDS)
    this.#length += 1
  }

  has(words: Words): boolean {
    if (!this.#isSorted) this.#sort()
    if (this.#length === 0 || this.#compare(0, words) > 0 || this.#compare(this.#length - 1, words) < 0) return false
    let low = 0
    let high = this.#length - 1
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#compare(middle, words) < 0) low = middle + 1
      else high = middle
    }
    return this.#compare(low, words) === 0
  }

  *ids(): Generator<string> {
    for (let at = 0; at < this.#length; at += 1) yield idOf(this.#at(at))
  }

  #at(place: number): Words {
    const words = this.#words
    const at = place * WORDS
    return [words[at] ?? 0, words[at + 1] ?? 0, words[at + 2] ?? 0, words[at + 3] ?? 0]
  }

  #compare(place: number, words: Words): number {
    for (let at = 0; at < WORDS; at += 1) {
      const difference = (this.#words[place * WORDS + at] ?? 0) - (words[at] ?? 0)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** Needed only if the platform sorts ids in another order. */
  #sort(): void {
    const places = Uint32Array.from({ length: this.#length }, (_, place) => place)
    places.sort((one, other) => this.#compare(one, this.#at(other)))
    const sorted = new Uint32Array(this.#length * WORDS)
    for (const [at, place] of places.entries()) sorted.set(this.#at(place), at * WORDS)
    this.#words.set(sorted)
    this.#isSorted = true
  }
}

function wordsOf(id: string): Words {
  const word = (at: number) => Number.parseInt(id.slice(at * DIGITS_OF_WORD, (at + 1) * DIGITS_OF_WORD), 16)
  return [word(0), word(1), word(2), word(3)]
}

function idOf(words: Words): string {
  return words.map(word => word.toString(16).padStart(DIGITS_OF_WORD, '0')).join('')
}
