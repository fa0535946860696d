import { bounded } from '../cluster/bounds.js'
import type { Cluster } from '../cluster/open-cluster.js'
import type { ByteBudget } from '../sender/layers/budget.js'

/**
 * A cluster that a run asks: its small requests are given up with those of documents, and held back by the same budget of bytes.
 * Where one is, SluiceError RUN_INTERRUPTED is thrown, and the run has ended.
 */
export function bindCluster(cluster: Cluster, givenUp: AbortSignal, budget: ByteBudget | undefined): Cluster {
  const { preflight, probe } = cluster
  return {
    ...cluster,
    bounds: { givenUp, ...(budget === undefined ? {} : { budget }) },
    probe: async (options = {}) => {
      // The preflight has asked on as many as it may.
      const connections = Math.max(preflight.probes, options.atLeast ?? 1)
      return await bounded(budget?.admitConnections(connections), async () => await probe(options))
    },
  }
}
