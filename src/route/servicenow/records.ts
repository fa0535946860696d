import { isSluiceError } from '../../base/failure/failure.js'
import type { Instance, Row, TableRequest } from './instance.js'

export interface RecordOptions {
  /** Default: all that the user may read. */
  readonly fields?: readonly string[] | undefined
  /** Default `false`: as they are stored, times in UTC (`yyyy-MM-dd HH:mm:ss`). */
  readonly displayValue?: 'false' | 'true' | 'all' | undefined
  readonly signal?: AbortSignal | undefined
}

export interface PageOptions extends RecordOptions {
  /** Encoded query, as in `active=true^priority<=2`. The platform ignores parts that it does not understand. */
  readonly query?: string | undefined
  /** The platform applies it before access control: a short page is not the end. Default 1,000. */
  readonly limit?: number | undefined
  /** Records before the page. Default 0. */
  readonly offset?: number | undefined
}

interface Page<R> {
  readonly records: readonly R[]
  /** Includes records that the user may not read. Absent if the platform does not send it. */
  readonly total?: number
}

/**
 * One table. An aborted `signal` ends a call with RUN_INTERRUPTED. Every method throws SluiceError:
 * SERVICENOW_TABLE_UNKNOWN, SERVICENOW_ACCESS_DENIED, SERVICENOW_REQUEST_REFUSED, or a failure of the route to the
 * platform.
 */
export interface Table<R extends Row = Row> {
  readonly name: string
  /** Gets one page. If the platform gives up on it (SERVICENOW_PAGE_TRUNCATED), ask for fewer records. */
  list(options?: PageOptions): Promise<Page<R>>
  /** Returns undefined if the record does not exist, or if the user may not read it. */
  get(sysId: string, options?: RecordOptions): Promise<R | undefined>
  /** Resolves to the stored record. */
  create(values: Row, options?: RecordOptions): Promise<R>
  /** PUT. */
  replace(sysId: string, values: Row, options?: RecordOptions): Promise<R>
  /** PATCH. */
  update(sysId: string, values: Row, options?: RecordOptions): Promise<R>
  /** Returns false if the record does not exist, or if the user may not read it. */
  remove(sysId: string, options?: Pick<RecordOptions, 'signal'>): Promise<boolean>
}

export function tableOf<R extends Row>({ call }: Pick<Instance, 'call'>, name: string): Table<R> {
  const one = async (request: Pick<TableRequest, 'method' | 'sysId' | 'body'>, options: RecordOptions = {}) => {
    const { result } = await call({ ...request, table: name, query: parametersOf(options), signal: options.signal })
    return result as R
  }
  return {
    name,
    list: async (options = {}) => {
      const { query, limit = 1000, offset = 0 } = options
      const { result, headers } = await call({
        method: 'GET',
        table: name,
        query: {
          ...parametersOf(options),
          ...(query === undefined ? {} : { sysparm_query: query }),
          sysparm_limit: String(limit),
          sysparm_offset: String(offset),
        },
        signal: options.signal,
      })
      const total = Number(headers['x-total-count'] ?? NaN)
      return { records: result as readonly R[], ...(Number.isNaN(total) ? {} : { total }) }
    },
    get: async (sysId, options) => await orMissing(one({ method: 'GET', sysId }, options)),
    create: async (values, options) => await one({ method: 'POST', body: values }, options),
    replace: async (sysId, values, options) => await one({ method: 'PUT', sysId, body: values }, options),
    update: async (sysId, values, options) => await one({ method: 'PATCH', sysId, body: values }, options),
    remove: async (sysId, options = {}) => {
      const gone = call({ method: 'DELETE', table: name, sysId, signal: options.signal }).then(() => true)
      return (await orMissing(gone)) ?? false
    },
  }
}

function parametersOf({ fields, displayValue = 'false' }: RecordOptions): Record<string, string> {
  return {
    sysparm_display_value: displayValue,
    sysparm_exclude_reference_link: 'true',
    ...(fields === undefined ? {} : { sysparm_fields: fields.join(',') }),
  }
}

async function orMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'SERVICENOW_REQUEST_REFUSED') throw error
    // The platform also answers 404 for a record that the user may not read.
    if (error.failure.evidence['status'] === 404) return undefined
    throw error
  }
}
