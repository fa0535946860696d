import type { Instance, TableAnswer, TableRequest } from '../../../src/route/servicenow/instance.js'
import { cutOffPage } from '../../../src/features/tables/reading/table-page.js'

export type FakeRow = Record<string, string>

/** A table in memory that is asked as the platform's is, as far as reading goes. Time is what the test says it is. */
export class FakeInstance implements Instance {
  readonly display = 'https://instance.example'
  readonly rows = new Map<string, FakeRow>()
  readonly hidden = new Set<string>()
  /** Conditions on these are left out without a word. */
  readonly unknown = new Set<string>()
  readonly calls: TableRequest[] = []
  /** Milliseconds since the epoch. */
  now = Date.UTC(2026, 10, 21, 12)
  ignoresOrder = false
  /** More rows than that are given up. */
  mostRows = Infinity
  /** Runs between two answers. */
  before: (call: number) => void = () => undefined
  /** Runs when it is known which rows a page has, and before they are read. */
  during: (rows: readonly FakeRow[]) => void = () => undefined

  insert(id: string, more: FakeRow = {}): void {
    const time = at(this.now)
    this.rows.set(id, { sys_id: id, sys_created_on: time, sys_updated_on: time, sys_mod_count: '0', ...more })
  }

  update(id: string, more: FakeRow = {}): void {
    const row = this.rows.get(id)
    if (row === undefined) throw new Error(`no row ${id}`)
    const changes = String(Number(row.sys_mod_count) + 1)
    this.rows.set(id, { ...row, sys_updated_on: at(this.now), sys_mod_count: changes, ...more })
  }

  async call(request: TableRequest): Promise<TableAnswer> {
    this.calls.push(request)
    this.before(this.calls.length)
    await Promise.resolve()
    const { query = {}, table } = request
    const limit = Number(query.sysparm_limit)
    const offset = Number(query.sysparm_offset ?? '0')
    const found = this.#find(query.sysparm_query ?? '')
    const window = found.slice(offset, offset + limit)
    if (window.length > this.mostRows)
      throw cutOffPage(
        this.display,
        { table, query: '', limit },
        'Transaction cancelled: maximum execution time exceeded',
      )
    const fields = query.sysparm_fields?.split(',')
    this.during(window)
    const result = window
      .map(row => this.rows.get(row.sys_id ?? '') ?? row)
      .filter(row => !this.hidden.has(row.sys_id ?? ''))
      .map(row => (fields === undefined ? row : pick(row, fields)))
      .map(row => (query.sysparm_display_value === 'all' ? bothForms(row) : row))
    const next = offset + limit < found.length ? { link: '<https://elsewhere.example/next>;rel="next"' } : {}
    const total = query.sysparm_no_count === 'true' ? {} : { 'x-total-count': String(found.length) }
    const headers = { date: new Date(this.now).toUTCString(), ...total, ...next }
    return { status: 200, headers, result }
  }

  #find(query: string): FakeRow[] {
    const orders = [...query.matchAll(/\^?ORDERBY(\w+)/g)].map(([, field = '']) => field)
    const parts = query.replaceAll(/\^?ORDERBY\w+/g, '').split('^NQ')
    const found = [...this.rows.values()].filter(row => parts.some(part => this.#meets(row, part)))
    return this.ignoresOrder ? found : found.sort((a, b) => compare(a, b, orders))
  }

  #meets(row: FakeRow, part: string): boolean {
    if (part === '') return true
    const all: string[][] = []
    for (const piece of part.split('^')) {
      if (piece.startsWith('OR')) all.at(-1)?.push(piece.slice(2))
      else all.push([piece])
    }
    return all.every(or => or.some(condition => this.#holds(row, condition)))
  }

  #holds(row: FakeRow, condition: string): boolean {
    const [, field = '', operator, value = ''] = /^([a-z_.]+)(>=|>|=|STARTSWITH|ISNOTEMPTY)(.*)$/.exec(condition) ?? []
    if (operator === undefined || this.unknown.has(field)) return true
    const cell = row[field] ?? ''
    if (operator === '=') return cell === value
    if (operator === '>') return cell > value
    if (operator === '>=') return cell >= value
    return operator === 'ISNOTEMPTY' ? cell !== '' : cell.startsWith(value)
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/** An id that sorts as its number does. */
export function idOf(number: number): string {
  return number.toString(16).padStart(32, '0')
}

function at(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

function pick(row: FakeRow, fields: readonly string[]): FakeRow {
  return Object.fromEntries(Object.entries(row).filter(([name]) => fields.includes(name)))
}

function bothForms(row: FakeRow): Record<string, { display_value: string; value: string }> {
  const forms = Object.entries(row).map(([name, value]) => [name, { display_value: `shown ${value}`, value }] as const)
  return Object.fromEntries(forms)
}

function compare(a: FakeRow, b: FakeRow, orders: readonly string[]): number {
  for (const field of orders) {
    const [one = '', other = ''] = [a[field], b[field]]
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}
