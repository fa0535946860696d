/** Tables of ServiceNow, whose rows are the lines of a story. The lab has the instance. */
import type { Lab } from '../../src/lab/index.js'
import type { Line } from './facts.js'
import { partOf } from './formats.js'

export interface StoryTables {
  /** What a command needs to log in. */
  readonly env: Readonly<Record<string, string>>
  /** Inserts, updates and deletes rows until the table has these lines. A line that is no document is no row. */
  put(table: string, lines: readonly Line[]): void
  /** Lets some answers fail. */
  plant(kind: string, after: number, times: number): void
  heal(): void
}

const string = { type: 'string' } as const

export function openTables({ control, line }: Lab): StoryTables {
  const platform = control.servicenow
  /** The row of each line of a table. */
  const tables = new Map<string, Map<number, { readonly id: string; readonly v: number }>>()
  const rowsOf = (table: string) => {
    const known = tables.get(table)
    if (known !== undefined) return known
    platform.createTable(table, { fields: { n: string, v: string, part: string } })
    const rows = new Map<number, { readonly id: string; readonly v: number }>()
    tables.set(table, rows)
    return rows
  }
  return {
    env: { SERVICENOW_INSTANCE_URL: line.servicenow.httpUrl, SERVICENOW_GRANT: 'basic' },
    put: (table, lines) => {
      const rows = rowsOf(table)
      const good = lines.filter(({ isBad }) => !isBad)
      for (const [n, { id }] of rows) {
        if (good.some(one => one.n === n)) continue
        platform.delete(table, id)
        rows.delete(n)
      }
      for (const { n, v } of good) {
        const row = rows.get(n)
        const values = { n: String(n), v: String(v), part: partOf(n) }
        if (row === undefined) rows.set(n, { id: platform.insert(table, values).sys_id, v })
        else if (row.v !== v) rows.set(n, { id: platform.update(table, row.id, values).sys_id, v })
      }
    },
    plant: (kind, after, times) => {
      if (kind === 'server fails') platform.plant({ answer: { api: 'table', after, times, status: 503 } })
      if (kind === 'server cuts') platform.plant({ cut: { api: 'table', after, times } })
    },
    heal: () => platform.heal(),
  }
}
