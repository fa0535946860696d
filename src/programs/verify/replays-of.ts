/** Finds the replays whose documents an undo deletes: those that sent dead letters of its run. */
import { resolve } from 'node:path'
import { type Checkpoint, isSameCluster, lettersOf } from '../../run/state/checkpoint/checkpoint.js'
import type { KnownRun } from '../../run/state/runs/runs.js'
import { namesIn } from './loaded-again.js'

export interface ReplayOf {
  readonly known: KnownRun
  /** `all`: it sent nothing but dead letters of the run. `none`: it only continues behind such a replay. */
  readonly sent: 'all' | 'part' | 'none'
}

/**
 * Returns the replays that sent dead letters of a run to its indices, also those that a replay of them had rejected again, and the replays
 * that take them for sent because they continue a file behind them. `others`: all other runs of the state folder.
 */
export function replaysOf(run: Checkpoint, others: readonly KnownRun[]): readonly ReplayOf[] {
  const candidates = others.filter(({ checkpoint, isForgotten }) => !isForgotten && mayHold(checkpoint, run))
  const authors = new Set([run.run])
  const paths = new Set(lettersOf(run).map(({ path }) => resolve(path)))
  const found = new Set<KnownRun>()
  for (let before = -1; found.size > before;) {
    before = found.size
    for (const known of candidates) {
      if (found.has(known) || !isReplayOf(known.checkpoint, authors, paths)) continue
      found.add(known)
      authors.add(known.checkpoint.run)
    }
  }
  const behind = candidates.filter(known => !found.has(known) && [...found].some(one => isBehind(known, one)))
  return [
    ...[...found].map(known => ({
      known,
      sent: isAll(known.checkpoint, authors) ? ('all' as const) : ('part' as const),
    })),
    ...behind.map(known => ({ known, sent: 'none' as const })),
  ]
}

function mayHold({ kind, options, target, written }: Checkpoint, run: Checkpoint): boolean {
  const { index } = options
  return (
    kind === 'replay' &&
    isSameCluster(target, run.target) &&
    Date.parse(written) >= Date.parse(run.began) &&
    (index === undefined || namesIn(run.target).includes(index))
  )
}

/** A replay that was killed early does not know the authors of what it sent. */
function isReplayOf(
  { replays = [], inputs }: Checkpoint,
  authors: ReadonlySet<string>,
  paths: ReadonlySet<string>,
): boolean {
  if (replays.length > 0) return replays.some(name => authors.has(name))
  return Array.from(inputs).some(({ file, start }) => start === undefined && paths.has(file?.path ?? ''))
}

function isAll({ replays = [] }: Checkpoint, authors: ReadonlySet<string>): boolean {
  return replays.every(name => authors.has(name))
}

function isBehind({ checkpoint: later }: KnownRun, { checkpoint: run }: KnownRun): boolean {
  if (Date.parse(later.began) < Date.parse(run.began)) return false
  const tokens = new Set(Array.from(run.inputs, ({ token }) => token))
  return Array.from(later.inputs).some(({ token }) => tokens.has(token))
}
