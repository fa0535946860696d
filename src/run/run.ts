/** Runs a load: finds the inputs, locks them, connects, loads, and accounts for every document. */
import { openTarget, resolveTarget } from '../connect/open-target.js'
import type { Batch, Outcome, Source } from '../flow.js'
import type { Receipt } from '../ledger/receipt.js'
import type { Load } from '../options/load.js'
import { findSources } from '../source/open-sources.js'
import { prepareStateDir } from '../state/checkpoint-file.js'
import type { InputLocks } from '../state/lock.js'
import { lockInputs } from '../state/run-locks.js'
import { plainIdentity, type RunIdentity } from '../state/run-identity.js'
import { newRunId } from '../state/token.js'
import { systemClock } from '../time/system-clock.js'
import { listenerOf } from '../options/listener.js'
import { stopSignalsOf } from './stop-signals.js'
import { finishRun } from './finish-run.js'
import { HookList } from './hook-list.js'
import type { Feature, Run } from './hooks.js'
import { load } from './load.js'
import { openDeadLetters } from './open-dead-letters.js'
import { openPipeline } from './open-pipeline.js'
import { startRun } from './start-run.js'
import type { LockedRun, OpenConnection } from './locked-run.js'

export interface Composition {
  /** Checked. */
  readonly load: Load
  /** In the order of their endings. */
  readonly features: readonly Feature[]
  /** Absent: the run opens a connection of its own. */
  readonly connection?: OpenConnection
}

/** Throws as `ingest` does. */
export async function run({ load: asked, features, connection }: Composition): Promise<Receipt> {
  using stop = stopSignalsOf(asked.stopping, systemClock)
  const begun: Run = { load: asked, stop, tell: listenerOf(asked.onEvent) }
  await using hooks = await HookList.open(features, begun)
  const identity = hooks.identify(plainIdentity(asked))
  const found = await sourcesOf(asked, hooks)
  const stateDir = stateDirOf(asked, found, hooks)
  if (stateDir !== undefined) await prepareStateDir(stateDir)
  const folder = stateDir === undefined ? undefined : folderOf(asked, stateDir, identity, hooks)
  await using locks =
    stateDir === undefined ? undefined : await lock(asked, { stateDir, identity, sources: found, folder, hooks })
  // Checks that dead letters can be written before anything is sent over the network.
  await openDeadLetters(asked.documents, { dryRun: asked.dryRun, sources: found, run: asked.state.runId ?? newRunId() })
  return await hooks.around(async () => {
    const sources = await hooks.inputs(found, folder)
    return await loadInputs({ ...begun, hooks, identity, sources, stateDir, locks, connection })
  })
}

async function loadInputs(run: LockedRun): Promise<Receipt> {
  const { load: asked, stop, hooks, tell } = run
  const { cluster, way } = run.connection ?? (await connect(run))
  try {
    const began = performance.now()
    const started = await startRun(run, cluster, way)
    await using deadLetters = await started.openDeadLetters()
    const pipeline = await openPipeline(run, started, deadLetters)
    const { batcher, sender, ledger, keeper } = pipeline
    const loaded = await load({
      inputs: started.found.plan.inputs.filter(({ isLoaded }) => !isLoaded),
      format: { format: asked.inputs.format, ...(asked.inputs.pick === undefined ? {} : { pick: asked.inputs.pick }) },
      batcher,
      send: asked.dryRun ? leaveUnsent : async batch => await sender.send(batch),
      room: async () => await sender.room(),
      halt: () => sender.halt(),
      ledger,
      begin: async input => await keeper?.begin(input),
      opened: (input, kind) => {
        for (const hook of hooks.all) hook.inputOpened?.(input, kind)
      },
      settled: () => {
        for (const hook of hooks.all) hook.batchSettled?.()
        return keeper?.touch()
      },
      progress: () => Object.assign({}, ...hooks.all.map(hook => hook.progress?.(ledger.inputs))) as object,
      stop,
      tell,
    })
    return await finishRun(run, started, pipeline, loaded, performance.now() - began)
  } finally {
    if (run.connection === undefined) await cluster.route.destroy()
  }
}

async function connect({ load: { connecting }, stop }: LockedRun) {
  return await openTarget(connecting, stop.signal).catch((error: unknown) => {
    throw stop.cause(error)
  })
}

async function sourcesOf({ inputs: { source, stdin } }: Load, hooks: HookList): Promise<readonly Source[]> {
  const own = hooks.all.find(({ sources }) => sources !== undefined)?.sources
  return own ?? (await findSources(source, stdin === undefined ? {} : { stdin }))
}

/** Undefined for a dry run, and if no input can be read a second time. */
function stateDirOf({ state, dryRun }: Load, sources: readonly Source[], { all }: HookList): string | undefined {
  const isKept = all.some(({ keepsInputs }) => keepsInputs === true)
  const isGone = !isKept && sources.every(({ file, cursor }) => file === undefined && cursor === undefined)
  return dryRun || isGone ? undefined : state.stateDir
}

function folderOf(asked: Load, stateDir: string, identity: RunIdentity, { all }: HookList): string | undefined {
  const { url } = resolveTarget(asked.connecting)
  return all.map(hook => hook.folder?.({ stateDir, url, identity })).find(folder => folder !== undefined)
}

interface Locking {
  readonly stateDir: string
  readonly identity: RunIdentity
  readonly sources: readonly Source[]
  readonly folder: string | undefined
  readonly hooks: HookList
}

/** Locks before anything is sent over the network: a second run of the same inputs leaves no trace. */
async function lock(
  { connecting }: Load,
  { stateDir, identity, sources, folder, hooks }: Locking,
): Promise<InputLocks> {
  const { url } = resolveTarget(connecting)
  return await lockInputs({
    stateDir,
    cluster: url.href,
    index: identity.label,
    sources,
    instance: hooks.all.find(({ origin }) => origin !== undefined)?.origin,
    folder,
  })
}

/** A dry run sends nothing. */
async function leaveUnsent(batch: Batch): Promise<Outcome> {
  const docs = batch.docs + batch.refused.length
  const outcome = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: batch.docs }
  return await Promise.resolve({ docs, ...outcome, rejected: batch.refused })
}
