/** What a load does with each of its inputs, by what earlier loads have settled. */
import type { Line, Load, Seen } from '../facts.js'
import type { Memory } from './memory.js'
import { begins, type Match, type Record } from './records.js'

export interface Plan {
  readonly file: Seen
  readonly match: Match
  /** Lines that it must settle. */
  readonly rest: readonly Line[]
}

export function plansOf(memory: Memory, load: Load): Plan[] {
  const inputs = load.inputs.map(file => (load.isFollowed ? withoutOpen(file) : file))
  const matches = matchesOf(memory, load, inputs)
  if (memory.records.all.some(record => isSeenAtItsStart(record, load))) {
    memory.lenient('an object that was edited, and is no input of the load')
    memory.isBlurred = true
  }
  const plans = inputs.map(file => planOf(file, matches.get(file) ?? { kind: 'new' }))
  if (!load.isFollowed) return plans
  return [...plans.map(plan => copyOfRotated(memory, load, plan)), ...rotated(memory, load, matches)]
}

/** Whether Sluice may take an object for the one of before, because only what follows its first line has changed. */
function isSeenAtItsStart({ path, inode, lines }: Record, { inputs, disk }: Load): boolean {
  if (inode !== undefined || inputs.some(input => input.path === path)) return false
  const now = disk.find(file => file.path === path)?.lines ?? []
  return begins(now, lines.slice(0, 1)) && !begins(now, lines)
}

/** Whether Sluice loads a copy of a rotated file that it has read is not promised. */
function copyOfRotated(memory: Memory, { disk }: Load, plan: Plan): Plan {
  const { file, match } = plan
  const isRotated = ({ path }: Seen | Record) => /\.\d+$/.test(path)
  const isCopied = (record: Record) =>
    begins(file.lines, record.lines) &&
    (isRotated(record) || disk.some(one => isRotated(one) && one.path !== file.path && begins(one.lines, record.lines)))
  const known = match.kind === 'known' && match.record.path !== file.path ? [match.record] : []
  const record = (match.kind === 'new' ? memory.records.all : known).find(isCopied)
  if (record === undefined) return plan
  memory.lenient('a copy of a rotated file')
  memory.isFollowVague = true
  memory.expected.begin(record.lines)
  return { ...plan, rest: file.lines.slice(record.lines.length) }
}

/** With --again, or without a memory, everything is new, except what was begun. */
function matchesOf({ records }: Memory, load: Load, inputs: readonly Seen[]): ReadonlyMap<Seen, Match> {
  if (!load.isKept) return new Map()
  const matches = records.match(load, inputs)
  // It continues what was interrupted, and loads nothing again.
  const isOpen = [...matches.values()].some(match => match.kind !== 'new' && match.record.isOpen)
  if (!load.isAgain || (isOpen && load.ended.said.includes('Sluice first continues run'))) return matches
  return new Map([...matches].filter(([, match]) => match.kind !== 'new' && match.record.isOpen))
}

/** Files of the same name that were rotated away while nobody followed. */
function rotated(memory: Memory, load: Load, matches: ReadonlyMap<Seen, Match>): Plan[] {
  const taken = new Set([...matches.values()].flatMap(match => (match.kind === 'new' ? [] : [match.record])))
  const whole = load.disk.filter(file => isUnread(memory, load, file)).map(withoutOpen)
  // By its lines, an input continues a file. By its inode, that file stands elsewhere: the input is a copy of it.
  const isElsewhere = (inode: number | undefined) => inode !== undefined && whole.some(file => file.inode === inode)
  for (const { inode, lines } of taken) {
    if (!isElsewhere(inode)) continue
    memory.lenient('a copy of a rotated file')
    memory.expected.begin(lines)
    memory.isFollowVague = true
  }
  if (whole.some(file => isOfThatMoment(memory, file))) memory.isFollowVague = true
  if (memory.isFollowVague) {
    if (whole.length > 0) memory.lenient('rotated files after the index was lost')
    for (const { lines } of whole) memory.expected.begin(lines)
    return []
  }
  const plans = [...memory.records.match(load, whole, taken)].map(([file, match]) => planOf(file, match))
  // Sluice notes a renamed file only if it has to load something of it.
  return plans.filter(({ match, rest }) => rest.length > 0 || (match.kind === 'known' && match.record.isOpen))
}

/** Only files that were written after the last one that Sluice knows count (docs/guide/follow.md). */
function isUnread(memory: Memory, { inputs }: Load, { path, inode, writtenMs = 0 }: Seen): boolean {
  const name = path.replace(/(\.\d+)+$/, '')
  const sinceMs = memory.followed.get(name)
  if (name === path || sinceMs === undefined) return false
  const isKnown = memory.records.all.some(record => record.inode === inode)
  // A file that Sluice has read, too, is found by its inode.
  if (Math.floor(writtenMs) < Math.floor(sinceMs) && !isKnown && !memory.isFollowVague) return false
  const isThere = inputs.some(input => input.path === name)
  if (!isThere) memory.lenient('a followed name that no file has')
  return isThere
}

/** Whether a file was written so shortly before the last one that Sluice knows that both may show the same time. */
function isOfThatMoment(memory: Memory, { path, writtenMs = 0 }: Seen): boolean {
  const sinceMs = memory.followed.get(path.replace(/(\.\d+)+$/, '')) ?? 0
  const isSo = writtenMs < sinceMs && Math.floor(writtenMs) === Math.floor(sinceMs)
  if (isSo) memory.lenient('rotated in the millisecond of the next line')
  return isSo
}

/** A process that failed or was killed may have left out files between two that it knew. */
export function noteFollowed(memory: Memory, { inputs, ended }: Load): void {
  const { followed } = memory
  const isWhole = ended.code === undefined && ended.isKilled !== true
  for (const { path, writtenMs = 0 } of inputs) {
    const beforeMs = followed.get(path) ?? 0
    if (writtenMs < beforeMs) {
      memory.lenient('a followed file whose time was set back')
      memory.isFollowVague = true
    }
    if (isWhole || !followed.has(path)) followed.set(path, Math.max(writtenMs, beforeMs))
  }
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
