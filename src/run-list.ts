import type { Checkpoint } from './ledger/checkpoint.js'
import { checkpointPaths, readCheckpoint, removeCheckpoint } from './ledger/checkpoint-file.js'
import type { Counts } from './ledger/receipt.js'
import { isSluiceError } from './failure/sluice-error.js'
import { lockInputs } from './ledger/lock.js'
import { refuseLive } from './ledger/run-holder.js'
import { type KeptSpool, keptSpools, removeSpool } from './source/kept-spools.js'

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
  /** What is on the disk of the stdin that it loads, where that is spooled. */
  readonly spool?: KeptSpool
}

export interface RunList {
  /** Last written first. */
  readonly runs: readonly KnownRun[]
  /** Stdin that was spooled and that no run knows of: none of it is loaded, the cluster was not reached. */
  readonly spools: readonly KeptSpool[]
  /** Checkpoints that cannot be read, and why. */
  readonly broken: readonly { readonly checkpoint: string; readonly problem: string }[]
}

/** What was forgotten. */
export type Removed = Pick<RunList, 'runs' | 'spools'>

/** Throws SluiceError STATE_UNREADABLE where the folder itself cannot be read. */
export async function listRuns(stateDir: string): Promise<RunList> {
  const spools = await keptSpools(stateDir)
  const runs: KnownRun[] = []
  const broken: { checkpoint: string; problem: string }[] = []
  for (const path of await checkpointPaths(stateDir)) {
    try {
      const checkpoint = await readCheckpoint(path)
      if (checkpoint !== undefined) runs.push(knownRun(path, checkpoint, spools))
    } catch (error) {
      if (!isSluiceError(error)) throw error
      broken.push({ checkpoint: path, problem: error.message })
    }
  }
  const known = new Set(runs.map(({ spool }) => spool?.path))
  return {
    runs: runs.toSorted((one, other) => (one.written < other.written ? 1 : -1)),
    spools: spools.filter(({ path }) => !known.has(path)),
    broken,
  }
}

/**
 * Forgets the checkpoints of a run, which are several where a name was given to several, and deletes what is spooled for it; or a
 * spool of no run, by the name of its folder. Resolves to what it forgot.
 * Throws SluiceError RUN_LOCKED while a process is at it, STATE_UNWRITABLE.
 */
export async function removeRun(stateDir: string, run: string): Promise<Removed> {
  const list = await listRuns(stateDir)
  const runs = list.runs.filter(one => one.run === run)
  const spools = list.spools.filter(one => one.spool === run)
  const [first] = runs
  if (first !== undefined) await refuseLive(stateDir, { run, input: first.inputs[0]?.name ?? '', index: first.index })
  for (const { checkpoint, spool, index } of runs) {
    // What is spooled would be loaded from its start if it stayed.
    if (spool !== undefined) await remove(stateDir, spool, index)
    await removeCheckpoint(checkpoint)
  }
  for (const spool of spools) await remove(stateDir, spool, '(no run)')
  return { runs, spools }
}

/** Nobody may write to it or load from it meanwhile, named or not. */
async function remove(stateDir: string, spool: KeptSpool, index: string): Promise<void> {
  await using _lock = await lockInputs({ stateDir, cluster: '', index, sources: [], spool: spool.path })
  await removeSpool(spool)
}

function knownRun(
  checkpoint: string,
  { run, status, began, written, target, inputs, counts }: Checkpoint,
  spools: readonly KeptSpool[],
): KnownRun {
  const { url, index } = target
  const shown = inputs.map(({ name, status: state, read }) => ({ name, status: state, read }))
  const spool = spools.find(({ ids }) => inputs.some(input => input.spool !== undefined && ids.includes(input.spool)))
  return {
    run,
    status,
    began,
    written,
    url,
    index,
    inputs: shown,
    counts,
    checkpoint,
    ...(spool === undefined ? {} : { spool }),
  }
}
