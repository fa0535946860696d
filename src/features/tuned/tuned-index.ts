/**
 * Tunes an index for loads, and restores it after the last one. The index remembers the settings from before, and who loads, in its
 * mapping (`_meta.sluice_tuned`): any machine finds them after a crash. The cluster replaces `_meta` as a whole, so each change is
 * read again. If two changes meet, the settings come back too early, and never too late.
 */
import { type IndexFacts, loadSettings, metaOf, readMark, setMeta, setSettings } from '../../route/cluster/indices.js'
import type { Cluster } from '../../route/cluster/open-cluster.js'
import type { Clock } from '../../base/flow.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import { type LoadingRun, readLoader, seenAt, stillLoading } from './loader.js'

interface TunedMark {
  /** Settings before the first load. null: not set. */
  readonly restore: JsonObject
  /** The runs that load, by name. */
  readonly loaders: Readonly<Record<string, LoadingRun>>
}

/** Returns undefined if no load has tuned the index. */
export function readTuned({ mappings }: Pick<IndexFacts, 'mappings'>): TunedMark | undefined {
  const { sluice_tuned: mark } = metaOf(mappings)
  if (!isObject(mark) || !isObject(mark['restore'])) return undefined
  const named = Object.entries(isObject(mark['loaders']) ? mark['loaders'] : {})
  const loaders = named.flatMap(([run, value]) => {
    const loader = readLoader(value)
    return loader === undefined ? [] : [[run, loader] as const]
  })
  return { restore: mark['restore'], loaders: Object.fromEntries(loaders) }
}

async function setTuned(cluster: Cluster, facts: IndexFacts, mark: TunedMark | undefined): Promise<void> {
  await setMeta(cluster, facts, { sluice_tuned: mark })
}

/** How often a change is made again because another one came between. */
const ATTEMPTS = 10
/** Longer than another process takes from reading the mark to writing it. */
const SETTLE_MS = 500

export interface Tuning {
  readonly cluster: Cluster
  readonly index: string
  readonly run: string
  readonly clock: Pick<Clock, 'sleep'>
  readonly now: () => number
}

/** Resolves to the settings from before, or undefined if the index is gone. May be repeated. Throws SluiceError: see `call`. */
export async function tune(tuning: Tuning, loader: LoadingRun, known?: JsonObject): Promise<JsonObject | undefined> {
  const { cluster, index, run, now } = tuning
  let before = known
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const facts = await read(cluster, index)
    if (facts === undefined) return undefined
    const mark = readTuned(facts)
    if (attempt > 0 && mark?.loaders[run] !== undefined) break
    const { changes, restore } = loadSettings(facts, cluster)
    // A guarded load that was interrupted remembers them too.
    const saved = mark?.restore ?? before ?? readMark(facts.mappings)?.restore ?? {}
    // A process that was killed before it changed a setting remembers old values of that setting.
    const isTuned = Object.entries(changes).some(([name, value]) => restore[name] === value)
    const own = Object.entries(restore).filter(([name, value]) => value !== changes[name] || saved[name] === undefined)
    before = { ...(isTuned ? saved : {}), ...Object.fromEntries(own) }
    const others = await stillLoading(mark?.loaders ?? {}, now())
    // The mark first: a process that is killed here has changed no settings yet.
    await setTuned(cluster, facts, { restore: before, loaders: { ...others, [run]: loader } })
    await setSettings(cluster, index, changes)
  }
  return before
}

/** Says that the run still loads. Does nothing if somebody has restored the index. Throws SluiceError: see `call`. */
export async function beat({ cluster, index, run, now }: Tuning): Promise<void> {
  const facts = await read(cluster, index)
  const mark = facts === undefined ? undefined : readTuned(facts)
  const loader = mark?.loaders[run]
  if (facts === undefined || mark === undefined || loader === undefined) return
  await setTuned(cluster, facts, { ...mark, loaders: { ...mark.loaders, [run]: seenAt(loader, now()) } })
}

export interface Untuned {
  /** Settings that are back. null: the default of the cluster. */
  readonly restored: JsonObject
  /** Runs that still load. The last one of them restores the settings. */
  readonly others: readonly string[]
}

/**
 * Restores the settings, unless another run still loads. Leaves settings that somebody changed meanwhile. `known`: the settings from
 * before, if this process knows them. `force`: restores them in any case. May be repeated. Throws SluiceError: see `call`.
 */
export async function untune(tuning: Tuning, known?: JsonObject, force = false): Promise<Untuned> {
  const { cluster, index, run, clock, now } = tuning
  let restored: JsonObject = {}
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const facts = await read(cluster, index)
    if (facts === undefined) break
    const mark = readTuned(facts)
    const { [run]: own, ...loaders } = mark?.loaders ?? {}
    const others = force ? {} : await stillLoading(loaders, now())
    const names = Object.keys(others)
    if (mark !== undefined && names.length > 0) {
      if (own === undefined) return { restored: {}, others: names }
      await setTuned(cluster, facts, { ...mark, loaders: others })
      // Another one that read the mark before may write this run into it again.
      await clock.sleep(SETTLE_MS)
      continue
    }
    const due = leftTuned(facts, mark?.restore ?? known ?? {}, cluster)
    if (mark === undefined && Object.keys(due).length === 0) break
    restored = { ...restored, ...due }
    if (Object.keys(due).length > 0) await setSettings(cluster, index, due)
    if (mark !== undefined) await setTuned(cluster, facts, undefined)
  }
  return { restored, others: [] }
}

/** Returns settings to restore that still have the value for a load. */
function leftTuned(facts: IndexFacts, restore: JsonObject, cluster: Cluster): JsonObject {
  const tuned = { ...loadSettings(facts, cluster).changes, 'index.auto_expand_replicas': 'false' }
  const due = Object.entries(tuned).filter(([name, value]) => {
    const before = restore[name]
    return before !== undefined && before !== value && facts.settings[name] === value
  })
  return Object.fromEntries(due.map(([name]) => [name, restore[name]]))
}

async function read(cluster: Cluster, index: string): Promise<IndexFacts | undefined> {
  return (await cluster.indices.read(index)).find(({ name }) => name === index)
}
