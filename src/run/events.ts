/** Tells the caller what happens in a run. */
import type { Cluster } from '../cluster/open-cluster.js'
import { isSluiceError } from '../failure/failure.js'
import type { IngestEvent } from '../options/ingest-options.js'

export type Tell = (event: IngestEvent) => void

export function tellPreflight(tell: Tell, cluster: Cluster, notes: readonly string[]): void {
  const { preflight, route, display, egress } = cluster
  tell({
    type: 'preflight',
    cluster: display,
    ...(preflight.info === undefined ? {} : { version: preflight.info.version }),
    route: route.proxy === undefined ? 'direct' : `${route.form} through ${route.proxy}`,
    probes: preflight.probes,
    missChance: preflight.missChance,
    egress,
    notes,
  })
}

/** Returns what warns of an error that is not worth stopping for. Throws a bug. */
export function tellError(tell: Tell): (error: unknown) => void {
  return error => {
    if (!isSluiceError(error)) throw error
    tell({ type: 'warning', message: error.message })
  }
}
