import type { Row } from './row.js'

/** A block is divided in two at this length: short enough to move, long enough that there are few. */
const BLOCK = 1024

/** The rows of a table in the order of some fields, kept in blocks as they come and go. */
export class SortedRows {
  readonly fields: readonly [string, ...string[]]
  /** In order, none empty. */
  #blocks: Row[][] = []
  /** Rows that came many at once, and are put in order when somebody asks. */
  #unsorted: Row[] = []

  /** The last of the fields must be unique, so that there is one order. */
  constructor(fields: readonly [string, ...string[]]) {
    this.fields = fields
  }

  get length(): number {
    return this.#sorted().reduce((sum, block) => sum + block.length, 0)
  }

  /** Adds many rows, none of which is there yet. */
  addAll(rows: readonly Row[]): void {
    this.#unsorted = [...this.#unsorted, ...rows]
  }

  add(row: Row): void {
    const blocks = this.#sorted()
    const at = Math.min(
      search(blocks, block => this.#isBehind(block, row)),
      Math.max(0, blocks.length - 1),
    )
    const block = blocks[at]
    if (!block) return void blocks.push([row])
    block.splice(this.#placeIn(block, row), 0, row)
    if (block.length > BLOCK) blocks.splice(at, 1, block.slice(0, BLOCK / 2), block.slice(BLOCK / 2))
  }

  remove(row: Row): void {
    const blocks = this.#sorted()
    const at = search(blocks, block => this.#isBehind(block, row))
    const block = blocks[at]
    const place = block ? this.#placeIn(block, row) : 0
    if (block?.[place] !== row) return
    block.splice(place, 1)
    if (block.length === 0) blocks.splice(at, 1)
  }

  /** Returns the first place whose first field is at least this value, or with `after`, is greater. */
  placeOf(value: string, after = false): number {
    const [field] = this.fields
    const isReached = (row: Row | undefined): boolean => {
      const own = row?.[field] ?? ''
      return after ? own > value : own >= value
    }
    const blocks = this.#sorted()
    const at = search(blocks, block => isReached(block.at(-1)))
    const before = blocks.slice(0, at).reduce((sum, block) => sum + block.length, 0)
    return before + search(blocks[at] ?? [], isReached)
  }

  /** Yields the rows at the places from `from` up to, but not including, `to`. */
  *between(from: number, to: number): Generator<Row> {
    let start = 0
    for (const block of this.#sorted()) {
      const [first, last] = [Math.max(0, from - start), Math.min(block.length, to - start)]
      for (let at = first; at < last; at++) yield block[at] as Row
      start += block.length
      if (start >= to) return
    }
  }

  #sorted(): Row[][] {
    if (this.#unsorted.length === 0) return this.#blocks
    const rows = [...this.#blocks.flat(), ...this.#unsorted].sort((one, other) => this.#compare(one, other))
    this.#unsorted = []
    this.#blocks = []
    for (let at = 0; at < rows.length; at += BLOCK) this.#blocks.push(rows.slice(at, at + BLOCK))
    return this.#blocks
  }

  /** Whether the row's place is in this block, or before it. */
  #isBehind(block: readonly Row[], row: Row): boolean {
    const last = block.at(-1)
    return last !== undefined && this.#compare(last, row) >= 0
  }

  #placeIn(block: readonly Row[], row: Row): number {
    return search(block, other => this.#compare(other, row) >= 0)
  }

  #compare(one: Row, other: Row): number {
    for (const field of this.fields) {
      const [left, right] = [one[field] ?? '', other[field] ?? '']
      if (left !== right) return left < right ? -1 : 1
    }
    return 0
  }
}

/** Returns the first place that `holds`. It must hold for every later place too. */
function search<T>(items: readonly T[], holds: (item: T) => boolean): number {
  let from = 0
  let to = items.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if (holds(items[middle] as T)) to = middle
    else from = middle + 1
  }
  return from
}
