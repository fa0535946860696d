import type { Place } from '../../../base/flow.js'
import type { IdSet } from './id-set.js'
import { ignored, unmet } from './encoded-query.js'
import type { Instance } from '../../../route/servicenow/instance.js'
import { pageSize } from './table-page.js'
import { everyRow, everyVersion, type PlaceLog, placeLog } from './place-log.js'
import { platformTime } from './row.js'
import { probeTable } from './probe-table.js'
import { readPhases, settledAt, type TableRows } from './read-phases.js'
import type { Selected } from './select-table.js'
import { continued, isStart, placeOf, readPlace, versionsSeen } from './table-place.js'
import type { WalkedPage } from './walk-table.js'

export interface TableReading extends Selected {
  readonly instance: Instance
  /** `current` gives out every version of a row that changes during the reading, the last one last. `once` gives out one. */
  readonly mode: 'current' | 'once'
  /** Where reading continues. Undefined: at the start of the table. */
  readonly place?: Place | undefined
  /** In mode `once`: rows to leave out. */
  readonly known?: Pick<IdSet, 'has'> | undefined
  readonly signal: AbortSignal
  /** Called in mode `current`, when the start of the reading is known. */
  begun?(log: PlaceLog): void
  /** Called before the first row. */
  started?(place: Place): void
  /** Rows that the platform says there are. */
  counted(total: number): void
  note(text: string): void
}

/** Yields pages, and requests the next one in the meantime. Throws SluiceError SERVICENOW_*, STATE_UNREADABLE. */
export async function* readTable(reading: TableReading): AsyncGenerator<TableRows> {
  const ending = new AbortController()
  try {
    const rows = await phasesOf(reading, AbortSignal.any([reading.signal, ending.signal]))
    if (rows === undefined) return
    const { shape } = reading.shape
    for await (const page of readAhead(rows)) yield { ...page, rows: page.rows.map(shape) }
  } finally {
    // No caller waits for the page that is still requested.
    ending.abort()
  }
}

async function phasesOf(reading: TableReading, signal: AbortSignal): Promise<AsyncGenerator<TableRows> | undefined> {
  const { instance, table, query, shape, mode, note } = reading
  const name = `servicenow:${table}`
  const given = reading.place === undefined || isStart(reading.place) ? undefined : reading.place
  if (given !== undefined && readPlace(given, name).phase.kind === 'end') {
    const log = placeLog(readPlace(given, name))
    log.end()
    reading.begun?.(log)
    return undefined
  }
  const probed = await probeTable({ instance, table, query, fields: shape.fields ?? [], signal })
  for (const text of probed.notes) note(text)
  const by = probed.time ?? 'sys_updated_on'
  if (probed.time === undefined && mode === 'current')
    throw ignored(reading, `the field ${by}`, 'Sluice needs it to find changes')
  if (by === 'sys_created_on' && mode === 'current')
    note(`rows of ${table} have no sys_updated_on. If the user cannot read this field, Sluice misses changes`)
  const fresh = { phase: { kind: 'whole', by, since: settledAt(probed.date) }, cursor: undefined } as const
  const start = given ?? placeOf({ ...fresh, seen: versionsSeen() })
  reading.started?.(start)
  // The log gets its own copy of the start, because it follows settled rows and `taken` follows read rows.
  const log = mode === 'current' ? placeLog(continued(readPlace(start, name))) : undefined
  if (log !== undefined) reading.begun?.(log)
  const { phase, cursor, seen } = continued(readPlace(start, name))
  if (phase.kind === 'end') return undefined
  const now = platformTime(probed.date)
  if (now < phase.since)
    note(
      `the clock of ${instance.display} went back from ${phase.since} to ${now}, so Sluice may miss a change. To read everything, pass --again`,
    )
  let isCounted = false
  return readPhases({
    walk: {
      size: pageSize(reading.pageSize),
      table,
      fields: shape.fields,
      displayValue: shape.displayValue,
      instance,
      query,
      signal,
      stray: row => `the row ${row.id || 'without sys_id'}, changed on ${row.time || 'no date'}, is out of order`,
    },
    phase,
    cursor,
    date: probed.date,
    taken: mode === 'current' ? everyVersion(seen) : everyRow(reading.known),
    isTimed: probed.time !== undefined,
    log,
    judge: judgeOf(reading),
    answered: ({ total }) => {
      if (!isCounted && total !== undefined) reading.counted(total)
      isCounted = true
    },
  })
}

function judgeOf(reading: TableReading): (page: WalkedPage) => void {
  const find = unmet(reading.query)
  return ({ rows, keys, date }) => {
    const settled = settledAt(date)
    for (const [at, row] of rows.entries()) {
      // A row that changed just now may have matched in its earlier form.
      const condition = (keys[at]?.time ?? '') < settled ? find(row) : undefined
      if (condition === undefined) continue
      throw ignored(reading, condition.text, `the row ${keys[at]?.id} does not match it`)
    }
  }
}

/** Requests the next item while the caller uses one. */
async function* readAhead<T>(items: AsyncIterator<T>): AsyncGenerator<T> {
  let coming = ask(items)
  for (;;) {
    const step = await coming
    if (step.done === true) return
    coming = ask(items)
    yield step.value
  }
}

function ask<T>(items: AsyncIterator<T>): Promise<IteratorResult<T, unknown>> {
  const coming = items.next()
  // The loop handles this rejection when it reaches the item.
  coming.catch(() => undefined)
  return coming
}
