import { basename, resolve } from 'node:path'
import type { Checkpoint } from './ledger/checkpoint.js'
import { removeCheckpoint } from './ledger/checkpoint-file.js'
import { ownRuns } from './ledger/checkpoint-lock.js'
import { type BrokenCheckpoint, type KnownCheckpoint, knownCheckpoints } from './ledger/known-checkpoints.js'
import type { Counts } from './ledger/receipt.js'

/** A run that a checkpoint tells of. */
export interface KnownRun {
  readonly run: string
  /** `running` also where the process was killed. */
  readonly status: Checkpoint['status']
  /** Another run of the same command has taken its place: it can be verified and undone, and no resume goes by it. */
  readonly isEarlier: boolean
  /** ISO 8601: when it was begun, and when the checkpoint was written. */
  readonly began: string
  readonly written: string
  readonly url: string
  readonly index: string
  readonly inputs: readonly { readonly name: string; readonly status: string; readonly read: number }[]
  /** Of what a resume would not send again. */
  readonly counts: Counts
  readonly checkpoint: string
}

export interface RunList {
  /** Last written first. */
  readonly runs: readonly KnownRun[]
  /** Checkpoints that cannot be read, and why. `run`: where its name can be told all the same. */
  readonly broken: readonly { readonly checkpoint: string; readonly run?: string; readonly problem: string }[]
}

/** Throws SluiceError STATE_UNREADABLE where the folder itself cannot be read. */
export async function listRuns(stateDir: string): Promise<RunList> {
  const { known, broken } = await knownCheckpoints(stateDir)
  return {
    runs: known.map(knownRun).toSorted((one, other) => (one.written < other.written ? 1 : -1)),
    broken: broken.map(brokenRun),
  }
}

/**
 * Forgets the checkpoints of a run, which are several where a name was given to several; or one checkpoint by its path or file
 * name, also where it cannot be read. Resolves to those it forgot.
 * Throws SluiceError RUN_LOCKED while a process is at one of them, STATE_UNWRITABLE.
 */
export async function removeRun(stateDir: string, run: string): Promise<RunList> {
  const { known, broken } = await knownCheckpoints(stateDir)
  const isNamed = (path: string) =>
    [basename(path), basename(path, '.json')].includes(run) || resolve(path) === resolve(run)
  const found = known.filter(({ path, checkpoint }) => checkpoint.run === run || isNamed(path))
  const damaged = broken.filter(one => one.run === run || isNamed(one.path))
  const owned = [
    ...found.map(({ path, checkpoint: { run: name, inputs, target } }) => {
      return { path, run: name, input: inputs[0]?.name ?? '', index: target.index }
    }),
    ...damaged.map(({ path, run: name = run }) => ({ path, run: name, input: path, index: 'its index' })),
  ]
  if (owned.length > 0) {
    await using _ = await ownRuns(stateDir, owned, { isUndo: false })
    for (const { path } of owned) await removeCheckpoint(path)
  }
  return { runs: found.map(knownRun), broken: damaged.map(brokenRun) }
}

function knownRun({ path, isEarlier, checkpoint }: KnownCheckpoint): KnownRun {
  const { run, status, began, written, target, inputs, counts } = checkpoint
  const { url, index } = target
  const shown = inputs.map(({ name, status: state, read }) => ({ name, status: state, read }))
  return { run, status, isEarlier, began, written, url, index, inputs: shown, counts, checkpoint: path }
}

function brokenRun({ path, run, problem }: BrokenCheckpoint): RunList['broken'][number] {
  return { checkpoint: path, ...(run === undefined ? {} : { run }), problem }
}
