/** What a load does with each of its inputs, by what earlier loads have settled. */
import type { Line, Load, Seen } from '../facts.js'
import type { Memory } from './memory.js'
import type { Match } from './records.js'

export interface Plan {
  readonly file: Seen
  readonly match: Match
  /** Lines that it must settle. */
  readonly rest: readonly Line[]
}

export function plansOf(memory: Memory, load: Load): Plan[] {
  const inputs = load.inputs.map(file => (load.isFollowed ? withoutOpen(file) : file))
  const matches = matchesOf(memory, load, inputs)
  const plans = inputs.map(file => planOf(file, matches.get(file) ?? { kind: 'new' }))
  return load.isFollowed ? [...plans, ...rotated(memory, load, matches)] : plans
}

/** With --again, or without a memory, everything is new, except what was begun. */
function matchesOf({ records }: Memory, load: Load, inputs: readonly Seen[]): ReadonlyMap<Seen, Match> {
  if (!load.isKept) return new Map()
  const matches = records.match(load, inputs)
  if (!load.isAgain) return matches
  return new Map([...matches].filter(([, match]) => match.kind !== 'new' && match.record.isOpen))
}

/** Files of the same name that were rotated away while nobody followed. */
function rotated(memory: Memory, load: Load, matches: ReadonlyMap<Seen, Match>): Plan[] {
  const taken = new Set([...matches.values()].flatMap(match => (match.kind === 'new' ? [] : [match.record])))
  const isOfFollowed = (path: string) => /\.\d+$/.test(path) && memory.followed.has(path.replace(/(\.\d+)+$/, ''))
  const whole = load.disk.filter(({ path }) => isOfFollowed(path)).map(withoutOpen)
  if (memory.isFollowVague) {
    if (whole.length > 0) memory.lenient('rotated files after the index was lost')
    for (const { lines } of whole) memory.expected.begin(lines)
    return []
  }
  return [...memory.records.match(load, whole, taken)].map(([file, match]) => planOf(file, match))
}

function planOf(file: Seen, match: Match): Plan {
  if (match.kind !== 'known') return { file, match, rest: file.lines }
  const { record } = match
  const settled = record.isOpen ? (record.parts.at(-1)?.to ?? 0) : record.lines.length
  return { file, match, rest: file.lines.slice(settled) }
}

/** A last line without its line end waits. */
function withoutOpen(file: Seen): Seen {
  return file.isOpen ? { ...file, lines: file.lines.slice(0, -1), isOpen: false } : file
}
