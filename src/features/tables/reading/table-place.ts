import { createHash } from 'node:crypto'
import type { Place } from '../../../base/flow.js'
import { type RowCursor, isPlatformTime, type TimeField } from './row.js'
import { fail } from '../../../base/failure/failure.js'

/** A part of a reading, in one order. Times are the platform's. */
export type ReadingPhase = WholePhase | ChangesPhase

/** Every row, by sys_id. */
interface WholePhase {
  readonly kind: 'whole'
  readonly by: TimeField
  /** The reading may have missed changes since then. */
  readonly since: string
}

/** Reads changes since then, in the order of change. */
export interface ChangesPhase {
  readonly kind: 'changes'
  readonly by: TimeField
  readonly since: string
  /** All changes before this time are visible: a minute before the phase began. Undefined: not begun. */
  readonly settled?: string
  /** How many more such phases may follow, each with what changed during the one before. */
  readonly rounds: number
}

/** Where reading continues: in a phase, or after its end with the changes since then. */
export interface TablePlace {
  readonly phase: ReadingPhase | { readonly kind: 'end'; readonly by: TimeField; readonly since: string }
  readonly cursor: RowCursor | undefined
  readonly seen: VersionsSeen
}

const VERSION = 1

export function placeOf({ phase, cursor, seen }: TablePlace): Place {
  return { v: VERSION, ...phase, ...(cursor === undefined ? {} : { cursor }), seen: seen.toJSON() }
}

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

/**
 * Where a stopped reading continues. Of the second that it had reached, and of the minute before, more rows may have come since then:
 * they are read again from where all changes were visible, without the versions that were seen.
 */
export function continued({ phase, cursor, seen }: TablePlace): TablePlace {
  if (phase.kind !== 'changes' || phase.settled === undefined || cursor?.time === undefined)
    return { phase, cursor, seen }
  const { settled, ...others } = phase
  return cursor.time < settled
    ? { phase, cursor, seen }
    : { phase: { ...others, since: settled }, cursor: undefined, seen }
}

function isTimeField(value: unknown): value is TimeField {
  return value === 'sys_updated_on' || value === 'sys_created_on'
}

function isCursor(value: unknown): value is RowCursor | undefined {
  if (value === undefined) return true
  if (typeof value !== 'object' || value === null || !('id' in value) || typeof value.id !== 'string') return false
  return !('time' in value) || isPlatformTime(value.time)
}

/** Characters of one version: 72 bits of a hash. */
const WIDTH = 12
export const MOST_VERSIONS = 10_000

/**
 * Recognises versions of rows that overlapping readings read again. Forgets the oldest beyond MOST_VERSIONS. These rows
 * are then given out again.
 */
export interface VersionsSeen {
  add(time: string, version: string): void
  has(time: string, version: string): boolean
  /** Forgets changes that are not read again. */
  forgetBefore(time: string): void
  newest(): string | undefined
  /** Whether no version of that time or later was forgotten for lack of room. */
  isWholeFrom(time: string): boolean
  toJSON(): Readonly<Record<string, string>>
}

/** Throws TypeError if `kept` is not the result of toJSON. */
export function versionsSeen(kept: unknown = {}): VersionsSeen {
  const byTime = parse(kept)
  let size = [...byTime.values()].reduce((sum, versions) => sum + versions.size, 0)
  let forgotten = ''
  let limit = ''

  const makeRoom = () => {
    for (const [time, versions] of [...byTime].sort(([a], [b]) => (a < b ? -1 : 1))) {
      for (const version of versions) {
        if (size <= MOST_VERSIONS * 0.9) return
        forgotten = forgotten > time ? forgotten : time
        versions.delete(version)
        size--
      }
      byTime.delete(time)
    }
  }

  return {
    add(time, version) {
      const versions = byTime.get(time) ?? new Set()
      if (versions.size === 0) byTime.set(time, versions)
      if (versions.has(version)) return
      versions.add(version)
      if (++size > MOST_VERSIONS) makeRoom()
    },
    has: (time, version) => byTime.get(time)?.has(version) === true,
    forgetBefore(first) {
      if (first === limit) return
      limit = first
      for (const [time, versions] of byTime) {
        if (time >= limit) continue
        size -= versions.size
        byTime.delete(time)
      }
    },
    newest: () =>
      [...byTime.keys()].reduce<string | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined),
    isWholeFrom: time => forgotten < time,
    toJSON: () => Object.fromEntries([...byTime].map(([time, versions]) => [time, [...versions].join('')])),
  }
}

/** Names one version of a row by its count of changes. */
export function versionOf(id: string, changes: string): string {
  return createHash('sha256').update(`${id} ${changes}`).digest('base64url').slice(0, WIDTH)
}

function parse(kept: unknown): Map<string, Set<string>> {
  if (typeof kept !== 'object' || kept === null) throw new TypeError('no versions')
  return new Map(
    Object.entries(kept).map(([time, text]: [string, unknown]) => {
      if (typeof text !== 'string' || text.length % WIDTH !== 0) throw new TypeError('no versions')
      return [time, new Set(text.match(/.{12}/g))]
    }),
  )
}
