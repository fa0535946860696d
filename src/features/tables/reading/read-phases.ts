import type { Note, PlaceLog, RowsTaken } from './place-log.js'
import type { Row } from '../../../route/servicenow/instance.js'
import { byChange, bySysId, type RowCursor, platformTime } from './row.js'
import type { ChangesPhase, ReadingPhase } from './table-place.js'
import type { TablePage } from './table-page.js'
import { type Walk, type WalkedPage, walkTable } from './walk-table.js'

/** A change may become visible later than its time says, and the clocks of an instance differ. */
const OVERLAP_MS = 60_000
/** Most readings of what changed in the meantime. Otherwise a busy table would be read forever. */
const MOST_ROUNDS = 5

interface PhasesReading {
  readonly walk: Omit<Walk, 'order' | 'from' | 'time'>
  readonly phase: ReadingPhase
  readonly cursor: RowCursor | undefined
  /** The instance's clock when the reading began. */
  readonly date: number
  readonly taken: RowsTaken
  /** Whether the rows show when they changed. */
  readonly isTimed: boolean
  readonly log: PlaceLog | undefined
  /** Throws if the platform did not obey the query. */
  judge(page: WalkedPage): void
  answered(page: TablePage): void
}

export interface TableRows {
  readonly rows: readonly Row[]
  /** Whether an earlier version of some rows may have come before. */
  readonly mayRepeat: boolean
}

/** Yields the whole table and then what changed in the meantime, or only the changes. */
export async function* readPhases(reading: PhasesReading): AsyncGenerator<TableRows> {
  const { walk, taken, log, judge, answered, isTimed } = reading
  let { phase, cursor, date } = reading
  // After a resume, the phase has given out some rows.
  let given = cursor === undefined ? 0 : 1
  const heard = (page: TablePage) => {
    date = page.date
    answered(page)
  }
  for (;;) {
    const begun = begin(phase, date)
    const now = platformTime(date)
    for await (const page of walkTable({ ...walk, order: orderOf(begun), from: cursor, time: begun.by }, heard)) {
      judge(page)
      const { rows, cursors, notes } = choose(page, begun, taken)
      log?.add({ phase: begun, cursors, notes })
      given += rows.length
      if (rows.length > 0) yield { rows, mayRepeat: mayRepeat(begun, page) }
      if (isPast(begun, page, now)) break
    }
    log?.add({ phase: begun, cursors: [], notes: [] })
    const next = isTimed ? phaseAfter(begun, given) : undefined
    if (next === undefined) break
    phase = next
    cursor = undefined
    given = 0
  }
  log?.end()
}

/** Returns the latest time whose changes are all visible by now. */
export function settledAt(date: number): string {
  return platformTime(date - OVERLAP_MS)
}

function begin(phase: ReadingPhase, date: number): ReadingPhase & { readonly settled?: string } {
  return phase.kind === 'whole' || phase.settled !== undefined ? phase : { ...phase, settled: settledAt(date) }
}

function orderOf(phase: ReadingPhase) {
  return phase.kind === 'whole' ? bySysId : byChange(phase.by, phase.since, phase.settled ?? phase.since)
}

function phaseAfter(phase: ReadingPhase, given: number): ChangesPhase | undefined {
  const { by, since } = phase
  if (phase.kind === 'whole') return { kind: 'changes', by, since, rounds: MOST_ROUNDS }
  if (given === 0 || phase.rounds <= 1) return undefined
  return { kind: 'changes', by, since: phase.settled ?? since, rounds: phase.rounds - 1 }
}

/** Returns whether every change from before the reading is read. The next reading reads the later ones. */
function isPast(phase: ReadingPhase, { keys }: WalkedPage, began: string): boolean {
  return phase.kind === 'changes' && keys.every(({ time }) => time > began)
}

/** After a whole reading any row may repeat. Otherwise only rows that changed after this reading began. */
function mayRepeat(phase: ReadingPhase, { keys }: WalkedPage): boolean {
  if (phase.kind === 'whole') return false
  const { rounds, since, settled = since } = phase
  return rounds > 0 || keys.some(({ time }) => time >= settled)
}

function choose({ rows, keys, cursors }: WalkedPage, phase: ReadingPhase, taken: RowsTaken) {
  const chosen = { rows: [] as Row[], cursors: [] as (RowCursor | undefined)[], notes: [] as (Note | undefined)[] }
  for (const [at, row] of rows.entries()) {
    const key = keys[at]
    const note = key === undefined ? undefined : taken.take(row, key, phase, cursors[at])
    if (note === undefined) continue
    chosen.rows.push(row)
    chosen.cursors.push(cursors[at])
    chosen.notes.push(note)
  }
  return chosen
}
