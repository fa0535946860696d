import { failure } from './failure/failure.js'
import { SluiceError } from './failure/sluice-error.js'
import type { ConnectOptions, ServiceNowOptions, TableOptions } from './ingest-options.js'
import * as check from './option-checks.js'
import { openServiceNow } from './open-instance.js'
import { readTable } from './servicenow/read-table.js'
import { rowLines } from './servicenow/row-lines.js'
import { selectTable } from './servicenow/select-table.js'

/** Which rows, from where, and through which proxy. */
export interface PullOptions
  extends
    TableOptions,
    Pick<ConnectOptions, 'proxy' | 'concurrency' | 'preflightConnections' | 'timeoutMs' | 'signal'> {
  readonly servicenow: ServiceNowOptions
  /** Its name, not its label: `incident`. */
  readonly table: string
  /** How long one request may be refused in a way that may pass, in milliseconds. Default 900,000. */
  readonly maxElapsedMs?: number | undefined
  /** Told after each page. */
  readonly onProgress?: ((progress: Pulled) => void) | undefined
  /** Told what is not as it should be, and is no reason to stop. */
  readonly onWarning?: ((message: string) => void) | undefined
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
      places: false,
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

const checks = {
  servicenow: check.jsonObject,
  table: check.name,
  query: check.string,
  fields: check.strings,
  displayValue: check.oneOf('false', 'true', 'all'),
  pageSize: check.whole(1, 10_000),
  proxy: check.anything,
  concurrency: check.whole(1, 256),
  preflightConnections: check.whole(0, 64),
  timeoutMs: check.whole(1, 2 ** 31 - 1),
  maxElapsedMs: check.whole(0, Number.MAX_SAFE_INTEGER),
  signal: check.signal,
  onProgress: check.listener,
  onWarning: check.listener,
  onSecret: check.listener,
} satisfies Record<keyof PullOptions, check.Check>

function checkPullOptions(options: PullOptions): void {
  const found = check.problemIn(options, checks)
  const missing = (['servicenow', 'table'] as const).find(name => options[name] === undefined)
  const { option = '', problem } = found ?? { option: missing, problem: 'is not set' }
  if (found !== undefined || missing !== undefined)
    throw new SluiceError(failure('OPTION_INVALID', { option, problem }))
}
