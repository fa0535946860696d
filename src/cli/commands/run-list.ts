import { basename, extname, resolve } from 'node:path'
import type { Failure } from '../../base/failure/failure.js'
import { nothing } from '../../pipeline/ledger/account.js'
import type { Counts } from '../../pipeline/ledger/receipt.js'
import { endOfCheckpoint, type EndedRun, recordedRuns, wholeEnd } from '../../run/state/runs/history.js'
import type { RunEnd, RunUndone } from '../../run/state/checkpoint/checkpoint.js'
import { lockInputs, ownRuns } from '../../run/state/runs/state-folder.js'
import { type KnownRun, knownRuns, readRun, removeRun } from '../../run/state/runs/runs.js'
import { isoTime } from '../../base/time/clock.js'
import { type KeptSpool, keptSpools, removeSpool } from '../../features/spool/segments.js'

/** A run, also one that was refused at its start or found nothing new. */
export interface ListedRun {
  readonly run: string
  /** `running` also after a kill. */
  readonly status: RunEnd['status']
  /** `ingest` or `replay`. */
  readonly command: string
  /** Another run of the same command has taken its place. It can be verified and undone, but not resumed. */
  readonly isEarlier: boolean
  /** ISO 8601 with an offset: when its last process began, and when that ended or wrote its state last. */
  readonly began: string
  readonly written: string
  /** Undefined if the load runs, was killed, or was that of an older Sluice. */
  readonly exit?: number
  /** Why it failed. */
  readonly failure?: Failure
  /** Set if `sluice undo` deleted its documents. No load takes its inputs for loaded. */
  readonly undone?: RunUndone
  /** Where its documents went, if known. */
  readonly url?: string
  readonly index?: string
  /** As the user named them, absolute. */
  readonly sources: readonly string[]
  /** How many inputs it had, if known. Those that other runs loaded may be missing in `inputs`. */
  readonly inputCount?: number
  readonly inputs: readonly { readonly name: string; readonly status: string; readonly read: number }[]
  /** Counts of documents that a resume would not send again. */
  readonly counts: Counts
  /** The file of the run. */
  readonly checkpoint: string
  /** Spooled stdin of this run on the disk, if any. Absent for an earlier run. */
  readonly spool?: KeptSpool
}

export interface RunList {
  /** Last written first. */
  readonly runs: readonly ListedRun[]
  /** Spooled stdin that belongs to no run. Nothing of it is loaded, because Sluice did not reach the cluster. */
  readonly spools: readonly KeptSpool[]
  /** Checkpoints that cannot be read, and why. `run`: the run's name, if known. */
  readonly broken: readonly { readonly checkpoint: string; readonly run?: string; readonly problem: string }[]
}

/** Throws SluiceError STATE_UNREADABLE if the folder itself cannot be read. */
export async function listRuns(stateDir: string): Promise<RunList> {
  const spools = await keptSpools(stateDir)
  const { known, broken } = await knownRuns(stateDir)
  const kept = known.map(one => ({ ...knownRun(one, spools), isForgotten: one.isForgotten }))
  const ofRuns = new Set(kept.map(({ spool }) => spool?.path))
  const runs = [
    ...kept.filter(({ isForgotten }) => !isForgotten).map(({ isForgotten: _, ...one }) => one),
    ...(await recordedRuns(stateDir)).map(recordedRun),
  ]
  return {
    runs: runs.toSorted((one, other) => Date.parse(other.written) - Date.parse(one.written)),
    spools: spools.filter(({ path }) => !ofRuns.has(path)),
    broken: broken.map(({ path, scope: _, ...why }) => ({ checkpoint: path, ...why })),
  }
}

/**
 * Returns how a run ended: the last one of this name, or that of this file. Undefined: there is no such run. Throws SluiceError
 * STATE_UNREADABLE.
 */
export async function endOfRun(stateDir: string, run: string): Promise<RunEnd | undefined> {
  const { runs } = await listRuns(stateDir)
  const found = runs.find(one => one.run === run || isFileOf(one.checkpoint, run))
  if (found === undefined) return undefined
  const recorded = (await recordedRuns(stateDir)).find(({ path }) => path === found.checkpoint)
  if (recorded !== undefined) return recorded.ended
  const checkpoint = await readRun(found.checkpoint)
  if (checkpoint === undefined) return undefined
  const { ended, inputs } = checkpoint
  return ended === undefined ? endOfCheckpoint(checkpoint) : wholeEnd(ended, inputs)
}

