import { basename, resolve } from 'node:path'
import type { Checkpoint } from '../state/checkpoint.js'
import { removeCheckpoint } from '../state/checkpoint-file.js'
import { ownRuns } from '../state/run-locks.js'
import { type BrokenCheckpoint, type KnownCheckpoint, knownCheckpoints } from '../state/earlier-checkpoints.js'
import type { Counts } from '../ledger/receipt.js'
import { lockInputs } from '../state/run-locks.js'
import { type KeptSpool, keptSpools, removeSpool } from './kept-spools.js'

/** A run with a checkpoint. */
export interface KnownRun {
  readonly run: string
  /** `running` also after a kill. */
  readonly status: Checkpoint['status']
  /** Another run of the same command has taken its place: it can be verified and undone, and no resume goes by it. */
  readonly isEarlier: boolean
  /** ISO 8601: when it was begun, and when the checkpoint was written. */
  readonly began: string
  readonly written: string
  readonly url: string
  readonly index: string
  readonly inputs: readonly { readonly name: string; readonly status: string; readonly read: number }[]
  /** Counts of documents that a resume would not send again. */
  readonly counts: Counts
  readonly checkpoint: string
  /** Spooled stdin of this run on the disk, if any. Absent for an earlier run. */
  readonly spool?: KeptSpool
}

export interface RunList {
  /** Last written first. */
  readonly runs: readonly KnownRun[]
  /** Spooled stdin that belongs to no run. Nothing of it is loaded, because Sluice did not reach the cluster. */
  readonly spools: readonly KeptSpool[]
  /** Checkpoints that cannot be read, and why. `run`: the run's name, if known. */
  readonly broken: readonly { readonly checkpoint: string; readonly run?: string; readonly problem: string }[]
}

/** Throws SluiceError STATE_UNREADABLE if the folder itself cannot be read. */
export async function listRuns(stateDir: string): Promise<RunList> {
  const spools = await keptSpools(stateDir)
  const { known, broken } = await knownCheckpoints(stateDir)
  const runs = known.map(one => knownRun(one, spools))
  const ofRuns = new Set(runs.map(({ spool }) => spool?.path))
  return {
    runs: runs.toSorted((one, other) => (one.written < other.written ? 1 : -1)),
    spools: spools.filter(({ path }) => !ofRuns.has(path)),
    broken: broken.map(brokenRun),
  }
}

/**
 * Forgets a run: deletes all checkpoints with its name, and its spool. `run` can also be the path or file name of one
 * checkpoint, even an unreadable one, or the folder name of a spool without a run. Resolves to the forgotten runs.
 * Throws SluiceError RUN_LOCKED while a process works on one of them, STATE_UNWRITABLE.
 */
export async function removeRun(stateDir: string, run: string): Promise<RunList> {
  const list = await listRuns(stateDir)
  const isNamed = (path: string) =>
    [basename(path), basename(path, '.json')].includes(run) || resolve(path) === resolve(run)
  const runs = list.runs.filter(one => one.run === run || isNamed(one.checkpoint))
  const broken = list.broken.filter(one => one.run === run || isNamed(one.checkpoint))
  const spools = list.spools.filter(one => one.spool === run)
  const owned = [
    ...runs.map(one => ({ path: one.checkpoint, run: one.run, input: one.inputs[0]?.name ?? '', index: one.index })),
    ...broken.map(one => ({
      path: one.checkpoint,
      run: one.run ?? run,
      input: one.checkpoint,
      index: 'its index',
    })),
  ]
  if (owned.length > 0) {
    await using _ = await ownRuns(stateDir, owned, { isUndo: false })
    // The next run would load a spool that stays from its start.
    for (const { spool, index } of runs) if (spool !== undefined) await remove(stateDir, spool, index)
    for (const { path } of owned) await removeCheckpoint(path)
  }
  for (const spool of spools) await remove(stateDir, spool, '(no run)')
  return { runs, spools, broken }
}

/** Locks the spool, so that no process writes to it or loads from it, with or without a name. */
async function remove(stateDir: string, spool: KeptSpool, index: string): Promise<void> {
  await using _lock = await lockInputs({ stateDir, cluster: '', index, sources: [], folder: spool.path })
  await removeSpool(spool)
}

function knownRun({ path, isEarlier, checkpoint }: KnownCheckpoint, spools: readonly KeptSpool[]): KnownRun {
  const { run, status, began, written, target, inputs, counts } = checkpoint
  const { url, index } = target
  const shown = inputs.map(({ name, status: state, read }) => ({ name, status: state, read }))
  // Only the last run continues with the rest of a spool.
  const own = isEarlier ? [] : spools
  const spool = own.find(({ ids }) => inputs.some(input => input.copy !== undefined && ids.includes(input.copy)))
  return {
    run,
    status,
    isEarlier,
    began,
    written,
    url,
    index,
    inputs: shown,
    counts,
    checkpoint: path,
    ...(spool === undefined ? {} : { spool }),
  }
}

function brokenRun({ path, run, problem }: BrokenCheckpoint): RunList['broken'][number] {
  return { checkpoint: path, ...(run === undefined ? {} : { run }), problem }
}
