import type { ServiceNowConnection } from '../../options/connect-options.js'
import { checkServiceNowConnection } from '../../options/check-options.js'
import { openServiceNow } from './open-servicenow.js'
import type { Row, TableAnswer, TableRequest } from '../servicenow/instance.js'
import { type PageOptions, type RecordOptions, type Table, tableOf } from '../servicenow/records.js'

export type { PageOptions, RecordOptions, Table }

/** An open connection to ServiceNow through the proxy. Credentials renew themselves. */
export interface ServiceNow extends AsyncDisposable {
  /** Scheme, host and port. */
  readonly instance: string
  /** The proxy in use, `scheme://host:port` without credentials. Absent if connected directly. */
  readonly proxy?: string | undefined
  /** Fresh connections that the instance accepted, and the chance from 0 to 1 that it still refuses one of two addresses. */
  readonly preflight: { readonly probes: number; readonly missChance: number }
  /** Returns a table by its name (`incident`), not its label. `R`: the shape of its records, which is not checked. */
  table<R extends Row = Row>(name: string): Table<R>
  /** Makes one call of the Table API, for requests that `table` has no method for. */
  call(request: TableRequest): Promise<TableAnswer>
  /** Waits for current calls, then closes the pool. */
  close(): Promise<void>
}

/**
 * Connects to ServiceNow's Table API through the static-IP proxy. Token calls and data calls share one pool of at most `concurrency`
 * connections. Tests `preflightConnections` fresh ones first. Without `proxy` it connects directly.
 *
 * ```ts
 * await using platform = await connectServiceNow({
 *   servicenow: { url, clientId, clientSecret, username, password },
 *   proxy: process.env.STATIC_PROXY_URL,
 * })
 * const { records } = await platform.table('incident').list({ query: 'active=true', limit: 10 })
 * ```
 * Calls wait after a 429 (Retry-After, X-RateLimit-Reset) and a 5xx. If a token has expired, Sluice renews it and repeats the call.
 * It does not repeat a POST, PUT, PATCH or DELETE whose answer was lost.
 * @throws SluiceError OPTION_INVALID, PLAINTEXT_CREDENTIALS, PROXY_*, SERVICENOW_*, RUN_INTERRUPTED
 */
export async function connectServiceNow(options: ServiceNowConnection): Promise<ServiceNow> {
  checkServiceNowConnection(options)
  const instance = await openServiceNow(options)
  const close = async () => await instance[Symbol.asyncDispose]()
  try {
    const preflight = await instance.probe({ connections: options.preflightConnections, signal: options.signal })
    return {
      instance: instance.display,
      proxy: instance.route.proxy,
      preflight,
      table: name => tableOf(instance, name),
      call: async request => await instance.call(request),
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
