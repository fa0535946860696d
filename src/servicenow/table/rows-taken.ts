import type { IdSet } from '../deletions/id-set.js'
import { type Note, takeNote } from './place-log.js'
import { earlier, type Key, type Row, stored } from './row.js'
import type { Cursor } from './row-order.js'
import type { ReadingPhase } from './table-place.js'
import { versionOf, type VersionsSeen } from './versions-seen.js'

/** Decides which of the read rows are given out. */
export interface RowsTaken {
  /** Returns what the place has to remember. Undefined: the row is left out. */
  take(row: Row, key: Key, phase: ReadingPhase, cursor: Cursor | undefined): Note | undefined
}

/** Each row as it was when it was read, and again when it has changed since then: the last version comes last. */
export function everyVersion(seen: VersionsSeen): RowsTaken {
  let newest = seen.newest() ?? ''
  return {
    take(row, key, phase, cursor) {
      // Without access to the count, the content tells versions apart.
      const changes = stored(row.sys_mod_count) || JSON.stringify(row)
      const version = [key.time, versionOf(key.id, changes)] as const
      if (phase.kind === 'changes') {
        const sure = cursor?.time ?? phase.since
        const floor = cursor?.time === undefined ? {} : { floor: earlier(sure, phase.settled ?? phase.since) }
        const isKnown = seen.has(...version)
        const note = { version, ...floor }
        takeNote(seen, note)
        return isKnown ? undefined : note
      }
      if (key.time === '') return {}
      newest = key.time > newest ? key.time : newest
      const floor = earlier(newest, phase.since)
      // Only these rows will be read again.
      const note = key.time < floor ? {} : { version, floor }
      takeNote(seen, note)
      return note
    },
  }
}

/**
 * Takes each row once, as it was when read, including rows made meanwhile. `known`: rows that an earlier reading gave
 * out.
 */
export function everyRow(known: Pick<IdSet, 'has'> | undefined): RowsTaken {
  const made = new Set<string>()
  return {
    take(row, { id }, phase) {
      if (known?.has(id) === true) return undefined
      const isNew = stored(row.sys_created_on) >= phase.since
      if (phase.kind === 'changes' && (!isNew || made.has(id))) return undefined
      if (isNew) made.add(id)
      return {}
    },
  }
}
