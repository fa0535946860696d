import type { Place } from '../../flow.js'
import { type RowCursor, isPlatformTime, type TimeField } from './row.js'
import { type VersionsSeen, versionsSeen } from './versions-seen.js'
import { fail } from '../../failure/fail.js'

/** A stretch of a reading, in one order. Times are the platform's. */
export type ReadingPhase = WholePhase | ChangesPhase

/** Every row, by sys_id. */
interface WholePhase {
  readonly kind: 'whole'
  readonly by: TimeField
  /** Changes since then may have been missed, or read in their earlier form. */
  readonly since: string
}

/** Reads changes since then, in the order of change. */
export interface ChangesPhase {
  readonly kind: 'changes'
  readonly by: TimeField
  readonly since: string
  /** Nothing before it changes any more: a minute before the phase began. Undefined: not begun. */
  readonly settled?: string
  /** How many more such phases may follow, each with what changed during the one before. */
  readonly rounds: number
}

/** Where reading continues: in a phase, or after the end with the changes since. */
export interface TablePlace {
  readonly phase: ReadingPhase | { readonly kind: 'end'; readonly by: TimeField; readonly since: string }
  readonly cursor: RowCursor | undefined
  readonly seen: VersionsSeen
}

const VERSION = 1

export function placeOf({ phase, cursor, seen }: TablePlace): Place {
  return { v: VERSION, ...phase, ...(cursor === undefined ? {} : { cursor }), seen: seen.toJSON() }
}

/** The place before the first row. */
export const atStart: Place = { v: VERSION, kind: 'start' }

export function isStart({ v, kind }: Place): boolean {
  return v === VERSION && kind === 'start'
}

/** Throws SluiceError STATE_UNREADABLE if another version made the place, or if it is damaged. */
export function readPlace(place: Place, source: string): TablePlace {
  const { v, kind, by, since, settled, rounds = 0, cursor, seen } = place
  const wrong = () => {
    const problem = `this version does not understand its position in the table (${JSON.stringify({ v, kind })})`
    return fail('STATE_UNREADABLE', { path: `of ${source}`, problem })
  }
  const isSettled = settled === undefined || isPlatformTime(settled)
  if (v !== VERSION || !isTimeField(by) || !isPlatformTime(since) || !isSettled || !isCursor(cursor)) throw wrong()
  if (typeof rounds !== 'number') throw wrong()
  try {
    const rest = { cursor, seen: versionsSeen(seen) }
    if (kind === 'whole' || kind === 'end') return { phase: { kind, by, since }, ...rest }
    if (kind !== 'changes') throw wrong()
    return { phase: { kind, by, since, rounds, ...(settled === undefined ? {} : { settled }) }, ...rest }
  } catch {
    throw wrong()
  }
}

function isTimeField(value: unknown): value is TimeField {
  return value === 'sys_updated_on' || value === 'sys_created_on'
}

function isCursor(value: unknown): value is RowCursor | undefined {
  if (value === undefined) return true
  if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'string') return false
  return !('time' in value) || isPlatformTime(value.time)
}
