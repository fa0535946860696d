import { checkPullOptions } from '../options/check-servicenow-options.js'
import type { PullOptions, Pulled } from '../options/ingest-options.js'
import type { Place } from '../flow.js'
import { instanceSettings, openServiceNow } from '../connect/open-servicenow.js'
import { PartFile, type Selection } from './part-file.js'
import type { IdSet } from '../servicenow/deletions/id-set.js'
import { readTable } from '../servicenow/table/read-table.js'
import { rowLines } from '../servicenow/table/row.js'
import { selectTable } from '../servicenow/table/select-table.js'
import { fail } from '../failure/fail.js'

export interface PullFileOptions extends PullOptions {
  /** The file: replaced as a whole, once all rows are there. Until then they lie in the folder `FILE.part`. */
  readonly output: string
}

export interface PulledFile {
  /** Rows of the file. */
  readonly rows: number
  /** The part of `rows` that an earlier, unfinished call had written. */
  readonly resumed: number
  readonly bytes: number
}

/**
 * Reads the rows of a ServiceNow table through the static-IP proxy: each row once, in the order of `sys_id`, then
 * rows that were inserted meanwhile. Yields every visible row that exists from the start of the reading to its end.
 * Each
 * row has its state at the moment when it was read.
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

/**
 * Writes the same rows to a file of NDJSON. If a call ends too early, the same call continues after the last row that
 * was written, and then adds all rows that were inserted since the first call began.
 * @throws SluiceError as `pull` does, and OUTPUT_UNWRITABLE, STATE_UNREADABLE, RUN_LOCKED
 */
export async function pullToFile({ output, ...options }: PullFileOptions): Promise<PulledFile> {
  checkPullOptions(options)
  if (typeof output !== 'string' || output === '')
    throw fail('OPTION_INVALID', { option: 'output', problem: 'is not the name of a file' })
  await using file = await PartFile.open(output, selectionOf(options))
  let start: Place | undefined
  const { rows: resumed, ids: known } = file.before
  let rows = resumed
  const onProgress = (progress: Pulled) => options.onProgress?.({ ...progress, bytes: file.bytes })
  const going = { place: file.place, known, rows: resumed, started: (place: Place) => (start = place) }
  for await (const page of pages({ ...options, onProgress }, going)) {
    if (start !== undefined) await file.begin(start)
    for (const lines of rowLines(page)) await file.append(lines)
    rows += page.length
  }
  await file.finish()
  return { rows, resumed, bytes: file.bytes }
}

function selectionOf(options: PullOptions): Selection {
  const { table, query = '', fields, displayValue = 'false' } = options
  const instance = instanceSettings(options).url.origin
  return { instance, table, query, fields: fields?.join(',') ?? '', displayValue }
}

/** The place where an earlier reading continues. */
interface GoingOn {
  readonly place: Place | undefined
  readonly known: IdSet
  /** Rows that were read before. */
  readonly rows: number
  started(place: Place): void
}

async function* pages(options: PullOptions, going?: GoingOn) {
  checkPullOptions(options)
  const { onProgress, onWarning = () => {}, preflightConnections } = options
  const { signal = new AbortController().signal } = options
  let total: number | undefined
  const before = going?.rows ?? 0
  let given = before
  try {
    await using instance = await openServiceNow({ ...options, onWarning })
    const selected = selectTable(instance, options)
    await instance.probe({ connections: preflightConnections, signal })
    const reading = readTable({
      instance,
      ...selected,
      mode: 'once',
      place: going?.place,
      known: going?.known,
      started: place => going?.started(place),
      signal,
      begun: () => {},
      counted: rows => (total = before + rows),
      note: onWarning,
    })
    for await (const { rows } of reading) {
      given += rows.length
      yield rows
      onProgress?.({ rows: given, ...(total === undefined ? {} : { total }) })
    }
  } catch (error) {
    if (!signal.aborted) throw error
    throw fail(
      'RUN_INTERRUPTED',
      { reason: String(signal.reason), settled: given },
      {
        cause: error,
      },
    )
  }
}
