import type { Instance, Row } from '../../../route/servicenow/instance.js'
import { type EncodedQuery, fieldsOf, ignored, parseQuery } from './encoded-query.js'
import { askPage, pageSize, type TablePage } from './table-page.js'
import { bySysId, keyFields, type TimeField } from './row.js'
import { nextVisible } from './walk-table.js'

const ROWS = 20

interface TableProbing {
  readonly instance: Instance
  readonly table: string
  readonly query: EncodedQuery
  readonly fields: readonly string[]
  readonly signal: AbortSignal
}

interface Probed {
  /** Undefined if the rows show no time of change. */
  readonly time: TimeField | undefined
  /** The instance's clock. */
  readonly date: number
  readonly notes: readonly string[]
}

/**
 * Checks that some rows of the table have the requested fields. The platform ignores a condition on a missing field,
 * and then returns more rows. Throws SluiceError SERVICENOW_QUERY_IGNORED.
 */
export async function probeTable(probing: TableProbing): Promise<Probed> {
  const { table, query, fields } = probing
  const named = [...fieldsOf(query).filter(isProper), ...fields]
  const references = named.filter(isBehind).map(referenceOf)
  const { rows, date } = await someRows(probing, [...new Set([...keyFields, ...references, ...named])])
  if (rows.length === 0) {
    const note = `this user sees no row of ${table}, so Sluice cannot check the query and the fields`
    return { time: 'sys_updated_on', date, notes: named.length === 0 ? [] : [note] }
  }
  if (!rows.every(row => 'sys_id' in row))
    throw ignored(probing, 'the field sys_id', 'rows come without it, so Sluice cannot distinguish them')
  for (const field of named) {
    if (rows.some(row => field in row) || (await isEmptyReference(probing, field, rows))) continue
    throw ignored(probing, partOf(query, field), `there is no field ${field}, or the user cannot read it`)
  }
  return { time: timeField(rows), date, notes: [] }
}

/** Returns rows that the user may see, without the query. Returns none if the first rows are hidden. */
async function someRows({ instance, table, signal }: TableProbing, fields: readonly string[]): Promise<TablePage> {
  const request = { table, query: bySysId.orderBy, limit: ROWS, fields }
  const first = await askPage(instance, request, signal)
  if (first.rows.length > 0 || (first.total ?? 0) <= ROWS) return first
  const order = { order: bySysId, time: 'sys_updated_on', size: pageSize(5000) } as const
  const visible = await nextVisible({ ...order, table, instance, query: parseQuery(''), signal }, 3)
  if (visible === undefined) return first
  return await askPage(instance, { ...request, query: `${bySysId.condition(visible)}^${bySysId.orderBy}` }, signal)
}

/** The platform may omit the fields behind a reference that is empty in every row. Then one row with a reference is enough. */
async function isEmptyReference(
  { instance, table, signal }: TableProbing,
  field: string,
  rows: readonly Row[],
): Promise<boolean> {
  const reference = referenceOf(field)
  if (!isBehind(field) || !rows.some(row => reference in row)) return false
  const query = `${reference}ISNOTEMPTY^${bySysId.orderBy}`
  const found = await askPage(instance, { table, query, limit: ROWS, fields: ['sys_id', reference, field] }, signal)
  return found.rows.length === 0 || found.rows.some(row => field in row)
}

function isBehind(field: string): boolean {
  return field.indexOf('.') > 0
}

/** `caller_id` of `caller_id.name`. */
function referenceOf(field: string): string {
  return field.slice(0, field.indexOf('.'))
}

/** Rows that never change have only the time of creation. */
function timeField(rows: readonly Row[]): TimeField | undefined {
  const fields = ['sys_updated_on', 'sys_created_on'] as const
  return fields.find(field => rows.some(row => field in row && row[field] !== ''))
}

/** Conditions may use names that are not fields. */
function isProper(field: string): boolean {
  return !field.startsWith('variables.') && field !== 'sys_tags'
}

function partOf({ parts }: EncodedQuery, field: string): string {
  const condition = parts.flatMap(({ all }) => all.flat()).find(one => one.field === field)
  return condition === undefined ? `the field ${field}` : condition.text
}
