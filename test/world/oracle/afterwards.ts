/** Judges the commands that deal with what was loaded: verify, undo, runs rm and replay. */
import { type After, type Dead, type Ended, isRare, type Line } from '../facts.js'
import type { Memory } from './memory.js'
import type { Record } from './records.js'

export function judgeVerify(memory: Memory, run: string, ended: Ended, { isSwitched }: After): readonly string[] {
  const own = memory.records.all.filter(({ parts }) => parts.some(part => part.run === run))
  if (memory.keyed !== undefined) return []
  if (isSwitched && ended.exit === 1) {
    memory.lenient('an index that is no longer behind its alias')
    return []
  }
  const isSure = own.length > 0 && !memory.disturbed.has(run) && own.every(({ isOpen }) => !isOpen)
  if (!isSure) {
    memory.lenient('other content that a run covered')
    return []
  }
  // Nobody knows which documents a function made (docs/guide/edits.md).
  if (memory.transforms) return ended.exit === 2 ? [] : [`verify of ${run}, with a function, ends with ${ended.exit}`]
  if (ended.exit === 2 && ended.said.includes('is the name of')) {
    memory.lenient('a name of several runs')
    return []
  }
  return ended.exit === 0 ? [] : [`verify of ${run} ends with ${ended.exit}: ${JSON.stringify(ended)}`.slice(0, 900)]
}

export function judgeUndo(memory: Memory, run: string, ended: Ended, after: After): readonly string[] {
  const stream = memory.streams.get(run)
  const isKnown = stream !== undefined || memory.records.all.some(({ parts }) => parts.some(part => part.run === run))
  if (memory.transforms && ended.exit === 0) return [`undo of ${run}, with a function, is not refused`]
  // A document that two lines wrote has changed since it was created: undo keeps it, and loads still know the run.
  const isKept = memory.keyed !== undefined && ended.exit === 1
  if (isKept || (after.isSwitched && ended.exit === 1)) {
    if (!isKept) memory.lenient('an index that is no longer behind its alias')
    memory.disturbed.add(run)
    if (stream !== undefined) memory.expected.takeBack(stream.lines, false)
    for (const { lines, parts } of memory.records.all)
      for (const part of parts) if (part.run === run) memory.expected.takeBack(lines.slice(part.from, part.to), false)
  } else if (ended.exit !== 2) {
    if (stream !== undefined) memory.expected.takeBack(stream.lines, stream.isSure && ended.exit === 0)
    // Only the newest of the runs with this name is undone (docs/guide/verify-and-undo.md).
    const isOneOfMany = ended.said.includes('had the same name')
    if (isOneOfMany) memory.lenient('a name of several runs')
    const there = new Set(after.index.map(({ n }) => n))
    const isUndone = (lines: readonly Line[]) => !isOneOfMany || !lines.some(({ n }) => there.has(n))
    const ofRun = memory.records.all.flatMap(({ lines, parts }) => (parts.some(part => part.run === run) ? lines : []))
    // A load may have stored documents under other ids, and noted nothing.
    if (memory.hadFullDisk) memory.lenient('a load whose disk failed, and undo')
    if (isOneOfMany || memory.hadFullDisk)
      memory.expected.takeBack(isOneOfMany ? ofRun.filter(({ n }) => !there.has(n)) : ofRun, false)
    forgetParts(
      memory,
      run,
      lines => memory.expected.takeBack(lines, ended.exit === 0 && !memory.hadFullDisk),
      isUndone,
    )
  }
  // Nothing shows whether they have the ids of this run.
  if (!isKnown && memory.replayed.size > 0) {
    memory.lenient('undo after a replay')
    memory.expected.takeBack([...memory.replayed.values()], false)
  }
  memory.see(after)
  const problems = memory.expected.check(after.index)
  if (isKnown || problems.length === 0) return problems
  return ['undo of a run into an index that is gone deletes others', ...problems]
}

export function judgeForget(memory: Memory, run: string, ended: Ended, after: After): readonly string[] {
  const isOf = ({ parts }: Record) => parts.at(-1)?.run === run
  const last = memory.records.all.filter(isOf)
  if (ended.exit === 0) forgetParts(memory, run, () => undefined)
  for (const record of last) record.isCutShort = record.parts.length > 0
  return memory.expected.check(after.index)
}

