import { checkPullOptions } from '../../options/check-options.js'
import type { PullOptions, Pulled } from '../../options/connect-options.js'
import type { Place } from '../../base/flow.js'
import { instanceSettings, openServiceNow } from '../../route/connect/open-servicenow.js'
import { type Selection, openPartFile } from './part-file.js'
import { type TableReading, readTable } from './reading/read-table.js'
import { rowLines } from './reading/row.js'
import { selectTable } from './reading/select-table.js'
import { fail } from '../../base/failure/failure.js'
import { Attachments } from './attachments.js'

export interface PullFileOptions extends PullOptions {
  /** Replaced as a whole, once all rows are there. Until then the rows are in the folder `FILE.part`. */
  readonly output: string
}

export interface PulledFile extends Pick<Pulled, 'attachments'> {
  readonly rows: number
  /** The part of `rows` that an earlier, unfinished call had written. */
  readonly resumed: number
  readonly bytes: number
}

/**
 * Reads the rows of a ServiceNow table through the static-IP proxy: each row once, in the order of `sys_id`, then
 * rows that were inserted in the meantime. Yields every visible row that exists from the start of the reading to its
 * end, in its state at the moment when it was read.
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
  await using file = await openPartFile(output, selectionOf(options))
  let start: Place | undefined
  const { rows: resumed, ids: known } = file.before
  let rows = resumed
  let attachments: Pulled['attachments']
  const onProgress = (progress: Pulled) => {
    attachments = progress.attachments
    options.onProgress?.({ ...progress, bytes: file.bytes })
  }
  const going = { place: file.place, known, started: (place: Place) => (start = place) }
  for await (const page of pages({ ...options, onProgress }, resumed, going)) {
    if (start !== undefined) await file.begin(start)
    for (const lines of rowLines(page)) await file.append(lines)
    rows += page.length
  }
  await file.finish()
  return { rows, resumed, bytes: file.bytes, ...(attachments === undefined ? {} : { attachments }) }
}

function selectionOf(options: PullOptions): Selection {
  const { table, query = '', fields, displayValue = 'false' } = options
  const instance = instanceSettings(options).url.origin
  return { instance, table, query, fields: fields?.join(',') ?? '', displayValue }
}

/** `before`: rows of an earlier reading, which `going` continues. */
async function* pages(
  options: PullOptions,
  before = 0,
  going: Partial<Pick<TableReading, 'place' | 'known' | 'started'>> = {},
) {
  checkPullOptions(options)
  const { onProgress, onWarning = () => {}, preflightConnections } = options
  const { signal = new AbortController().signal } = options
  let total: number | undefined
  let given = before
  try {
    await using instance = await openServiceNow({ ...options, onWarning })
    const selected = selectTable(instance, options)
    await instance.probe({ connections: preflightConnections, signal })
    const folder = options.attachments
    const attachments = folder === undefined ? undefined : new Attachments({ folder, instance, signal, onWarning })
    const counted = () => (attachments === undefined ? {} : { attachments: { ...attachments.counts } })
    const reading = readTable({
      instance,
      ...selected,
      mode: 'once',
      ...going,
      signal,
      counted: rows => (total = before + rows),
      note: onWarning,
    })
    for await (const { rows } of reading) {
      // A pull that continues has the attachments of the rows that it has.
      await attachments?.fetchOf(rows)
      given += rows.length
      yield rows
      onProgress?.({ rows: given, ...(total === undefined ? {} : { total }), ...counted() })
    }
  } catch (error) {
    if (!signal.aborted) throw error
    const evidence = { reason: String(signal.reason), settled: given }
    throw fail('RUN_INTERRUPTED', evidence, { cause: error })
  }
}
