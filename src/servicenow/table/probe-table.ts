import type { Instance } from '../instance.js'
import { type EncodedQuery, fieldsOf, ignored, parseQuery } from './encoded-query.js'
import { askPage, pageSize, type TablePage } from './table-page.js'
import { bySysId, keyFields, type Row, type TimeField } from './row.js'
import { nextVisible } from './walk-table.js'

const ROWS = 20

export interface TableProbing {
  readonly instance: Instance
  readonly table: string
  readonly query: EncodedQuery
  readonly fields: readonly string[]
  readonly signal: AbortSignal
}

export interface Probed {
  /** The field that shows when a row changed. Undefined if there is none. */
  readonly time: TimeField | undefined
  /** The instance's clock, in milliseconds since the epoch. */
  readonly date: number
  /** Notes about fields that could not be checked. */
  readonly notes: readonly string[]
}

/**
 * Checks before the reading that a table has the requested fields. The platform drops a condition on a missing field
 * and answers with more rows. Some rows are asked for these fields, and a field that no row has is missing. Throws
 * SluiceError SERVICENOW_QUERY_IGNORED.
 */
export async function probeTable(probing: TableProbing): Promise<Probed> {
  const { instance, table, query, fields } = probing
  const named = [...fieldsOf(query).filter(isProper), ...fields]
  const references = named.filter(isBehind).map(referenceOf)
  const { rows, date } = await someRows(probing, [...new Set([...keyFields, ...references, ...named])])
  if (rows.length === 0) {
    const note = `this user sees no row of ${table}, so Sluice cannot check the query and the fields`
    return { time: 'sys_updated_on', date, notes: named.length === 0 ? [] : [note] }
  }
  if (!rows.every(row => 'sys_id' in row))
    throw ignored(
      instance.display,
      table,
      'the field sys_id',
      'rows come without it, and Sluice cannot tell them apart',
    )
  for (const field of named) {
    if (rows.some(row => field in row) || (await isEmptyReference(probing, field, rows))) continue
    throw ignored(
      instance.display,
      table,
      partOf(query, field),
      `there is no field ${field}, or the user may not read it`,
    )
  }
  return { time: timeField(rows), date, notes: [] }
}

/** Returns rows that the user may see, whatever the query finds. Returns none if they do not come soon. */
async function someRows({ instance, table, signal }: TableProbing, fields: readonly string[]): Promise<TablePage> {
  const request = { table, query: bySysId.orderBy, limit: ROWS, fields }
  const first = await askPage(instance, request, signal)
  if (first.rows.length > 0 || (first.total ?? 0) <= ROWS) return first
  const order = { order: bySysId, from: undefined, time: 'sys_updated_on', size: pageSize(5000) } as const
  const visible = await nextVisible({ ...order, table, instance, query: parseQuery(''), signal }, 3, () => undefined)
  if (visible === undefined) return first
  return await askPage(instance, { ...request, query: `${bySysId.condition(visible)}^${bySysId.orderBy}` }, signal)
}

/**
 * If a reference is empty in every row, the platform may omit the fields behind it. Then look for a row that has one.
 */
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

/** Rows that never change have no time of a change. */
function timeField(rows: readonly Row[]): TimeField | undefined {
  const fields = ['sys_updated_on', 'sys_created_on'] as const
  return fields.find(field => rows.some(row => field in row && row[field] !== ''))
}

/** Names like this stand for no field of the rows. */
function isProper(field: string): boolean {
  return !field.startsWith('variables.') && field !== 'sys_tags'
}

function partOf({ parts }: EncodedQuery, field: string): string {
  const condition = parts.flatMap(({ all }) => all.flat()).find(one => one.field === field)
  return condition === undefined ? `the field ${field}` : condition.text
}
