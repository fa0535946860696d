import { bounded, type Bounds } from '../cluster/bounds.js'
import type { Cluster } from '../cluster/open-cluster.js'

/**
 * Returns the cluster with limits on the small requests of a run: they end with the requests of documents, and share their budget.
 * If the budget refuses one, it throws SluiceError RUN_INTERRUPTED, and the run has ended.
 */
export function limitedCluster(cluster: Cluster, givenUp: AbortSignal, budget: Bounds['budget']): Cluster {
  const { preflight, probe } = cluster
  return {
    ...cluster,
    bounds: { givenUp, ...(budget === undefined ? {} : { budget }) },
    probe: async (options = {}) => {
      // The preflight opens at least as many.
      const connections = Math.max(preflight.probes, options.atLeast ?? 1)
      return await bounded(budget?.admitConnections(connections), async () => await probe(options))
    },
  }
}
