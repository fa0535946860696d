/** Notes what a load begins and settles. */
import type { Load } from '../facts.js'
import type { Memory } from './memory.js'
import type { Plan } from './plans.js'
import { begins, type Record } from './records.js'

export function begin(memory: Memory, load: Load, plans: readonly Plan[]): void {
  for (const plan of plans) {
    if (load.isKept) beginKept(memory, load, plan)
    else {
      memory.expected.begin(plan.rest)
      if (load.isSpooled) memory.spooled.push(...plan.rest)
    }
  }
}

function beginKept(
  memory: Memory,
  { setting, isAgain, ended, disk, inputs, trouble }: Load,
  { file, match, rest }: Plan,
): void {
  const { records, expected } = memory
  const { path, inode, lines } = file
  const isBroken = ended.isKilled === true || ended.code !== undefined
  memory.wasUnfinished ||= isBroken
  memory.hadFullDisk ||= isBroken && trouble === 'disk'
  const before = isAgain && isBroken ? records.all.find(one => one.path === path && !one.isOpen) : undefined
  const mayBeWhole = inputs.length > 1 || trouble === 'disk'
  const fresh = { path, inode, lines, pending: [...rest], setting, parts: [], mayBeWhole }
  if (before !== undefined) {
    // Only some of the inputs may have been begun again.
    memory.lenient('again, and not finished')
    memory.isBlurred = true
    expected.begin(rest)
    before.isOpen = true
  } else if (match.kind === 'known') {
    const { record } = match
    if (isAgain && record.mayBeWhole === true) {
      // Sluice continues it, or loads it again.
      memory.lenient('again, and not finished')
      expected.begin(lines)
    }
    const more = record.isOpen ? lines.slice(record.lines.length) : rest
    expected.begin(more)
    record.pending.push(...more)
    if (more.length > 0) Object.assign(record, { isOpen: true, mayBeWhole })
    Object.assign(record, { path, inode, lines, setting })
    records.touch(record)
  } else if (match.kind === 'new' || isAgain) {
    const isCopy = disk.some(other => other.path !== path && begins(other.lines, lines))
    const lost = memory.linesLost.get(path)
    expected.begin(rest, isCopy || (lost !== undefined && !begins(lines, lost)))
    records.touch({ ...fresh, isOpen: rest.length > 0 })
  } else {
    memory.lenient('an input changed while its load was unfinished')
    expected.begin(rest)
    match.record.pending = match.record.pending.filter(line => !rest.includes(line))
    records.touch({ ...fresh, isOpen: true })
  }
}

export function finish(memory: Memory, load: Load, plans: readonly Plan[]): void {
  const { expected, records } = memory
  if (!load.isKept) {
    const own = plans.flatMap(({ rest }) => rest)
    const lines = load.isSpooled ? memory.spooled : own
    expected.finish(lines)
    memory.streams.set(load.ended.run ?? '', { lines: [...lines], isSure: lines.length === own.length })
    return
  }
  // Sluice may know the input still.
  const isOpenEnded = memory.isFollowVague && ['update', 'delete'].includes(load.op)
  if (isOpenEnded) memory.lenient('changes of an index that was lost')
  for (const { file, match } of plans) {
    const record = records.all.find(one => one.path === file.path && one.lines === file.lines)
    if (record === undefined) throw new Error(`the oracle has no record of ${file.path}`)
    // Of these, what was begun stays possible.
    record.pending = record.pending.filter(({ n }) => !memory.writtenByOthers.has(n))
    if (match.kind === 'unclear') finishUnclear(memory, load, match.record, record)
    else if (record.isCutShort === true) {
      memory.lenient('the next lines of a run that was forgotten')
      expected.atLeastOnce(record.pending)
    } else if (memory.isNameReused(load.runId)) expected.atLeastOnce(record.pending)
    else if (!isOpenEnded) expected.finish(record.pending)
    if (record.isOpen) {
      const from = record.parts.at(-1)?.to ?? 0
      record.parts.push({ run: load.ended.run ?? '', from, to: file.lines.length })
    }
    record.isOpen = false
    record.isCutShort = false
    record.pending = []
  }
}

/** Either Sluice continued, or it took the file for another one. All of its lines are there. */
function finishUnclear(memory: Memory, { runId }: Load, before: Record, record: Record): void {
  const both = record.lines.filter(line => before.lines.some(({ n, v }) => n === line.n && v === line.v))
  // If it was continued, they were sent once.
  const others = record.pending.filter(line => !both.includes(line))
  if (memory.isNameReused(runId)) memory.expected.atLeastOnce(others)
  else memory.expected.finish(others)
  for (const line of both) memory.expected.atLeastOnce([line])
  // Lines that are no longer there may be under way for ever.
  memory.records.drop(before)
  memory.disturb(record)
}

/** Notes what a load leaves in its spool. */
export function keepSpool(memory: Memory, { ended, inputs, trouble, setting }: Load): void {
  if (ended.isKilled === undefined && ended.code === undefined) {
    memory.spooled = []
    memory.maybeSpooled = []
    memory.isSpoolCut = false
    memory.spoolSetting = undefined
    return
  }
  memory.spoolSetting ??= setting
  memory.lenient('an unfinished spool')
  if (ended.isKilled !== true && trouble !== 'stopped' && trouble !== 'disk') return
  // A process that was killed or stopped, or whose disk is full, may not have read all of stdin.
  memory.isSpoolCut = true
  const own = new Set(inputs.flatMap(({ lines }) => lines))
  memory.maybeSpooled.push(...memory.spooled.filter(line => own.has(line)))
  memory.spooled = memory.spooled.filter(line => !own.has(line))
}
