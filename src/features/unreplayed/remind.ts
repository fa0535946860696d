/** Reminds of rejected documents that are not replayed. */
import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { failure } from '../../base/failure/failure.js'
import { plural } from '../../base/text/figures.js'
import type { Feature, Tell } from '../../run/loop/hooks.js'
import type { Checkpoint } from '../../run/state/checkpoint/checkpoint.js'
import { inputsOf } from '../../run/state/inputs/packed-inputs.js'
import { type KnownRun, knownRuns } from '../../run/state/runs/runs.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Documents of these inputs that earlier runs rejected, and that were not replayed when this one began. */
    readonly unreplayed?: readonly Unreplayed[]
  }
}

interface Unreplayed {
  readonly run: string
  readonly documents: number
  /** Absolute path of the dead letters. Absent if none were written. */
  readonly deadLetters?: string
}

interface Reminder extends Unreplayed {
  /** Whether that run ended because too many documents were rejected. */
  readonly isTooMany: boolean
}

/** Returns the hook of a load, or of all rounds of a followed one: these only remind, and once, because a failure would end them. */
export function remindOfRejected({ isFollowed }: { readonly isFollowed: boolean }): Feature {
  const asked = new Set<string>()
  const open: Reminder[] = []
  const remind = async (runs: ReadonlySet<Checkpoint>, stateDir: string, tell: Tell) => {
    const news = [...runs].filter(({ run }) => !asked.has(run))
    for (const { run } of news) asked.add(run)
    for (const one of await openOf(news, stateDir)) {
      open.push(one)
      const unreplayed = open.reduce((sum, { documents }) => sum + documents, 0)
      tell({ type: 'warning', message: sayOpen(one), missing: { unreplayed } })
    }
  }
  return ({ tell }) => ({
    prepare: async ({ found, stateDir }) => {
      if (stateDir === undefined) return
      await remind(new Set(found.plan.inputs.flatMap(input => input.by ?? [])), stateDir, tell)
    },
    complete: async () => {
      const worst = open.find(({ isTooMany }) => isTooMany)
      if (worst === undefined || isFollowed) return await Promise.resolve(undefined)
      const { run, documents } = worst
      return failure('REJECTED_NOT_REPLAYED', { run, documents, deadLetters: worst.deadLetters ?? 'no file' })
    },
    receipt: () => (open.length === 0 ? {} : { unreplayed: open.map(({ isTooMany: _, ...one }) => one) }),
  })
}

/** Returns the runs whose rejected documents wait. A file that is gone was dealt with. */
async function openOf(runs: readonly Checkpoint[], stateDir: string): Promise<readonly Reminder[]> {
  const suspects = runs.filter(({ counts }) => counts.rejected > 0)
  if (suspects.length === 0) return []
  const { known } = await knownRuns(stateDir)
  const forgotten = new Set(known.flatMap(one => (one.isForgotten ? [one.checkpoint.run] : [])))
  const replays = replaysIn(known)
  const open: Reminder[] = []
  for (const one of suspects) {
    const isTooMany = one.ended?.failure?.code === 'TOO_MANY_REJECTED'
    for (const { run, counts, path } of leftBy(one, replays)) {
      if (forgotten.has(one.run) || forgotten.has(run) || (path !== undefined && !(await isThere(path)))) continue
      if (path === undefined && !isTooMany) continue
      const deadLetters = path === undefined ? {} : { deadLetters: path }
      open.push({ run, documents: counts.rejected, isTooMany, ...deadLetters })
    }
  }
  return open
}

/** Returns the runs that read each file to its end and sent something of it, by its path. */
function replaysIn(known: readonly KnownRun[]): ReadonlyMap<string, readonly Checkpoint[]> {
  const replays = new Map<string, Checkpoint[]>()
  for (const { checkpoint } of known)
    for (const { status, file, read } of inputsOf(checkpoint)) {
      if (status !== 'finished' || file?.path === undefined || read === 0) continue
      replays.set(file.path, [...(replays.get(file.path) ?? []), checkpoint])
    }
  return replays
}

interface Left extends Pick<Checkpoint, 'run' | 'counts'> {
  readonly path: string | undefined
}

/** Returns what is left of the rejected documents of a run. A replay may have rejected them again, into another file. */
function leftBy(
  run: Checkpoint,
  replays: ReadonlyMap<string, readonly Checkpoint[]>,
  before: ReadonlySet<Checkpoint> = new Set(),
): readonly Left[] {
  const path = pathOf(run)
  const later = path === undefined ? undefined : replays.get(path)
  if (later === undefined) return [{ run: run.run, counts: run.counts, path }]
  // One replay that rejected nothing has stored all of the file.
  if (before.has(run) || later.some(({ counts }) => counts.rejected === 0)) return []
  const seen = new Set([...before, run])
  return later.flatMap(one => leftBy(one, replays, seen))
}

function pathOf({ deadLetters }: Checkpoint): string | undefined {
  return deadLetters === undefined || deadLetters.length === 0 ? undefined : resolve(deadLetters.path)
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

function sayOpen({ run, documents, deadLetters }: Unreplayed): string {
  const what = `run ${run} rejected ${plural(documents, 'document')} of these inputs`
  if (deadLetters === undefined) return `${what}, and wrote no dead letters. To load them again, pass --again`
  return `${what}, and they are not replayed: ${deadLetters}. Correct them and run \`sluice replay ${deadLetters}\`. If you do not need them, delete that file`
}
