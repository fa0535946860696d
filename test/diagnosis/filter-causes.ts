/** What can be wrong with the IP filter and the addresses that it sees, on any world. */
import { documents, newIndex, through } from '../contracts/options.js'
import { stoppedAndDiagnosed } from './ask.js'
import { type Cause, WRONG } from './cause.js'
import { doctor, healthy, unknownKey } from './ways.js'

const partly = (['first', 'second'] as const).flatMap((which): Cause[] => [
  {
    planted: `only the ${which} of the two addresses is registered`,
    on: 'nginx',
    expected: 'EGRESS_PARTLY_ALLOWED',
    says: 'To find out which one, run `sluice doctor --nodes',
    plant: async world => {
      await world.register(which)
      return doctor(world)
    },
  },
  {
    planted: `only the ${which} of the two addresses is registered, and --nodes names both nodes`,
    on: 'nginx',
    expected: 'EGRESS_PARTLY_ALLOWED',
    says: `Blocked: 127.0.0.${which === 'first' ? 3 : 2}`,
    plant: async world => {
      await world.register(which)
      return doctor(world, { nodes: world.proxy.nodes })
    },
  },
])

const combined: readonly Cause[] = [
  {
    planted: 'only one address is registered, and the API key is wrong',
    on: 'nginx',
    expected: 'EGRESS_PARTLY_ALLOWED',
    beside: 'CLUSTER_AUTH_REJECTED',
    plant: async world => {
      await world.register('first')
      return doctor(world, {}, { apiKey: unknownKey(WRONG) })
    },
  },
  {
    planted: 'only one address is registered, and the proxy is reached over SOCKS5',
    on: 'microsocks',
    expected: 'EGRESS_PARTLY_ALLOWED',
    plant: async world => {
      await world.register('second')
      return doctor(world, { proxy: world.proxy.socks5 })
    },
  },
  {
    planted: 'only one address is registered, and the cluster is reached over http',
    on: 'nginx',
    expected: 'EGRESS_PARTLY_ALLOWED',
    plant: async world => {
      await world.register('first')
      return doctor(world, {}, { url: world.cluster.httpUrl })
    },
  },
  {
    planted: 'neither address is registered, and the API key is wrong',
    on: 'nginx',
    expected: 'EGRESS_NOT_ALLOWED',
    plant: async world => {
      await world.register('none')
      return doctor(world, {}, { apiKey: unknownKey(WRONG) })
    },
  },
  {
    planted: 'neither address is registered, and STATIC_IPS names two others',
    on: 'nginx',
    expected: 'EGRESS_UNEXPECTED',
    beside: 'EGRESS_NOT_ALLOWED',
    plant: async world => {
      await world.register('none')
      return doctor(world, { staticIps: ['192.0.2.1', '192.0.2.2'] })
    },
  },
]

const refused: readonly Cause[] = [
  {
    planted: 'neither address is registered',
    on: 'nginx',
    expected: 'EGRESS_NOT_ALLOWED',
    says: 'The connections left from 127.0.0.',
    alike: 'registration',
    plant: async world => {
      await world.register('none')
      return doctor(world)
    },
  },
  {
    planted: 'one single node is used, and its address is not registered',
    on: 'nginx',
    expected: 'EGRESS_NOT_ALLOWED',
    says: 'The connections left from 127.0.0.3',
    plant: async world => {
      await world.register('first')
      return doctor(world, { proxy: world.proxy.nodes[1] })
    },
  },
  {
    planted: 'no proxy is set where the load runs',
    on: 'nginx',
    expected: 'PROXY_NOT_USED',
    says: 'STATIC_IPS names two static addresses',
    beside: 'EGRESS_NOT_ALLOWED',
    plant: world => doctor(world, { proxy: undefined }),
  },
  {
    planted: '--direct is said where the load runs',
    on: 'nginx',
    expected: 'EGRESS_NOT_ALLOWED',
    says: 'Sluice ignores STATIC_PROXY_URL, because --direct is set',
    plant: world => doctor(world, { proxy: { url: world.proxy.http, origin: 'STATIC_PROXY_URL', direct: true } }),
  },
  {
    planted: 'the proxy is in HTTPS_PROXY alone, and NO_PROXY covers the cluster',
    on: 'nginx',
    expected: 'PROXY_NOT_USED',
    says: 'Sluice ignores HTTPS_PROXY',
    beside: 'EGRESS_NOT_ALLOWED',
    plant: world => {
      const noProxy = new URL(world.cluster.url).hostname
      return doctor(world, { proxy: { environmentProxy: world.proxy.http, noProxy } })
    },
  },
]

const open: readonly Cause[] = [
  {
    planted: 'a policy for everybody is attached',
    on: 'nginx',
    expected: 'FILTER_NOT_ENFORCED',
    alike: 'openness',
    plant: async world => {
      await world.register('everyone')
      return doctor(world)
    },
  },
  {
    planted: 'a policy for everybody is attached, and the API key is wrong',
    on: 'nginx',
    expected: 'CLUSTER_AUTH_REJECTED',
    beside: 'FILTER_NOT_ENFORCED',
    plant: async world => {
      await world.register('everyone')
      return doctor(world, {}, { apiKey: unknownKey(WRONG) })
    },
  },
]

const meanwhile: readonly Cause[] = [
  {
    planted: 'both addresses are taken out of the policy while a load goes on',
    on: 'nginx',
    expected: 'EGRESS_NOT_ALLOWED',
    alike: 'registration',
    plant: world => {
      const source = async function* () {
        yield* documents(5)
        await world.register('none')
        yield* documents(100)
      }
      const way = { ...through(world, world.proxy.http), preflightConnections: 1 }
      const load = { ...way, source: source(), index: newIndex(), batchDocs: 5, batchMs: 5 }
      const run = async () => await stoppedAndDiagnosed(load, healthy(world))
      return { by: 'ingest, then its diagnosis', run }
    },
  },
]

export const filterCauses: readonly Cause[] = [...refused, ...partly, ...combined, ...open, ...meanwhile]
