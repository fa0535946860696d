import type { Place } from '../../../base/flow.js'
import type { Row } from '../../../route/servicenow/instance.js'
import { type RowCursor, earlier, type Key, nextSecond, stored } from './row.js'
import { placeOf, type ReadingPhase, type TablePlace, versionOf, type VersionsSeen } from './table-place.js'
import type { IdSet } from './id-set.js'

/** The facts about a row that a place keeps beside its position. */
export interface Note {
  /** The row's version and the time of its change, if it may be read again. */
  readonly version?: readonly [time: string, version: string] | undefined
  /** Older changes are not read again. */
  readonly floor?: string | undefined
}

function takeNote(seen: VersionsSeen, { version, floor }: Note): void {
  if (version !== undefined) seen.add(...version)
  if (floor !== undefined) seen.forgetBefore(floor)
}

/** Rows of one phase that are given out together. */
interface GivenRows {
  readonly phase: ReadingPhase
  readonly cursors: readonly (RowCursor | undefined)[]
  readonly notes: readonly (Note | undefined)[]
}

/** Remembers where reading continues after each row that is not settled yet. */
export interface PlaceLog {
  add(rows: GivenRows): void
  end(): void
  /** Returns the place before the row of that number, from 1. Forgets the rows before it, which are settled. */
  placeAt(number: number): Place
}

export function placeLog(start: TablePlace): PlaceLog {
  const pages: GivenRows[] = []
  const { seen } = start
  let { phase, cursor } = start
  let last = phase
  /** Rows before the first of `pages`, settled rows in that page, and all rows. */
  let before = 0
  let within = 0
  let given = 0
  let isOver = false

  const settle = (number: number) => {
    for (let [page] = pages; page !== undefined && before + within < number - 1; [page] = pages) {
      const until = Math.min(page.cursors.length, number - 1 - before)
      for (; within < until; within++) takeNote(seen, page.notes[within] ?? {})
      phase = page.phase
      cursor = page.cursors[until - 1]
      if (until < page.cursors.length) return
      pages.shift()
      before += until
      within = 0
    }
  }

  return {
    add(rows) {
      last = rows.phase
      if (rows.cursors.length === 0) return
      pages.push(rows)
      given += rows.cursors.length
    },
    end() {
      isOver = true
    },
    placeAt(number) {
      if (number - 1 > given) throw new Error(`row ${number - 1} is not there: ${given} were read`)
      settle(number)
      return placeOf(isOver && number - 1 === given ? endOf(last, seen) : { phase, cursor, seen })
    },
  }
}

/** The next reading begins at the newest change, or a minute before this reading, whichever is earlier. */
function endOf(phase: TablePlace['phase'], seen: VersionsSeen): TablePlace {
  const { by, since } = phase
  const settled = phase.kind === 'changes' ? (phase.settled ?? since) : since
  const newest = earlier(seen.newest() ?? since, settled)
  // If more rows changed in a second than the log remembers, the next reading begins after that second.
  const isFull = newest < settled && !seen.isWholeFrom(newest)
  const from = isFull ? nextSecond(newest) : newest
  seen.forgetBefore(from)
  return { phase: { kind: 'end', by, since: from }, cursor: undefined, seen }
}

export interface RowsTaken {
  /** Returns what the place has to remember. Undefined: leave the row out. */
  take(row: Row, key: Key, phase: ReadingPhase, cursor: RowCursor | undefined): Note | undefined
}

/** Takes each row, and again if it has changed since then: the last version comes last. */
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
      // Only later changes are read again.
      const note = key.time < floor ? {} : { version, floor }
      takeNote(seen, note)
      return note
    },
  }
}

/** Takes each row once, including rows made in the meantime. `known`: rows of an earlier reading. */
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
