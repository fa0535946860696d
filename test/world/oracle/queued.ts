/**
 * What becomes of documents that a job loads: docs/guide/many-workers.md. The queue knows each input as it was. One that was changed,
 * renamed or copied is another input, and all of it is loaded.
 */
import type { After, Line, Load } from '../facts.js'
import type { Memory } from './memory.js'
import { judgeExit } from './receipt.js'
import { judgeFailure } from './refusals.js'

export function judgeQueued(memory: Memory, load: Load, after: After): readonly string[] {
  const { ended, inputs, isAgain, trouble } = load
  const lines = inputs.flatMap(file => file.lines)
  // With --again it is another job, which knows nothing.
  const known = isAgain ? new Map<string, 'begun' | 'loaded'>() : memory.queued
  const left = inputs.filter(file => known.get(keyOf(file)) !== 'loaded')
  for (const file of left) {
    if (!known.has(keyOf(file))) memory.expected.begin(file.lines)
    known.set(keyOf(file), 'begun')
  }
  const now = new Set(inputs.map(keyOf))
  if (memory.keyed !== undefined && (left.length > 0 || [...known.keys()].some(key => !now.has(key)))) {
    memory.lenient('the rest of a group')
    memory.expected.begin(lines)
  }
  // The joined file holds again what was replayed before.
  memory.mayReplayAgain = true
  const wasOpen = memory.isJobOpen
  memory.isJobOpen = ended.isKilled === true || ended.code !== undefined
  if (ended.isKilled === true || isLeft(load)) return []
  if (wasOpen && ended.code === 'JOB_RANGES_FAILED') {
    memory.lenient('an input that changed while its job was open')
    return []
  }
  if (ended.code !== undefined) return judgeFailure(memory, load, [])
  if (ended.counts === undefined) return [`no receipt, exit code ${ended.exit}`]
  const { read, unsent } = ended.counts
  if (unsent > 0) return trouble === 'none' ? [`${unsent} documents were not sent, for no reason`] : []
  if (left.length > 0) memory.lenient('an input of a job, as it is now')
  for (const file of left) {
    const own = file.lines.filter(({ n }) => !memory.writtenByOthers.has(n))
    if (own.length < file.lines.length) memory.lenient('written by others while a load was unfinished')
    memory.expected.atLeastOnce(own)
    known.set(keyOf(file), 'loaded')
  }
  const isWrong = read !== lines.length
  return [
    ...(isWrong ? [`the receipt says ${read} read, and not ${lines.length}`] : []),
    ...judgeExit(load),
    ...named(lines, after),
  ]
}

/** A command that is stopped leaves its job to others. */
function isLeft({ ended, trouble }: Load): boolean {
  return ended.code === 'JOB_CONTINUES' && trouble === 'stopped'
}

/** An input as the queue knows it. */
function keyOf({ path, inode, writtenMs, lines }: Load['inputs'][number]): string {
  return JSON.stringify([path, inode, writtenMs, lines.map(({ n, v }) => [n, v])])
}

/** Each bad line is in the dead letters. */
function named(lines: readonly Line[], { dead }: After): string[] {
  const letters = new Set(dead.map(({ n }) => n))
  return lines.filter(({ isBad, n }) => isBad && !letters.has(n)).map(({ n }) => `bad line ${n} is named nowhere`)
}
