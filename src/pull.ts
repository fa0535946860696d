import { failure } from './failure/failure.js'
import { SluiceError } from './failure/sluice-error.js'
import { checkPullOptions } from './checks/check-servicenow-options.js'
import type { ServiceNowConnection } from './connect-servicenow.js'
import type { TableOptions } from './ingest-options.js'
import { openServiceNow } from './open-instance.js'
import { readTable } from './servicenow/table/read-table.js'
import { rowLines } from './servicenow/table/row-lines.js'
import { selectTable } from './servicenow/table/select-table.js'

/** Which rows, from where, and through which proxy. */
export interface PullOptions extends ServiceNowConnection, TableOptions {
  /** Its name, not its label: `incident`. */
  readonly table: string
  /** Told after each page. */
  readonly onProgress?: ((progress: Pulled) => void) | undefined
  /** Told each secret in every form that something might repeat, also tokens that come later. */
  readonly onSecret?: ((secret: string) => void) | undefined
}

export interface Pulled {
  /** Rows that were given out. */
  readonly rows: number
  /** As many as the platform told that there are when reading began, with those that the user may not see. */
  readonly total?: number
}

/**
 * The rows of a table of the service-management platform, through the static-IP proxy: each one time, in the order of `sys_id`, then
 * those that were inserted meanwhile. Every row that is there from before the reading to its end, and may be seen, is among them; each
 * is as it was at the moment when it was read.
 *
 * ```ts
 * for await (const incident of pull({ servicenow: { url, username, password }, proxy, table: 'incident' })) …
 * ```
 * @throws SluiceError OPTION_INVALID, SERVICENOW_*, PROXY_*, PLAINTEXT_CREDENTIALS, RUN_INTERRUPTED
 */
export async function* pull(options: PullOptions): AsyncGenerator<Readonly<Record<string, unknown>>> {
  for await (const rows of pages(options)) yield* rows
}

/** The same rows as NDJSON, in chunks of whole lines. Throws as `pull` does. */
export async function* pullLines(options: PullOptions): AsyncGenerator<Uint8Array> {
  for await (const rows of pages(options)) yield* rowLines(rows)
}

async function* pages(options: PullOptions) {
  checkPullOptions(options)
  const { onProgress, onWarning = () => {}, preflightConnections } = options
  const { signal = new AbortController().signal } = options
  let total: number | undefined
  let given = 0
  try {
    await using instance = await openServiceNow({ ...options, onWarning })
    const selected = selectTable(instance, options)
    await instance.probe({ connections: preflightConnections, signal })
    const reading = readTable({
      instance,
      ...selected,
      mode: 'once',
      place: undefined,
      signal,
      begun: () => {},
      counted: rows => (total = rows),
      note: onWarning,
    })
    for await (const { rows } of reading) {
      given += rows.length
      yield rows
      onProgress?.({ rows: given, ...(total === undefined ? {} : { total }) })
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw new SluiceError(failure('RUN_INTERRUPTED', { reason: String(signal.reason), settled: given }), {
      cause: error,
    })
  }
}
