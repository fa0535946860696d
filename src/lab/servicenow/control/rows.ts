import { createHash } from 'node:crypto'
import type { Values } from '../database.js'
import type { TableShape } from '../dictionary.js'
import { fieldReader } from '../field-reader.js'
import { matcher } from '../matcher.js'
import { NotThereError } from '../not-there.js'
import type { Platform } from '../platform.js'
import { parseQuery } from '../query.js'
import type { Seed } from '../seed.js'
import type { Row } from '../row.js'
import type { Table } from '../table.js'

/** The user who changes rows here. */
const CONTROL_USER = 'control'

/** Rows, asked and changed past every rule. */
export interface RowControl {
  /** A new table with these fields beside the system's own. */
  createTable(name: string, shape: TableShape): void
  /** Adds rows that depend only on the seed. 250,000 incidents take about a second. */
  seed(table: string, count: number, options?: Seed): void
  insert(table: string, values: Values): Row
  /** Begins a slow transaction. The row gets the current time, but appears only when the returned function is called. */
  insertLate(table: string, values: Values): () => Row
  /** Values that change nothing leave the time of update as it is. */
  update(table: string, id: string, values: Values): Row
  delete(table: string, id: string): void
  /** Puts a row there as it is, system fields and all: one that was deleted. */
  restore(table: string, values: Values): void
  row(table: string, id: string): Row | undefined
  /** The rows that an encoded query means, or all, in the order in which they were inserted. Rows never change in place. */
  rows(table: string, query?: string): readonly Row[]
  count(table: string): number
  /** Attaches a file to a row. Returns the attachment's row. `isDenied`: it is listed, but the platform denies access to its file. */
  attach(table: string, id: string, file: NewAttachment): Row
}

interface NewAttachment {
  readonly fileName: string
  readonly content: string | Buffer
  readonly isDenied?: boolean
  /** Instead of the true ones. */
  readonly size?: number
  readonly hash?: string
}

export function rowControl(platform: Platform): RowControl {
  const { database } = platform
  return {
    createTable: (name, shape) => void database.create(name, shape),
    seed: (table, count, options) => platform.seed(table, count, options),
    insert: (table, values) => database.insert(platform.table(table), values, CONTROL_USER),
    insertLate(name, values) {
      const table = platform.table(name)
      const row = database.prepare(table, values, CONTROL_USER)
      return () => {
        table.put(row)
        return row
      }
    },
    update: (table, id, values) => database.update(platform.table(table), existing(table, id), values, CONTROL_USER),
    delete: (table, id) => platform.table(table).delete(existing(table, id)),
    restore(name, values) {
      const table = platform.table(name)
      table.put({ ...table.template, ...values })
    },
    row: (table, id) => platform.table(table).get(id),
    rows: (table, query) => rowsOf(platform, platform.table(table), query),
    count: table => platform.table(table).size,
    attach(table, id, { fileName, content, isDenied = false, size, hash }) {
      const file = Buffer.from(content)
      const row = database.insert(
        platform.table('sys_attachment'),
        {
          table_name: table,
          table_sys_id: existing(table, id).sys_id,
          file_name: fileName,
          content_type: 'application/octet-stream',
          size_bytes: String(size ?? file.length),
          hash: hash ?? createHash('sha256').update(file).digest('hex'),
        },
        CONTROL_USER,
      )
      if (!isDenied) platform.files.set(row.sys_id, file)
      return row
    },
  }

  function existing(table: string, id: string): Row {
    const row = platform.table(table).get(id)
    if (!row) throw new NotThereError(`no such row of ${table}: ${id}`)
    return row
  }
}

function rowsOf({ database }: Platform, table: Table, query: string | undefined): readonly Row[] {
  if (query === undefined) return [...table.rows()]
  const reader = fieldReader(database, table)
  const parsed = parseQuery(query, field => reader.fieldOf(field) !== undefined)
  if (parsed.invalid.length > 0) throw new Error(`not understood in the query: ${parsed.invalid.join(', ')}`)
  return [...table.rows()].filter(matcher(parsed.alternatives, reader))
}
