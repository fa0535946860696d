import type { Operation } from './acl.js'
import { type Answer, Refused, failed, json, noRecord, noTable, server } from './answers.js'
import type { Call } from './call.js'
import type { Values } from './database.js'
import { missingFields } from './incident-rules.js'
import { answerList } from './list-rows.js'
import { presenter } from './present-row.js'
import { presentationOf } from './read-parameters.js'
import type { Row } from './row.js'
import type { Table } from './table.js'

const operationOf: Readonly<Record<string, Operation>> = {
  GET: 'read',
  POST: 'insert',
  PUT: 'update',
  PATCH: 'update',
  DELETE: 'delete',
}

/** Answers /api/now/table/{table}[/{sys_id}] for an authenticated user. Throws Refused. */
export function answerTable(call: Call, username: string, name: string, id: string | undefined): Answer {
  const { platform, method } = call
  const table = platform.database.table(name)
  if (!table) return noTable(name)
  const operation = operationOf[method]
  const takesId = method !== 'POST' && (method !== 'GET' || id !== undefined)
  if (!operation || takesId !== (id !== undefined)) return failed(405, 'Method not supported', null)
  if (platform.acl.denies(username, table, operation)) return denied(operation)
  if (id === undefined) return method === 'GET' ? answerList(call, username, table) : insert(call, username, table)
  const row = table.get(id)
  if (!row || platform.acl.hides(username, table)(row)) return noRecord()
  if (operation === 'read') return answerRow(call, table, row)
  return operation === 'delete' ? remove(call, table, row) : update(call, username, table, row)
}

function insert(call: Call, username: string, table: Table): Answer {
  const row = call.platform.database.insert(table, valuesOf(call), username, next => {
    checkRules(call, table, 'insert', next)
  })
  return answerRow(call, table, row, 201, { location: `${call.url.origin}/api/now/table/${table.name}/${row.sys_id}` })
}

/** PUT and PATCH are the same: fields that are not named stay as they are. */
function update(call: Call, username: string, table: Table, row: Row): Answer {
  const updated = call.platform.database.update(table, row, valuesOf(call), username, next => {
    checkRules(call, table, 'update', next)
  })
  return answerRow(call, table, updated)
}

function remove(call: Call, table: Table, row: Row): Answer {
  checkRules(call, table, 'delete', row)
  table.delete(row)
  return { status: 204, headers: server, body: '' }
}

function answerRow(call: Call, table: Table, row: Row, status = 200, headers = {}): Answer {
  const present = presenter(call.platform.database, table, presentationOf(call.url))
  return json(status, { result: present(row) }, headers)
}

function checkRules({ platform }: Call, table: Table, operation: Operation, next: Row): void {
  const rule = platform.acl.abortedBy(table, operation, next)
  if (rule !== undefined) {
    const detail = `Operation against file '${table.name}' was aborted by Business Rule '${rule}^${next.sys_id}'. Business Rule Stack:${rule}`
    throw new Refused(failed(403, 'Operation Failed', detail))
  }
  const missing =
    table.name === 'incident' && operation !== 'delete' && platform.hasDataPolicy ? missingFields(next) : []
  if (missing.length > 0) {
    const detail = `Data Policy Exception: The following fields are mandatory: ${missing.join(', ')}`
    throw new Refused(failed(403, 'Operation Failed', detail))
  }
}

function denied(operation: Operation): Answer {
  if (operation === 'read') return failed(403, 'Insufficient rights to query records', null)
  const what = `${operation[0]?.toUpperCase()}${operation.slice(1)}`
  return failed(403, 'Operation Failed', `ACL Exception ${what} Failed due to security constraints`)
}

function valuesOf({ body }: Call): Values {
  let parsed: unknown
  try {
    parsed = JSON.parse(body === '' ? '{}' : body)
  } catch {
    // Refused below.
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw new Refused(failed(400, 'Exception while reading request', 'The payload is not valid JSON.'))
  }
  const entries = Object.entries(parsed).filter(([, value]) => value === null || typeof value !== 'object')
  return Object.fromEntries(entries.map(([field, value]) => [field, value === null ? '' : String(value)]))
}
