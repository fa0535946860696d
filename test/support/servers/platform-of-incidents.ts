/** The table of incidents as the platform keeps it, without a server: what the alarm asks of it, and the traps in that. */
import { failure, SluiceError } from '../../../src/base/failure/failure.js'
import type { Instance, TableAnswer, TableRequest } from '../../../src/route/servicenow/instance.js'

export type Row = Record<string, string>

export class IncidentPlatform implements Instance {
  readonly display = 'https://instance.example'
  readonly rows: Row[] = []
  readonly requests: TableRequest[] = []
  /** Parts of a query that are left out without a word: those that hold this text. */
  ignored: string | undefined
  /** Fields that may not be written, and are left as they are without a word. */
  unwritable: readonly string[] = []
  /** Called before a request is done; what it throws is the refusal. */
  before: (request: TableRequest) => void = () => undefined
  /** Called when it is done; what it throws is the lost answer. */
  after: (request: TableRequest) => void = () => undefined

  async call(request: TableRequest): Promise<TableAnswer> {
    this.requests.push(request)
    this.before(request)
    const result = this.#done(request)
    this.after(request)
    return await Promise.resolve({ status: 200, headers: {}, result })
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  insert(values: Row): Row {
    const number = this.rows.length + 1
    const row = {
      sys_id: String(number).padStart(32, '0'),
      number: `INC${String(10_000 + number)}`,
      sys_created_on: `2026-11-21 10:00:${String(number).padStart(2, '0')}`,
      state: '1',
      correlation_id: '',
      short_description: '',
      description: '',
      assignment_group: '',
      ...values,
    }
    this.rows.push(row)
    return row
  }

  #done({ method, sysId, query = {}, body = {} }: TableRequest): unknown {
    const fields = (query['sysparm_fields'] ?? '').split(',')
    const shown = (row: Row) => Object.fromEntries(fields.map(name => [name, row[name] ?? '']))
    const values = Object.fromEntries(Object.entries(body as Row).filter(([name]) => !this.unwritable.includes(name)))
    if (method === 'POST') return shown(this.insert(values))
    const row = this.rows.find(one => one['sys_id'] === sysId)
    if (method === 'GET' && sysId === undefined) return this.#matching(query['sysparm_query'] ?? '').map(shown)
    if (row === undefined) throw new Error(`no record ${sysId}`)
    if (method === 'PATCH') Object.assign(row, values)
    return shown(row)
  }

  /** Newest first, unless it is asked otherwise. */
  #matching(query: string): Row[] {
    const parts = query.split('^').filter(part => this.ignored === undefined || !part.includes(this.ignored))
    const matched = this.rows.filter(row => parts.every(part => matches(row, part)))
    return parts.some(part => part.startsWith('ORDERBY')) ? matched : matched.toReversed()
  }
}

/** Upper and lower case are the same. */
function matches(row: Row, part: string): boolean {
  if (part.startsWith('ORDERBY')) return true
  const [, name = '', operator, value = ''] = /^(\w+)(!?=)(.*)$/.exec(part) ?? []
  const isEqual = row[name]?.toLowerCase() === value.toLowerCase()
  return operator === '=' ? isEqual : !isEqual
}

/** What the client throws when a connection ends before the answer, and it is not known whether it was carried out. */
export function lostAnswer(): SluiceError {
  const known = failure('SERVICENOW_UNREACHABLE', { instance: 'https://instance.example', observed: 'ECONNRESET' })
  return new SluiceError({ ...known, evidence: { ...known.evidence, outcome: 'unknown' } })
}
