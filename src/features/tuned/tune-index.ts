/** Tunes the index of a load if the options say so, and restores what a killed load left tuned. */
import { rowOf } from '../../base/operation.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import { isSluiceError } from '../../base/failure/failure.js'
import { settledOf } from '../../pipeline/ledger/account.js'
import type { DocumentSection, GuardedSection, PreparationSection } from '../../options/load.js'
import { invalid } from '../../options/option-checks.js'
import type { BodiesHook, EndingHook, Feature, RouteHook, Run, Started } from '../../run/loop/hooks.js'
import type { JsonObject } from '../../base/json/parse-json.js'
import { systemClock } from '../../base/time/clock.js'
import { BEAT_MS, enter, leave } from './loader.js'
import { beat, readTuned, tune, type Tuning, untune, type Untuned } from './tuned-index.js'
import { showSettings } from './untune.js'

declare module '../../pipeline/ledger/receipt.js' {
  interface Receipt {
    /** Only with `tune`: the index, and whether it has its settings back. `settings`: those of before, null for a default. */
    readonly tuned?: { readonly index: string; readonly settings: JsonObject; readonly restored: boolean }
  }
}

interface Sections {
  readonly documents: DocumentSection
  readonly guarded: GuardedSection | undefined
  readonly preparing: PreparationSection
  readonly dryRun: boolean
}

/** A guarded load tunes its own index, and a pattern has no single one. */
export function tuneIndex({ documents, guarded, preparing, dryRun }: Sections): Feature {
  if (guarded !== undefined || documents.indexPattern !== undefined || dryRun) return () => undefined
  return run => (preparing.tune ? tunes(documents, run) : restoresLeft(run))
}

/** Restores what earlier loads left. Never stops the load. */
function restoresLeft({ tell }: Run): BodiesHook {
  return {
    prepare: async started => {
      // Asking more would cost every load a request.
      if (started.found.isUnrefreshed) await restoreLeft(started, message => tell({ type: 'warning', message }))
    },
  }
}

async function restoreLeft({ cluster, found }: Started, warn: (message: string) => void): Promise<void> {
  try {
    for (const facts of await cluster.indices.read(found.target.index)) {
      const mark = readTuned(facts)
      if (mark === undefined) continue
      const { restored } = await untune(tuningOf(cluster, facts.name, found.plan.run))
      const runs = Object.keys(mark.loaders).join(', ')
      if (Object.keys(restored).length > 0)
        warn(
          `${facts.name} still had the settings of run ${runs}, which has ended. Sluice restored ${showSettings(restored)}`,
        )
    }
  } catch (error) {
    if (!isSluiceError(error)) throw error
    warn(
      `${found.target.index} still has the settings of a load (--tune). Sluice could not restore them: ${error.message}`,
    )
  }
}

/** How long the end of a run that failed may take for it. Platforms kill a process 30 s after they ask it to end. */
const RESTORE_MS = 15_000

function tunes({ into, op }: Sections['documents'], { tell }: Run): RouteHook & BodiesHook & EndingHook {
  const warn = (message: string) => tell({ type: 'warning', message })
  let open: Cluster | undefined
  let started: Started | undefined
  let tuning: Tuning | undefined
  let before: JsonObject | undefined
  let untuned: Untuned | undefined
  let beating: Promise<void> | undefined
  let nextBeat = Infinity

  async function prepare({ cluster, found }: Started): Promise<void> {
    const name = found.target.index
    const what = 'Sluice cannot tune it'
    let { facts, problem } = await cluster.indices.findWriter(name)
    await cluster.privileges.mayManage(facts?.stream ?? facts?.name ?? name, what)
    if (facts === undefined && problem === undefined && rowOf(op).storesNew) {
      await cluster.indices.make(name)
      ;({ facts, problem } = await cluster.indices.findWriter(name))
    }
    if (problem !== undefined) throw invalid('tune', `needs one index: ${problem}`)
    if (facts === undefined) return warn(`${name} does not exist yet, so it is not tuned`)
    tuning = tuningOf(cluster, facts.name, found.plan.run)
    before = await tune(tuning, await enter(tuning.run, Date.now()), before)
    nextBeat = Date.now() + BEAT_MS
  }

  function keepBeating(): void {
    if (tuning === undefined || Date.now() < nextBeat) return
    nextBeat = Date.now() + BEAT_MS
    beating = beat(tuning).catch(() => undefined)
  }

  async function restore(cluster: Cluster): Promise<void> {
    if (tuning === undefined || untuned !== undefined) return
    nextBeat = Infinity
    await beating
    untuned = await untune({ ...tuning, cluster }, before)
    const { index } = tuning
    if (untuned.others.length === 0) await cluster.indices.refresh(index)
    else
      warn(
        `${index} stays tuned, because run ${untuned.others.join(', ')} loads into it too. The last run restores its settings`,
      )
  }

  return {
    connected: async cluster => {
      open = cluster
      return await Promise.resolve([`refreshes and replicas of ${into} are off until the load ends (--tune)`])
    },
    prepare: async run => {
      started = run
      const { plan } = run.found
      if (plan.inputs.every(({ isLoaded }) => isLoaded)) return await restoreLeft(run, warn)
      try {
        await run.retrier(settledOf(plan.before.counts))(async () => await prepare(run))
      } catch (error) {
        await restore(run.cluster).catch(() => undefined)
        throw error
      }
    },
    // The run tells it after each batch, and if others load its documents.
    told: ({ type }) => {
      if (type === 'standing') keepBeating()
    },
    complete: async ({ counts }) => {
      if (started === undefined) return undefined
      const { cluster, retrier } = started
      try {
        await retrier(settledOf(counts))(async () => await restore(cluster))
        return undefined
      } catch (error) {
        if (isSluiceError(error)) return error.failure
        throw error
      }
    },
    finished: async () => {
      if (tuning === undefined || open === undefined || untuned !== undefined) return
      await restore(open.within({ givenUp: AbortSignal.timeout(RESTORE_MS) })).catch((error: unknown) => {
        const why = isSluiceError(error) ? error.message : String(error)
        warn(
          `${tuning?.index} still has the settings of the load, because they could not be restored: ${why}. The next run restores them, or \`sluice untune ${into}\``,
        )
      })
    },
    receipt: () =>
      tuning === undefined
        ? {}
        : { tuned: { index: tuning.index, settings: before ?? {}, restored: untuned?.others.length === 0 } },
    dispose: async () => {
      if (tuning !== undefined) leave(tuning.run)
      return await Promise.resolve()
    },
  }
}

function tuningOf(cluster: Cluster, index: string, run: string): Tuning {
  return { cluster, index, run, clock: systemClock, now: Date.now }
}