/** Returns whether a person means this file: by its name, with or without its ending, or by its path. */
function isFileOf(path: string, named: string): boolean {
  return [basename(path), basename(path, extname(path))].includes(named) || resolve(path) === resolve(named)
}

/**
 * Forgets a run: deletes all checkpoints with its name, and its spool. `run` can also be the path or file name of one
 * checkpoint, even an unreadable one, or the folder name of a spool without a run. Resolves to the forgotten runs.
 * Throws SluiceError RUN_LOCKED while a process works on one of them, STATE_UNWRITABLE.
 */
export async function forgetRun(stateDir: string, run: string): Promise<RunList> {
  const list = await listRuns(stateDir)
  const runs = list.runs.filter(one => one.run === run || isFileOf(one.checkpoint, run))
  const broken = list.broken.filter(one => one.run === run || isFileOf(one.checkpoint, run))
  const spools = list.spools.filter(one => one.spool === run)
  const owned = [
    ...runs.map(one => ({
      path: one.checkpoint,
      run: one.run,
      input: one.inputs[0]?.name ?? '',
      index: one.index ?? '',
    })),
    ...broken.map(({ checkpoint: path, run: name = run }) => ({ path, run: name, input: path, index: 'its index' })),
  ]
  if (owned.length > 0) {
    await using _ = await ownRuns(stateDir, owned, { isUndo: false })
    // The next run would load a spool that stays from its start.
    for (const { spool, index } of runs) if (spool !== undefined) await remove(stateDir, spool, index ?? '')
    for (const { path } of owned) await removeRun(path)
  }
  for (const spool of spools) await remove(stateDir, spool, '(no run)')
  return { runs, spools, broken }
}

/** Locks the spool, so that no process writes to it or loads from it, with or without a name. */
async function remove(stateDir: string, spool: KeptSpool, index: string): Promise<void> {
  await using _lock = await lockInputs({ stateDir, cluster: '', index, sources: [], folder: spool.path })
  await removeSpool(spool)
}

function knownRun({ path, isEarlier, checkpoint }: KnownRun, spools: readonly KeptSpool[]): ListedRun {
  const { run, status, kind, began, written, target, sources, counts, ended } = checkpoint
  const inputs = [...checkpoint.inputs]
  // Only the last run continues with the rest of a spool.
  const own = isEarlier ? [] : spools
  const spool = own.find(({ ids }) => inputs.some(input => input.copy !== undefined && ids.includes(input.copy)))
  const { inputs: listed = [] } = ended === undefined ? { inputs } : wholeEnd(ended, inputs)
  return {
    run,
    status: ended?.status ?? status,
    command: ended?.command ?? (kind === 'replay' ? 'replay' : 'ingest'),
    isEarlier,
    began: isoTime(ended?.began ?? began),
    written: isoTime(ended?.ended ?? written),
    ...endingOf(ended),
    url: target.url,
    index: target.index,
    sources,
    inputs: listed.map(({ name, status: state, read }) => ({ name, status: state, read })),
    counts,
    checkpoint: path,
    ...(spool === undefined ? {} : { spool }),
  }
}

/** A run that never began, whose inputs cannot be read again, or that was undone. */
function recordedRun({ path, sources, ended }: EndedRun): ListedRun {
  const { run, status, command, began, target = {}, inputs = [] } = ended
  const { url, index } = target
  return {
    run,
    status,
    command,
    isEarlier: false,
    began,
    written: ended.ended ?? began,
    ...endingOf(ended),
    ...(url === undefined ? {} : { url }),
    ...(index === undefined ? {} : { index }),
    sources,
    inputs: inputs.map(({ name, status: state, read }) => ({ name, status: state, read })),
    counts: Object.assign({ ...nothing }, ...countNames.map(name => ({ [name]: ended[name] ?? 0 }))) as Counts,
    checkpoint: path,
  }
}

function endingOf(ended: RunEnd | undefined): Pick<ListedRun, 'exit' | 'failure' | 'inputCount' | 'undone'> {
  if (ended === undefined) return {}
  const { exit, failure, undone, inputs, inputCount = inputs?.length } = ended
  return {
    ...(undone === undefined ? {} : { undone }),
    ...(exit === undefined ? {} : { exit }),
    ...(failure === undefined ? {} : { failure }),
    ...(inputCount === undefined ? {} : { inputCount }),
  }
}

const countNames = Object.keys(nothing) as (keyof Counts)[]
