import type { IncomingHttpHeaders } from 'node:http'

/** The service-management platform, reached through the proxy. Every call carries credentials, which it renews itself. */
export interface Instance extends AsyncDisposable {
  /** Scheme, host and port: for messages. */
  readonly display: string
  /**
   * One call of the Table API. What passes (429, 202, 5xx, a lost answer of a GET, an expired token) was asked again before it throws.
   * Throws SluiceError: SERVICENOW_*, PROXY_*, RUN_INTERRUPTED where `signal` was aborted.
   */
  call(request: TableRequest): Promise<TableAnswer>
}

export interface TableRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly table: string
  /** Of one record. */
  readonly sysId?: string
  /** sysparm_…, not encoded. */
  readonly query?: Readonly<Record<string, string>>
  readonly body?: Readonly<Record<string, unknown>>
  /** Doing it twice is the same as once: it is asked again also where its outcome is unknown. Default: for GET alone. */
  readonly isRepeatable?: boolean
  readonly signal?: AbortSignal
}

export interface TableAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The rows of a list, one record, or undefined where there is no body (204). */
  readonly result: unknown
}
