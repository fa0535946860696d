import type { ServiceNowConnection } from '../options/ingest-options.js'
import { checkServiceNowConnection } from '../options/check-servicenow-options.js'
import { openServiceNow } from './open-instance.js'
import type { TableAnswer, TableRequest } from '../servicenow/instance.js'
import { type PageOptions, type RecordOptions, type Row, type Table, tableOf } from '../servicenow/table.js'

export type { PageOptions, RecordOptions, Row, Table }

/** The platform, reached through the proxy; credentials renew themselves. */
export interface ServiceNow extends AsyncDisposable {
  /** Scheme, host and port. */
  readonly instance: string
  /** The proxy in use, `scheme://host:port` without credentials; absent when connected directly. */
  readonly proxy?: string
  /**
   * Fresh connections that were let in before this was handed out, and the chance from 0 to 1 that one of two addresses is refused all
   * the same.
   */
  readonly preflight: { readonly probes: number; readonly missChance: number }
  /** A table by its name (`incident`), not its label. `R`: what its records look like; it is not checked. */
  table<R extends Row = Row>(name: string): Table<R>
  /** One call of the Table API as it stands, for what `table` has no method for. */
  call(request: TableRequest): Promise<TableAnswer>
  /** Waits for what is under way, then closes the pool. */
  close(): Promise<void>
}

/**
 * The service-management platform's Table API through the static-IP proxy: token calls and data calls over one pool of at most
 * `concurrency` connections, preflighted on `preflightConnections` fresh ones. Without `proxy` it connects directly.
 *
 * ```ts
 * await using platform = await connectServiceNow({
 *   servicenow: { url, clientId, clientSecret, username, password },
 *   proxy: process.env.STATIC_PROXY_URL,
 * })
 * const { records } = await platform.table('incident').list({ query: 'active=true', limit: 10 })
 * ```
 * 429 (Retry-After, X-RateLimit-Reset) and 5xx are waited for, an expired token is renewed and the call repeated; a POST, PUT, PATCH
 * or DELETE whose answer was lost is not sent again.
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
      ...(instance.route.proxy === undefined ? {} : { proxy: instance.route.proxy }),
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
