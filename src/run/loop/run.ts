/** Runs a load: finds the inputs, locks them, connects, loads, and accounts for every document. */
import { openTarget, resolveTarget } from '../../route/connect/open-target.js'
import { type Failure, isSluiceError } from '../../base/failure/failure.js'
import type { Batch, Outcome, Source } from '../../base/flow.js'
import type { Receipt } from '../../pipeline/ledger/receipt.js'
import type { IngestEvent } from '../../options/run-events.js'
import type { InputSection, RetrySection, StopSection } from '../../options/load.js'
import { namedIn } from '../../options/names.js'
import type { DecodeOptions } from '../../pipeline/format/decode.js'
import { findSources } from '../../pipeline/source/open-sources.js'
import type { ListCopies } from '../state/runs/runs.js'
import { lockInputs, prepareStateDir } from '../state/runs/state-folder.js'
import { newRunId } from '../../base/checksum/tokens.js'
import { plainIdentity } from '../state/resume/run-identity.js'
import { isPath } from '../../base/text/source-url.js'
import { systemClock } from '../../base/time/clock.js'
import { listenerOf } from '../../base/caller.js'
import { stopSignalsOf } from './stop-signals.js'
import { Extent } from './extent.js'
import { finishRun } from './finish-run.js'
import { HookList } from './hook-list.js'
import type { Feature, OpenConnection, Run, RunArguments, RunSections } from './hooks.js'
import { load } from './load-documents.js'
import type { LockedRun } from './locked-run.js'
import { openDeadLetters } from './open-dead-letters.js'
import { openSlots } from '../../pipeline/bulk/slots.js'
import { openPipeline } from './open-pipeline.js'
import { RunRecord } from './run-record.js'
import { startRun } from './start-run.js'

interface Composition extends RunArguments {
  /** The name of the caller's command. */
  readonly command: string
  /** Never written to the state folder. */
  readonly secrets: readonly string[]
  readonly load: RunSections & LoopSections
  /** In the order of their endings. */
  readonly features: readonly Feature[]
  /** A finished run is kept as long as one of its copies. Absent: no run has any. */
  readonly listCopies?: ListCopies
  /** Absent: the run opens its own connection. */
  readonly connection?: OpenConnection
  /** Whether the files that are read stay where they are after the run, so that dead letters may point to long documents in them. */
  readonly filesStay?: boolean
}

interface LoopSections {
  readonly inputs: InputSection
  readonly stopping: StopSection
  readonly onEvent: ((event: IngestEvent) => void) | undefined
}

/** Throws as `ingest` does. */
export async function run(composition: Composition): Promise<Receipt> {
  try {
    return await recordedRun(composition)
  } catch (error) {
    if (!isSluiceError(error) || error.code !== 'INDEX_REPLACED' || !(await mayRepeat(composition))) throw error
    // Sluice sends what the deleted index held again, under the same ids.
    return await recordedRun(composition)
  }
}

/** Returns whether the same inputs can be read again, and would get the same ids. */
async function mayRepeat({ load: { inputs, documents, state }, connection }: Composition): Promise<boolean> {
  if (documents.ids.from === 'cluster' || state.stateDir === undefined || connection !== undefined) return false
  const names = namedIn(inputs.source)
  if (names.length === 0 || names.includes('-')) return false
  // A pipe can be read only once. A table and an object on a server are read anew.
  const paths = names.filter(isPath)
  return paths.length === 0 || (await findSources(paths, {})).every(({ file }) => file !== undefined)
}

async function recordedRun(composition: Composition): Promise<Receipt> {
  const {
    command,
    secrets,
    load: sections,
    connection,
    listCopies = async () => await Promise.resolve([]),
  } = composition
  const { inputs, documents, state, dryRun, onEvent } = sections
  const tell = listenerOf(onEvent)
  const record = new RunRecord({
    command,
    inputs,
    // The caller of runs over its own connection keeps account of them.
    stateDir: dryRun || connection !== undefined ? undefined : state.stateDir,
    state,
    secrets,
    listCopies,
    target: { ...urlOf(sections), index: documents.into },
    warn: message => tell({ type: 'warning', message }),
  })
  try {
    return await runOnce({ ...composition, load: { ...sections, retrying: heard(sections.retrying, record) } }, record)
  } catch (error) {
    throw await record.refused(error)
  } finally {
    await record.prune()
  }
}

/** Shows the record new credentials, so that it can hide them. */
function heard({ refreshCredentials: refresh, ...retrying }: RetrySection, record: RunRecord): RetrySection {
  const refreshCredentials =
    refresh === undefined
      ? undefined
      : async () => {
          const fresh = await refresh()
          record.hide(fresh)
          return fresh
        }
  return { ...retrying, refreshCredentials }
}

/** Returns no URL if the options hold no valid one. */
function urlOf({ connecting }: RunSections): { readonly url?: string } {
  try {
    return { url: resolveTarget(connecting).url.origin }
  } catch {
    return {}
  }
}

