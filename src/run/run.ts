/** Runs a load: finds the inputs, locks them, connects, loads, and accounts for every document. */
import { openTarget, resolveTarget } from '../connect/open-target.js'
import type { Batch, Outcome, Source } from '../flow.js'
import type { Receipt } from '../ledger/receipt.js'
import type { IngestEvent } from '../options/ingest-options.js'
import type { InputSection, StopSection } from '../options/load.js'
import { findSources } from '../source/open-sources.js'
import { prepareStateDir } from '../state/checkpoint-file.js'
import { lockInputs } from '../state/run-locks.js'
import { newRunId, plainIdentity } from '../state/run-identity.js'
import { systemClock } from '../time/system-clock.js'
import { listenerOf } from '../options/listener.js'
import { stopSignalsOf } from './stop-signals.js'
import { finishRun } from './finish-run.js'
import { HookList } from './hook-list.js'
import type { Feature, Run } from './hooks.js'
import { load } from './load-documents.js'
import type { LockedRun, OpenConnection, RunSections } from './locked-run.js'
import { openDeadLetters } from './open-dead-letters.js'
import { openPipeline } from './open-pipeline.js'
import { startRun } from './start-run.js'

export interface Composition {
  readonly load: RunSections & LoopSections
  /** In the order of their endings. */
  readonly features: readonly Feature[]
  /** Absent: the run opens its own connection. */
  readonly connection?: OpenConnection
}

interface LoopSections {
  readonly inputs: InputSection
  readonly stopping: StopSection
  readonly onEvent: ((event: IngestEvent) => void) | undefined
}

/** Throws as `ingest` does. */
export async function run({ load: sections, features, connection }: Composition): Promise<Receipt> {
  const { inputs, documents, state, dryRun } = sections
  using stop = stopSignalsOf(sections.stopping, systemClock)
  const begun: Run = { stop, tell: listenerOf(sections.onEvent) }
  await using hooks = await HookList.open(features, begun)
  const identity = hooks.identify(plainIdentity(inputs, documents))
  const found = await sourcesOf(inputs, hooks)
  const stateDir = mayResume(found, hooks) && !dryRun ? state.stateDir : undefined
  if (stateDir !== undefined) await prepareStateDir(stateDir)
  const place = stateDir === undefined ? undefined : { stateDir, url: resolveTarget(sections.connecting).url, identity }
  const folder = place === undefined ? undefined : hooks.folder(place)
  // Locks before anything is sent over the network: a second run of the same inputs leaves no trace.
  await using locks =
    place === undefined
      ? undefined
      : await lockInputs({
          stateDir: place.stateDir,
          cluster: place.url.href,
          index: identity.label,
          sources: found,
          instance: hooks.origin,
          folder,
        })
  // Checks that dead letters can be written before anything is sent over the network.
  await openDeadLetters(documents, { dryRun, sources: found, run: state.runId ?? newRunId() })
  return await hooks.around(async () => {
    const sources = await hooks.inputs(found, folder)
    return await loadInputs({ ...begun, sections, hooks, identity, sources, stateDir, locks, connection }, inputs)
  })
}

async function loadInputs(run: LockedRun, { format, pick }: InputSection): Promise<Receipt> {
  const { sections, stop, hooks, tell } = run
  const { cluster, way } = run.connection ?? (await connect(run))
  try {
    const began = performance.now()
    const started = await startRun(run, cluster, way)
    await using deadLetters = await started.openDeadLetters()
    const pipeline = await openPipeline(run, started, deadLetters)
    const { batcher, sender, ledger, keeper } = pipeline
    const loaded = await load({
      inputs: started.found.plan.inputs.filter(({ isLoaded }) => !isLoaded),
      format: { format, ...(pick === undefined ? {} : { pick }) },
      batcher,
      send: sections.dryRun ? leaveUnsent : async batch => await sender.send(batch),
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

async function connect({ sections: { connecting }, stop }: LockedRun) {
  return await openTarget(connecting, stop.signal).catch((error: unknown) => {
    throw stop.cause(error)
  })
}

async function sourcesOf({ source, stdin }: InputSection, hooks: HookList): Promise<readonly Source[]> {
  return hooks.sources ?? (await findSources(source, stdin === undefined ? {} : { stdin }))
}

/** Returns whether an input can be read twice. */
function mayResume(sources: readonly Source[], { keepsInputs }: HookList): boolean {
  return keepsInputs || sources.some(({ file, cursor }) => file !== undefined || cursor !== undefined)
}

/** A dry run sends nothing. */
async function leaveUnsent(batch: Batch): Promise<Outcome> {
  const docs = batch.docs + batch.refused.length
  const outcome = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: batch.docs }
  return await Promise.resolve({ docs, ...outcome, rejected: batch.refused })
}
