import type { Place, Source } from '../../../base/flow.js'
import type { Instance } from '../../../route/servicenow/instance.js'
import type { PlaceLog } from './place-log.js'
import { readTable } from './read-table.js'
import { rowLines } from './row.js'
import { type Selecting, selectTable } from './select-table.js'
import { atStart, isStart, placeOf, readPlace } from './table-place.js'
import { fail } from '../../../base/failure/failure.js'

export interface TableSourceOptions extends Selecting {
  /** Position among the inputs of the run. */
  readonly id: number
  /**
   * `current` (the default) gives out each version of a row that changes during the reading, the last one last.
   * `once` gives out each row one time, without places.
   */
  readonly mode?: 'current' | 'once' | undefined
  readonly note?: ((text: string) => void) | undefined
}

/**
 * Opens a table as a source of NDJSON, one line per row. It misses no row, even if others insert, change and delete
 * rows. Without a place it reads the whole table, then what changed in the meantime. Each opening counts its documents
 * from 1 for `placeAt`. Throws SluiceError OPTION_INVALID, SERVICENOW_QUERY_IGNORED.
 */
export function tableSource(instance: Instance, options: TableSourceOptions): Source {
  const { id, table, query = '', fields, displayValue = 'false', mode = 'current' } = options
  const selected = selectTable(instance, options)
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
      ...selected,
      mode,
      place,
      signal,
      begun: begun => (log = begun),
      counted: rows => (total = rows),
      note: text => options.note?.(text),
    })
    for await (const page of pages) {
      mayRepeat = page.mayRepeat
      for (const lines of rowLines(page.rows)) {
        yield lines
        // A page has no row twice.
        mayRepeat = false
      }
    }
  }

  return {
    id,
    name,
    cursor: {
      selection: { instance: instance.display, table, query, fields: fields?.join(',') ?? '', displayValue },
      placeAt: document => log?.placeAt(document) ?? start,
      after: end => afterEnd(end, name),
      since: place => sinceOf(place, name),
      get mayRepeat() {
        return mayRepeat
      },
      get total() {
        return total
      },
    },
    open: (signal, _, place) => open(signal, place),
  }
}

/** The changes at the end of a whole reading belong to it, so they have no time. */
function sinceOf(place: Place, source: string): string | undefined {
  if (isStart(place)) return undefined
  const { phase } = readPlace(place, source)
  const isWhole = phase.kind === 'whole' || (phase.kind === 'changes' && phase.rounds > 0)
  return isWhole ? undefined : `${phase.since.replace(' ', 'T')}Z`
}

function afterEnd(end: Place, source: string): Place {
  const place = isStart(end) ? undefined : readPlace(end, source)
  if (place?.phase.kind !== 'end') {
    const problem = 'Sluice has not read it to its end'
    throw fail('STATE_UNREADABLE', { path: `of ${source}`, problem })
  }
  const { by, since } = place.phase
  return placeOf({ phase: { kind: 'changes', by, since, rounds: 0 }, cursor: undefined, seen: place.seen })
}
