import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import type { Place, Source } from '../flow.js'
import type { Instance } from './instance.js'
import type { PlaceLog } from './place-log.js'
import { readTable } from './read-table.js'
import { rowLines } from './row-lines.js'
import { rowShape } from './row-shape.js'
import { type TablePlace, atStart, isStart, placeOf, readPlace } from './table-place.js'
import { checkNames, tableQuery } from './table-query.js'

export interface TableSourceOptions {
  /** Position among the inputs of the run. */
  readonly id: number
  readonly table: string
  /** Encoded query without an order. Default: every row. */
  readonly query?: string | undefined
  /** Default: every field. `sys_id` is always among them. */
  readonly fields?: readonly string[] | undefined
  /** Default `false`. */
  readonly displayValue?: 'false' | 'true' | 'all' | undefined
  /** Rows of one request. Default 1,000. */
  readonly pageSize?: number | undefined
  /**
   * Of rows that change while they are read: `current` (the default) gives out each version that is met, the last one last; `once` each
   * row one time, without places.
   */
  readonly mode?: 'current' | 'once' | undefined
  /** Told what is worth knowing and no failure: fields that could not be checked. */
  readonly note?: ((text: string) => void) | undefined
}

/**
 * A table as a source of NDJSON, a line for each row. It is complete under paging, and while others insert, change and delete rows.
 * Opened without a place it reads the whole table, then what changed meanwhile; with one it goes on there. Each opening counts its
 * documents from 1 for `placeAt`; the place after the last one, once all is read, is what `after` takes.
 * Throws SluiceError OPTION_INVALID, SERVICENOW_QUERY_IGNORED.
 */
export function tableSource(instance: Instance, options: TableSourceOptions): Source {
  const { id, table, query = '', fields, displayValue = 'false', pageSize = 1000, mode = 'current' } = options
  checkNames(table, fields)
  const parsed = tableQuery(query, table, instance.display)
  const shape = rowShape(fields, displayValue)
  const name = `servicenow:${table}`
  let log: PlaceLog | undefined
  let start: Place = atStart
  let total: number | undefined
  let mayRepeat = false

  async function* open(signal: AbortSignal, place?: Place): AsyncGenerator<Uint8Array> {
    signal.throwIfAborted()
    log = undefined
    start = place ?? atStart
    total = undefined
    const pages = readTable({
      instance,
      table,
      query: parsed,
      shape,
      pageSize,
      mode,
      place,
      signal,
      begun: begun => (log = begun),
      counted: rows => (total = rows),
      note: text => options.note?.(text),
    })
    for await (const { rows, isAgain } of pages) {
      mayRepeat = isAgain
      for (const lines of rowLines(rows)) {
        yield lines
        // A page has no row twice.
        mayRepeat = false
      }
    }
  }

  return {
    id,
    name,
    rows: {
      selection: { instance: instance.display, table, query, fields: fields?.join(',') ?? '', displayValue },
      placeAt: document => log?.placeAt(document) ?? start,
      after: end => afterEnd(end, name),
      get total() {
        return total
      },
      since: place => (isStart(place) ? undefined : changesSince(readPlace(place, name))),
      get mayRepeat() {
        return mayRepeat
      },
    },
    open: (signal, _from, place) => open(signal, place),
  }
}

/** In ISO 8601; undefined where the reading is that of all rows, and of what changed meanwhile. */
function changesSince({ phase }: TablePlace): string | undefined {
  return phase.kind === 'changes' && phase.rounds === 0 ? `${phase.since.replace(' ', 'T')}Z` : undefined
}

/** What has changed since a reading that ended. */
function afterEnd(end: Place, source: string): Place {
  const place = isStart(end) ? undefined : readPlace(end, source)
  if (place?.phase.kind !== 'end') {
    const problem = 'its reading did not come to an end'
    throw new SluiceError(failure('STATE_UNREADABLE', { path: `of ${source}`, problem }))
  }
  const { by, since } = place.phase
  return placeOf({ phase: { kind: 'changes', by, since, rounds: 0 }, cursor: undefined, seen: place.seen })
}
