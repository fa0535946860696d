/** Finds and changes the incidents of one job, by the key in their correlation id. Never changes any other. */
import { type Failure, fail, SluiceError, isSluiceError } from '../../base/failure/failure.js'
import type { Instance, TableRequest } from '../../route/servicenow/instance.js'

export type Fields = Readonly<Record<string, string>>

/** Stored values. A field that the user may not read is empty. */
export interface Incident {
  readonly sysId: string
  readonly number: string
  readonly values: Fields
}

export interface Incidents {
  readonly display: string
  /**
   * Lists incidents that are neither resolved, closed nor cancelled, oldest first. Throws SluiceError
   * SERVICENOW_QUERY_IGNORED if rows with another key come back, because then no row may be touched.
   */
  open(): Promise<readonly Incident[]>
  /** A lost answer creates no second incident. */
  create(fields: Fields): Promise<Incident>
  /** Repeats a change whose answer was lost only if `isDone` says that the row lacks it. */
  change(incident: Incident, fields: Fields, isDone: (values: Fields) => boolean): Promise<Incident>
}

const CORRELATION_DISPLAY = 'sluice'
/** Resolved, closed, cancelled. The platform still calls a resolved incident active. */
const over: readonly string[] = ['6', '7', '8']
const MOST = '20'

export function incidentsOf(instance: Instance, key: string, signal: AbortSignal): Incidents {
  const call = async (request: Omit<TableRequest, 'table' | 'signal'>, more: readonly string[] = []) => {
    const fields = [...new Set([...always, ...more])].join(',')
    const query = { ...asStored, sysparm_fields: fields, ...request.query }
    const { result } = await instance.call({ ...request, table: 'incident', query, signal })
    return result
  }
  const callForOne = async (...asked: Parameters<typeof call>) => {
    const result = await call(...asked)
    return incidentIn(Array.isArray(result) ? result[0] : result)
  }
  const open = async () => {
    const result = await call({ method: 'GET', query: { sysparm_query: ofKey(key), sysparm_limit: MOST } })
    const rows = listIn(result, instance).map(incidentIn)
    if (!rows.every(({ values }) => isOfKey(values, key))) throw queryIgnored(instance)
    // The platform may have ignored a part of the query.
    return rows.filter(({ values }) => !over.includes(values['state'] ?? '')).toSorted(byAge)
  }
  const create = async (fields: Fields) => {
    const body = { ...fields, correlation_id: key, correlation_display: CORRELATION_DISPLAY }
    const post = async () => await callForOne({ method: 'POST', body }, Object.keys(fields))
    return await once(post, async () => (await open())[0])
  }
  const change = async ({ sysId }: Incident, body: Fields, isDone: (values: Fields) => boolean) => {
    const patch = async () => await callForOne({ method: 'PATCH', sysId, body })
    return await once(patch, async () => {
      const found = await callForOne({ method: 'GET', sysId })
      return isDone(found.values) ? found : undefined
    })
  }
  return { display: instance.display, open, create, change }
}

const always = [
  'sys_id',
  'number',
  'state',
  'correlation_id',
  'sys_created_on',
  'short_description',
  'description',
] as const

const asStored = { sysparm_display_value: 'false', sysparm_exclude_reference_link: 'true' }

function ofKey(key: string): string {
  return [`correlation_id=${key}`, ...over.map(state => `state!=${state}`), 'ORDERBYsys_created_on'].join('^')
}

/** The platform ignores case. */
function isOfKey({ correlation_id: own = '' }: Fields, key: string): boolean {
  return own.toLowerCase() === key.toLowerCase()
}

/** Two processes that compare the same rows agree on the oldest. */
function byAge(one: Incident, other: Incident): number {
  const age = ({ sysId, values }: Incident) => `${values['sys_created_on']} ${sysId}`
  return age(one) < age(other) ? -1 : 1
}

/** Does something that may happen only once. If the answer is lost, `look` finds out whether it happened. */
async function once(act: () => Promise<Incident>, look: () => Promise<Incident | undefined>): Promise<Incident> {
  try {
    return await act()
  } catch (error) {
    if (!isSluiceError(error) || !mayBeDone(error.failure)) throw error
    const found = await look().catch(() => {
      // If the look fails too, the first error is the useful one.
      throw error
    })
    return found ?? (await act())
  }
}

function mayBeDone({ code, evidence }: Failure): boolean {
  if (evidence['outcome'] === 'unknown' || evidence['status'] === 200) return true
  return code === 'SERVICENOW_UNREACHABLE' || code === 'SERVICENOW_NOT_AN_INSTANCE'
}

/** Another answer must not count as an empty list: each failure would open a new incident. */
function listIn(result: unknown, { display }: Instance): readonly unknown[] {
  if (Array.isArray(result)) return result
  const observed = 'one record instead of a list'
  throw fail('SERVICENOW_NOT_AN_INSTANCE', { instance: display, observed })
}

function incidentIn(row: unknown): Incident {
  const entries = Object.entries(typeof row === 'object' && row !== null ? row : {})
  const values = Object.fromEntries(entries.map(([name, value]) => [name, typeof value === 'string' ? value : '']))
  const sysId = values['sys_id'] ?? ''
  return { sysId, number: values['number'] || sysId, values }
}

function queryIgnored({ display }: Instance): SluiceError {
  const problem = 'ServiceNow returned rows of another correlation id, or the user cannot read that field'
  return fail('SERVICENOW_QUERY_IGNORED', { instance: display, part: 'correlation_id', table: 'incident', problem })
}
