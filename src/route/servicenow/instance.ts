import type { IncomingHttpHeaders } from 'node:http'

/** Calls the Table API with credentials that it renews itself. */
export interface Instance extends AsyncDisposable {
  /** Scheme, host and port, for messages. */
  readonly display: string
  /**
   * Makes one call of the Table API. Retries transient refusals first: 429, 202, 5xx, a lost answer of a GET, an
   * expired token. Throws SluiceError: SERVICENOW_*, PROXY_*, and RUN_INTERRUPTED after an abort of `signal`.
   */
  call(request: TableRequest): Promise<TableAnswer>
}

/** Each field is text, or `{ display_value, value }` if both were requested. */
export type Row = Readonly<Record<string, unknown>>

export interface TableRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly table: string
  /** `attachment`: rows of sys_attachment, for users without a right to that table. */
  readonly api?: 'table' | 'attachment' | undefined
  readonly sysId?: string | undefined
  /** sysparm_…, not encoded. */
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly body?: Readonly<Record<string, unknown>> | undefined
  /** Whether a retry after an unknown outcome changes nothing. Default: true for GET only. */
  readonly isRepeatable?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

export interface TableAnswer {
  readonly status: number
  /** Names in lower case. */
  readonly headers: IncomingHttpHeaders
  /** The rows of a list, one record, or undefined if there is no body (204). */
  readonly result: unknown
}
