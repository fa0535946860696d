import type { Row } from './row.js'
import { type Field, type TableShape, systemFields } from './dictionary.js'
import { SortedRows } from './sorted-rows.js'

/** The rows of one table, and the two orders in which they can be read from any place on. */
export class Table {
  readonly name: string
  readonly fields: ReadonlyMap<string, Field>
  readonly display: string
  readonly numberPrefix: string | undefined
  readonly byId = new SortedRows(['sys_id'])
  readonly byUpdate = new SortedRows(['sys_updated_on', 'sys_id'])
  /** A row with what a new one has: copying it is the quick way to make many of one form. */
  readonly template: Row
  /** How often it was read in an order that has equals. */
  readsWithTies = 0
  #rows = new Map<string, Row>()
  #lastNumber = 10_000

  constructor(name: string, shape: TableShape) {
    const fields = { ...systemFields, ...shape.fields }
    this.name = name
    this.fields = new Map(Object.entries(fields))
    this.display = shape.display ?? 'sys_id'
    this.numberPrefix = shape.numberPrefix
    const initial = Object.entries(fields).map(([field, { initial: value = '' }]) => [field, value])
    this.template = Object.fromEntries(initial)
  }

  get size(): number {
    return this.#rows.size
  }

  /** In the order in which they were inserted. */
  rows(): IterableIterator<Row> {
    return this.#rows.values()
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id)
  }

  /** The number of the next row. */
  nextNumber(): string {
    return this.numberPrefix === undefined ? '' : this.numberPrefix + String(++this.#lastNumber).padStart(7, '0')
  }

  /** Inserts a row, or replaces the row with its sys_id. */
  put(row: Row): void {
    const before = this.#rows.get(row.sys_id)
    if (before) for (const order of [this.byId, this.byUpdate]) order.remove(before)
    this.#rows.set(row.sys_id, row)
    for (const order of [this.byId, this.byUpdate]) order.add(row)
  }

  /** Inserts many rows, none of which is there yet. */
  putAll(rows: readonly Row[]): void {
    for (const row of rows) this.#rows.set(row.sys_id, row)
    for (const order of [this.byId, this.byUpdate]) order.addAll(rows)
  }

  delete(row: Row): void {
    this.#rows.delete(row.sys_id)
    for (const order of [this.byId, this.byUpdate]) order.remove(row)
  }
}