async function runOnce(composition: Composition, record: RunRecord): Promise<Receipt> {
  const { load: sections, features, connection, origin, copies } = composition
  const { inputs, documents, state, dryRun } = sections
  using stop = stopSignalsOf(sections.stopping, systemClock)
  const listeners = [listenerOf(sections.onEvent)]
  const tell = (event: IngestEvent) => {
    for (const listen of listeners) listen(event)
  }
  const begun: Run = { stop, tell }
  await using hooks = await HookList.open(features, begun)
  listeners.push(...hooks.all.flatMap(({ told }) => told ?? []))
  const identity = hooks.identify(plainIdentity(inputs, documents))
  const found = await hooks.sources(inputs, stop.signal)
  await using _ = { [Symbol.asyncDispose]: async () => await closeAll(found) }
  begun.tell({ type: 'planning', inputs: found.length })
  const knownFrom = copies !== undefined || found.some(canBeReadTwice) ? state.stateDir : undefined
  // A dry run reads the state. It writes nothing there, and locks nothing.
  const stateDir = dryRun ? undefined : knownFrom
  if (stateDir !== undefined)
    for (const message of await prepareStateDir(stateDir)) begun.tell({ type: 'warning', message })
  const place = stateDir === undefined ? undefined : { stateDir, url: resolveTarget(sections.connecting).url, identity }
  const folder = place === undefined ? undefined : copies?.folder(place)
  // Locks before anything is sent over the network: a second run of the same inputs leaves no trace.
  await using locks =
    place === undefined
      ? undefined
      : await lockInputs({
          stateDir: place.stateDir,
          cluster: place.url.href,
          index: identity.label,
          sources: found,
          instance: origin,
          folder,
        })
  // Checks that dead letters can be written before anything is sent over the network.
  await openDeadLetters(documents, { dryRun, sources: found, run: state.runId ?? newRunId() })
  return await record.around(
    async () =>
      await hooks.around(async () => {
        const sources = copies === undefined ? found : await copies.open(begun, found, folder)
        const known = { sections, hooks, identity, sources, knownFrom, stateDir, locks, connection, record }
        return await loadInputs({ ...begun, ...known, given: composition }, inputs)
      }),
  )
}

async function closeAll(sources: readonly Source[]): Promise<void> {
  await Promise.all(sources.map(async source => await source.close?.()))
}

async function loadInputs(run: LockedRun, { format, pick, csv, members, sheet }: InputSection): Promise<Receipt> {
  const { sections, stop, hooks, tell } = run
  const { cluster, way } = run.connection ?? (await connect(run))
  try {
    const began = performance.now()
    const decoding = (): DecodeOptions => ({
      format,
      pick,
      members,
      sheet,
      csv,
      besides: sections.documents.indexPattern,
      // A dry run writes no dead letters, which would hold the rows.
      showsCells: sections.dryRun,
      ...run.given.decoding?.(cluster),
    })
    const started = await startRun(run, cluster, way, decoding)
    tell({ type: 'begun', run: started.found.plan.run })
    await using deadLetters = await started.openDeadLetters()
    const slots = run.connection?.slots ?? openSlots(sections.connecting, sections.batching)
    using _slots = run.connection === undefined ? slots : undefined
    const pipeline = await openPipeline(run, started, deadLetters, slots)
    const { batcher, sender, ledger, keeper, watch } = pipeline
    await using _ = keeper
    const extent = new Extent(started.found.plan)
    const loadHere = async () =>
      await load({
        inputs: started.found.plan.inputs.filter(({ isLoaded, refused }) => !isLoaded && refused === undefined),
        format: decoding(),
        batcher,
        send: async batch => {
          const refused = hooks.admit(batch)
          if (sections.dryRun || refused !== undefined) return unsent(batch, refused)
          const unkept = keeper === undefined ? undefined : await keeper.sending(batch)
          if (unkept !== undefined) return unsent(batch, unkept)
          return await watch.whileSent(batch, async () => await sender.send(batch))
        },
        room: async () => {
          await sender.room()
          await ledger.room()
        },
        halt: () => sender.halt(),
        ledger,
        begin: async input => {
          extent.begin(input)
          await keeper?.begin(input)
        },
        ...(keeper === undefined ? {} : { watch: (source, lines) => keeper.watch(source, lines) }),
        settled: () => keeper?.touch(),
        soFar: counts => extent.soFar(counts),
        progress: () => Object.assign({}, ...hooks.all.map(hook => hook.progress?.(ledger.inputs))) as object,
        stop,
        tell,
      })
    const loaded = await (run.given.loadElsewhere?.({ inputs: run.sources, ledger, stop, tell }) ?? loadHere())
    return await finishRun(run, started, pipeline, loaded, performance.now() - began)
  } finally {
    if (run.connection === undefined) await cluster.route.destroy()
  }
}

async function connect({ sections: { connecting, retrying }, stop, tell, given: { opening } }: LockedRun) {
  const warn = (message: string) => tell({ type: 'warning', message })
  const patience = { maxElapsedMs: retrying.maxElapsedMs, option: '--max-elapsed' as const, warn }
  const hears = opening === undefined ? {} : { opening }
  return await openTarget(connecting, stop.signal, { patience, ...hears }).catch((error: unknown) => {
    throw stop.cause(error)
  })
}

function canBeReadTwice({ file, cursor, address }: Source): boolean {
  return (file ?? cursor ?? address) !== undefined
}

/** The outcome of a batch that is not sent. */
function unsent(batch: Batch, stop?: Failure): Outcome {
  const docs = batch.docs + batch.refused.length
  const outcome = { created: 0, updated: 0, duplicate: 0, skipped: 0, unknown: 0, unsent: batch.docs }
  return { docs, ...outcome, rejected: batch.refused, ...(stop === undefined ? {} : { stop }) }
}
