/** Causes that only the lab can be made to have. */
import type { Faults } from '../../src/lab/index.js'
import type { LabWorld } from '../contracts/lab-world.js'
import type { Cause } from './cause.js'
import { certificateCauses } from './certificate-causes.js'
import { showing } from './listeners.js'
import { doctor } from './ways.js'

type LabCause = Cause<LabWorld>
type Told = Pick<Cause, 'says' | 'alike' | 'beside'>

const faulty = (
  planted: string,
  expected: Cause['expected'],
  faults: Faults,
  { more = {}, ...told }: Told & { more?: Parameters<typeof doctor>[1] } = {},
): LabCause => ({
  planted,
  on: 'the lab',
  expected,
  ...told,
  plant: world => {
    world.lab.control.plant(faults)
    return doctor(world, more)
  },
})

const faults: readonly LabCause[] = [
  faulty(
    'an account of the proxy that is closed: right credentials are refused',
    'PROXY_AUTH_REJECTED',
    { login: {} },
    { alike: 'proxyLogin' },
  ),
  faulty(
    'a proxy that ends every connection after the login',
    'PROXY_UNREACHABLE',
    { handshake: { kind: 'fin' } },
    { alike: 'proxyGone' },
  ),
  faulty(
    'a proxy that resets every connection after the login',
    'PROXY_UNREACHABLE',
    { handshake: { kind: 'rst' } },
    { alike: 'proxyGone' },
  ),
  faulty(
    'a proxy that answers no request',
    'PROXY_TIMEOUT',
    { handshake: { kind: 'silence' } },
    { alike: 'silence', more: { timeoutMs: 400 } },
  ),
  faulty('a hosting service that does not know the deployment', 'CLUSTER_UNKNOWN_HOST', { edge: 'unknown-resource' }),
  faulty('a hosting service whose deployment is stopped', 'CLUSTER_UNAVAILABLE', { edge: 'unavailable' }),
  faulty('a gateway that allows three requests within a second', 'GATEWAY_LIMITED', { rate: { perSecond: 3 } }),
  faulty('a proxy that is far away', 'LATENCY_CROSS_REGION', { latencyMs: 60 }),
  {
    planted: 'one node of the pair is away',
    on: 'the lab',
    expected: 'PROXY_UNREACHABLE',
    says: 'This node is one of --nodes',
    plant: world => {
      world.lab.control.plant({ nodeDown: { node: 'second', failover: true } })
      return doctor(world, { nodes: world.proxy.nodes })
    },
  },
  {
    planted: 'every connection leaves from the same address',
    on: 'the lab',
    expected: 'EGRESS_ONE_ADDRESS',
    plant: world => {
      world.lab.control.plant({ nodeDown: { node: 'second', failover: true } })
      return doctor(world, { proxy: world.proxy.socks5 })
    },
  },
]

const destinations: readonly LabCause[] = [
  {
    planted: "a destination that the proxy's rules forbid",
    on: 'the lab',
    expected: 'PROXY_DENIED_TARGET',
    plant: world => doctor(world, { directCheck: false }, { url: 'https://192.0.2.1:9243' }),
  },
  ...(['http', 'socks5'] as const).map((kind): LabCause => ({
    planted: `a cluster URL with a host that does not exist, asked of the proxy (${kind})`,
    on: 'the lab',
    expected: 'PROXY_TARGET_UNREACHABLE',
    alike: 'destination',
    plant: world =>
      doctor(world, { directCheck: false, proxy: world.proxy[kind] }, { url: 'https://no-such-cluster.invalid:9243' }),
  })),
  {
    planted: 'a cluster URL that is that of a private link',
    on: 'the lab',
    expected: 'CLUSTER_PRIVATE_LINK',
    plant: world => doctor(world, { directCheck: false }, { url: 'https://logs.vpce.us-east-1.cluster.invalid:9243' }),
  },
  ...(
    [
      ['a private address in the cluster URL', 'https://10.1.2.3:9243', 'is a private address'],
      [
        'a name of a private network in the cluster URL',
        'https://elasticsearch:9200',
        'is a name of a private network',
      ],
    ] as const
  ).map(([planted, url, says]): LabCause => ({
    planted,
    on: 'the lab',
    expected: 'CLUSTER_PRIVATE_LINK',
    says,
    plant: world => doctor(world, { directCheck: false }, { url }),
  })),
]

const policies: readonly LabCause[] = [
  ...(['short', 'text'] as const).map((body): LabCause => ({
    planted: `neither address is registered, and the filter says so ${body === 'text' ? 'in plain text' : 'in one word'}`,
    on: 'the lab',
    expected: 'EGRESS_NOT_ALLOWED',
    alike: 'registration',
    plant: world => {
      world.lab.control.setFilterBody(body)
      world.lab.control.register('none')
      return doctor(world)
    },
  })),
  {
    planted: 'both addresses are mistyped in the policy',
    on: 'the lab',
    expected: 'EGRESS_NOT_ALLOWED',
    alike: 'registration',
    plant: world => {
      attach(world, ['127.0.0.20/32', '127.0.0.30/32'], 'none')
      return doctor(world)
    },
  },
  {
    planted: 'the policy with both addresses is not attached, and another one is',
    on: 'the lab',
    expected: 'EGRESS_NOT_ALLOWED',
    alike: 'registration',
    plant: world => {
      const { control } = world.lab
      control.register('none')
      control.createPolicy({ name: 'static pair', rules: world.staticIps.map(address => `${address}/32`) })
      return doctor(world)
    },
  },
  {
    planted: "this machine's own address is registered, and neither of the proxy's",
    on: 'the lab',
    expected: 'EGRESS_NOT_ALLOWED',
    beside: 'FILTER_COVERS_CLIENT',
    plant: world => {
      attach(world, ['127.0.0.1/32'], 'none')
      return doctor(world)
    },
  },
  {
    planted: "this machine's own address is registered, besides both of the proxy's",
    on: 'the lab',
    expected: 'FILTER_NOT_ENFORCED',
    alike: 'openness',
    plant: world => {
      attach(world, ['127.0.0.1/32'], 'both')
      return doctor(world)
    },
  },
  {
    planted: 'the URL is that of the managed ingest endpoint, which no filter guards',
    on: 'the lab',
    expected: 'FILTER_NOT_APPLIED',
    plant: world => {
      const { url = '', apiKey } = world.lab.line.managed ?? {}
      return doctor(world, {}, { url, apiKey })
    },
  },
  ...(
    [
      ['unattached', 'the policy was made, and none is attached'],
      ['both+everyone', 'a policy for everybody is attached besides the right one'],
    ] as const
  ).map(([which, planted]): LabCause => ({
    planted,
    on: 'the lab',
    expected: 'FILTER_NOT_ENFORCED',
    alike: 'openness',
    plant: world => {
      world.lab.control.register(which)
      return doctor(world)
    },
  })),
]

function attach({ lab: { control } }: LabWorld, rules: readonly string[], beside: 'none' | 'both'): void {
  control.register(beside)
  control.attachPolicy(control.createPolicy({ name: 'planted', rules }).id)
}

const certificates = certificateCauses<LabWorld>('the lab', async (_, owner, leaf) => await owner.own(showing(leaf)))

export const labCauses: readonly LabCause[] = [...faults, ...destinations, ...certificates, ...policies]
