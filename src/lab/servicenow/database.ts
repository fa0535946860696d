import { randomBytes } from 'node:crypto'
import type { PlatformClock } from './clock.js'
import { type TableShape, tables } from './dictionary.js'
import { applyIncidentRules } from './incident-rules.js'
import type { Row } from './row.js'
import { Table } from './table.js'
import { formatTimestamp } from './timestamp.js'

export type Values = Readonly<Record<string, string>>

/** Throws if a row must not become this. */
export type Check = (next: Row) => void

/** The platform's tables, and what inserting and updating mean there. */
export class Database {
  readonly #tables = new Map<string, Table>()
  readonly #clock: PlatformClock

  constructor(clock: PlatformClock) {
    this.#clock = clock
    for (const [name, shape] of Object.entries(tables)) this.create(name, shape)
  }

  table(name: string): Table | undefined {
    return this.#tables.get(name)
  }

  /** A new table, with its fields in sys_dictionary. */
  create(name: string, shape: TableShape): Table {
    const table = new Table(name, shape)
    this.#tables.set(name, table)
    const dictionary = this.#tables.get('sys_dictionary')
    if (dictionary === table) for (const each of this.#tables.values()) this.#describe(each, dictionary)
    else if (dictionary) this.#describe(table, dictionary)
    return table
  }

  /** Inserts a row. Ignores unknown fields, and sets the system fields. */
  insert(table: Table, values: Values, by: string, check?: Check): Row {
    const inserted = this.prepare(table, values, by)
    check?.(inserted)
    table.put(inserted)
    return inserted
  }

  /** Returns the row that `insert` would insert now. */
  prepare(table: Table, values: Values, by: string): Row {
    const now = formatTimestamp(this.#clock.now())
    const made = {
      ...table.template,
      ...(table.fields.has('number') && { number: table.nextNumber() }),
      ...(table.fields.has('opened_at') && { opened_at: now }),
    }
    const row = this.#changed(table, made, values, by, now)
    const system = { sys_id: newId(), sys_created_on: now, sys_created_by: by, sys_updated_on: now, sys_updated_by: by }
    return { ...row, ...system, sys_mod_count: '0' }
  }

  /** Updates a row. If nothing changes, the row keeps its time of update. */
  update(table: Table, row: Row, values: Values, by: string, check?: Check): Row {
    const now = formatTimestamp(this.#clock.now())
    const changed = this.#changed(table, row, values, by, now)
    if ([...table.fields.keys()].every(field => changed[field] === row[field])) return row
    const count = String(Number(row.sys_mod_count) + 1)
    const updated = { ...changed, sys_updated_on: now, sys_updated_by: by, sys_mod_count: count }
    check?.(updated)
    table.put(updated)
    return updated
  }

  #changed(table: Table, row: Row, values: Values, by: string, now: string): Row {
    const next: Record<string, string> & Row = { ...row }
    for (const [field, value] of Object.entries(values)) {
      const known = table.fields.get(field)
      if (!known || field.startsWith('sys_')) continue
      const isEntry = known.type === 'journal_input'
      if (isEntry && value === '') continue
      next[field] = isEntry ? `${now} - ${by}\n${value}\n\n${row[field] ?? ''}` : value
    }
    if (table.name === 'incident') applyIncidentRules(row, next, now)
    return next
  }

  #describe(table: Table, dictionary: Table): void {
    for (const [element, { type, reference = '' }] of table.fields) {
      this.insert(dictionary, { name: table.name, element, internal_type: type, reference }, 'system')
    }
  }
}

function newId(): string {
  return randomBytes(16).toString('hex')
}
