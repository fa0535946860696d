import type { Checkpoint } from './ledger/checkpoint.js'
import { checkpointPaths, readCheckpoint, removeCheckpoint } from './ledger/checkpoint-file.js'
import type { Counts } from './ledger/receipt.js'
import { isSluiceError } from './failure/sluice-error.js'
import { refuseLive } from './ledger/run-holder.js'

/** A run that a checkpoint tells of. */
export interface KnownRun {
  readonly run: string
  /** `running` also where the process was killed. */
  readonly status: Checkpoint['status']
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
  /** Checkpoints that cannot be read, and why. */
  readonly broken: readonly { readonly checkpoint: string; readonly problem: string }[]
}

/** Throws SluiceError STATE_UNREADABLE where the folder itself cannot be read. */
export async function listRuns(stateDir: string): Promise<RunList> {
  const runs: KnownRun[] = []
  const broken: { checkpoint: string; problem: string }[] = []
  for (const path of await checkpointPaths(stateDir)) {
    try {
      const checkpoint = await readCheckpoint(path)
      if (checkpoint !== undefined) runs.push(knownRun(path, checkpoint))
    } catch (error) {
      if (!isSluiceError(error)) throw error
      broken.push({ checkpoint: path, problem: error.message })
    }
  }
  return { runs: runs.toSorted((one, other) => (one.written < other.written ? 1 : -1)), broken }
}

/**
 * Forgets the checkpoints of a run, which are several where a name was given to several. Resolves to those it forgot.
 * Throws SluiceError RUN_LOCKED while a process is at it, STATE_UNWRITABLE.
 */
export async function removeRun(stateDir: string, run: string): Promise<readonly KnownRun[]> {
  const { runs } = await listRuns(stateDir)
  const found = runs.filter(one => one.run === run)
  const [first] = found
  if (first !== undefined) await refuseLive(stateDir, { run, input: first.inputs[0]?.name ?? '', index: first.index })
  for (const { checkpoint } of found) await removeCheckpoint(checkpoint)
  return found
}

function knownRun(checkpoint: string, { run, status, began, written, target, inputs, counts }: Checkpoint): KnownRun {
  const { url, index } = target
  const shown = inputs.map(({ name, status: state, read }) => ({ name, status: state, read }))
  return { run, status, began, written, url, index, inputs: shown, counts, checkpoint }
}
