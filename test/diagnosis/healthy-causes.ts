/** Nothing is wrong: then nothing may be found that anybody has to act on. */
import { clusterSchemes, newIndex, proxyKinds } from '../contracts/options.js'
import type { Cause } from './cause.js'
import { by, doctor } from './ways.js'

const ways = proxyKinds.flatMap(kind =>
  clusterSchemes.map((scheme): Cause => ({
    planted: `nothing, over ${kind} to ${scheme}`,
    on: kind === 'http' || kind === 'https' ? 'Squid' : 'microsocks',
    expected: 'nothing',
    plant: world => {
      const url = scheme === 'https' ? world.cluster.url : world.cluster.httpUrl
      return doctor(world, { ...by(world, world.proxy[kind]), nodes: world.proxy.nodes, index: newIndex() }, { url })
    },
  })),
)

export const healthyCauses: readonly Cause[] = [
  ...ways,
  {
    planted: 'nothing: an API key that may load, and may not ask for the version (no `monitor`)',
    on: 'Elasticsearch',
    expected: 'nothing',
    plant: world => doctor(world, { index: newIndex('least') }, { apiKey: world.cluster.leastPrivilegeApiKey }),
  },
  {
    planted: 'nothing: a user and a password',
    on: 'Elasticsearch',
    expected: 'nothing',
    plant: world => {
      const { username, password } = world.cluster
      return doctor(world, { index: newIndex() }, { apiKey: undefined, username, password })
    },
  },
]
