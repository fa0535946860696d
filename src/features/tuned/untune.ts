import { openClusterItself } from '../../route/connect/open-target.js'
import { fail } from '../../base/failure/failure.js'
import type { ConnectOptions } from '../../options/connect-options.js'
import { name } from '../../options/option-checks.js'
import { readConnecting } from '../../options/read-options.js'
import type { JsonObject } from '../../base/json/parse-json.js'
import { systemClock } from '../../base/time/clock.js'
import { readTuned, untune } from './tuned-index.js'

export interface UntuneOptions extends ConnectOptions {
  /** Index, alias or data stream. */
  readonly index: string
}

/** An index that has its settings back. */
export interface Restored {
  readonly index: string
  /** null: the default of the cluster. */
  readonly settings: JsonObject
  /** Runs that were loading into it, or were killed. */
  readonly runs: readonly string[]
}

/**
 * Restores the settings of indices that loads with `tune` have changed, also if one of them still loads. Resolves to these indices.
 *
 * @throws SluiceError OPTION_INVALID, INDEX_REQUEST_REFUSED, and every failure of the route to the cluster
 */
export async function restoreSettings(options: UntuneOptions): Promise<readonly Restored[]> {
  const { index, ...way } = options
  const problem = name(index)
  if (problem !== undefined) throw fail('OPTION_INVALID', { option: 'index', problem })
  const { cluster } = await openClusterItself(readConnecting(way), way.signal)
  try {
    const all: Restored[] = []
    const found = await cluster.indices.read(index)
    if (found.length === 0)
      throw fail('OPTION_INVALID', { option: 'index', problem: `is ${index}, which the cluster does not have` })
    for (const facts of found) {
      const mark = readTuned(facts)
      if (mark === undefined) continue
      const tuning = { cluster, index: facts.name, run: '', clock: systemClock, now: Date.now }
      const { restored } = await untune(tuning, undefined, true)
      all.push({ index: facts.name, settings: restored, runs: Object.keys(mark.loaders) })
    }
    return all
  } finally {
    await cluster.route.destroy()
  }
}

/** Shows settings to people: `refresh_interval 5s, number_of_replicas default`. */
export function showSettings(settings: JsonObject): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name.replace('index.', '')} ${typeof value === 'string' ? value : 'default'}`)
    .join(', ')
}