/** The part of a run is no longer known, unless a later run continued behind it. */
function forgetParts(
  memory: Memory,
  run: string,
  act: (lines: readonly Line[]) => void,
  isMeant: (lines: readonly Line[]) => boolean = () => true,
): void {
  memory.isForgotten = true
  memory.expected.forgetIds()
  if (memory.isIndexLost) {
    // An earlier run may know the same inputs, and by the same ids.
    memory.lenient('forgotten after the index was lost')
    memory.isBlurred = true
    // A load that was repeated when its index was lost may have stored all that the oracle ascribes to the next one.
    const isAscribed = memory.records.all.some(({ parts }) => parts.some(part => part.run === run))
    if (!isAscribed) for (const { lines } of memory.records.all) memory.expected.begin(lines)
  } else if (memory.wasUnfinished) {
    memory.lenient('forgotten after an unfinished load')
    memory.isBlurred = true
  }
  for (const record of memory.records.all) {
    let isOneLeft = true
    while (isOneLeft) isOneLeft = forgetPart(memory, record, run, act, isMeant)
  }
}

function forgetPart(
  memory: Memory,
  record: Record,
  run: string,
  act: (lines: readonly Line[]) => void,
  isMeant: (lines: readonly Line[]) => boolean,
): boolean {
  const at = record.parts.findLastIndex(part => part.run === run && isMeant(record.lines.slice(part.from, part.to)))
  const part = record.parts[at]
  if (part === undefined) return false
  act(record.lines.slice(part.from, part.to))
  const isLast = at === record.parts.length - 1
  record.parts.splice(at, 1)
  // Its documents have the ids of the runs before it, which do not know them.
  memory.disturb(record)
  if (!isLast) return true
  if (record.isOpen) {
    // A later run has begun behind it, and may know all lines before its own.
    memory.lenient('a run that was undone, and its unfinished successor')
    memory.expected.begin(record.lines.slice(part.from, part.to))
    return true
  }
  record.lines = record.lines.slice(0, record.parts.at(-1)?.to ?? 0)
  record.isOpen = false
  record.pending = []
  if (record.lines.length === 0) {
    memory.records.drop(record)
    memory.isFollowVague = true
  }
  return true
}

export function judgeReplay(
  memory: Memory,
  letters: readonly Dead[],
  ended: Ended & { readonly isNarrow: boolean },
  after: After,
): readonly string[] {
  const { index, dead } = after
  memory.isReplayed = true
  if (letters.some(({ n, isMisfit }) => isRare(n) && !isMisfit)) {
    memory.lenient('a corrected dead letter has fewer fields')
    memory.isUnsure = true
  }
  const repaired: Line[] = []
  for (const { id, n, v, isRepaired } of letters) {
    if (!isRepaired) continue
    const line = { n, v, isBad: false }
    // Somebody else may have written it since the first replay.
    if (memory.mayReplayAgain) memory.keyed?.begin([line])
    if (memory.replayed.has(`${id} ${n} ${v}`)) continue
    memory.replayed.set(`${id} ${n} ${v}`, line)
    repaired.push(line)
  }
  memory.expected.repaired(repaired)
  // Another index behind the alias accepts the same id. The one of before keeps its copy.
  if (after.isSwitched && memory.mayReplayAgain)
    memory.expected.begin(letters.map(({ n }) => ({ n, v: 1, isBad: false })))
  // Without the narrow mapping, they are stored as they are. Sluice may have loaded them again, under the same ids.
  for (const { id, n, v, isMisfit } of letters) {
    if (!isMisfit || ended.isNarrow || memory.replayed.has(`${id} ${n} ${v}`)) continue
    memory.replayed.set(`${id} ${n} ${v}`, { n, v, isBad: false })
    memory.expected.begin([{ n, v, isBad: false }])
    if (ended.exit === 0) memory.expected.atLeastOnce([{ n, v, isBad: false }])
  }
  const problems: string[] = []
  const named = new Set(dead.map(({ n }) => n))
  for (const { id } of dead) memory.refusedAgain.add(id)
  for (const { n, id, isRepaired, isMisfit } of letters)
    if (
      !isRepaired &&
      (!isMisfit || ended.isNarrow) &&
      ended.exit === 0 &&
      !named.has(n) &&
      !memory.refusedAgain.has(id)
    )
      problems.push(`dead letter ${n} is lost in a replay`)
  if (memory.mayReplayAgain || memory.keyed !== undefined) memory.lenient('replay without its state or index')
  else if (ended.exit > 1) problems.push(`replay failed with ${ended.code ?? ''}: ${ended.said.slice(-300)}`)
  memory.see(after)
  return [...problems, ...memory.expected.check(index)]
}
