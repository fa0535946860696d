/** What a run tells the caller while it goes on. */
import type { Cluster } from '../cluster/open-cluster.js'
import { isSluiceError } from '../failure/sluice-error.js'
import type { IngestEvent, IngestOptions } from '../options/ingest-options.js'

export type Tell = (event: IngestEvent) => void

/** A listener that throws loses its place, not the run. */
export function listenerOf({ onEvent }: IngestOptions): Tell {
  let listen: ((event: IngestEvent) => unknown) | undefined = onEvent
  const stop = () => void (listen = undefined)
  return event => {
    try {
      const told = listen?.(event)
      if (told instanceof Promise) told.catch(stop)
    } catch {
      stop()
    }
  }
}

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

/** For what is not worth stopping for. Throws a bug. */
export function tellError(tell: Tell): (error: unknown) => void {
  return error => {
    if (!isSluiceError(error)) throw error
    tell({ type: 'warning', message: error.message })
  }
}
