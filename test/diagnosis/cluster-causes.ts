/** What can be wrong with the cluster, or with what stands in its place, on any world. */
import { newIndex } from '../contracts/options.js'
import { type Cause, WRONG } from './cause.js'
import { answering, closedPort, listen } from './listeners.js'
import { asked, by, doctor, unknownKey } from './ways.js'

const credentials: readonly Cause[] = [
  {
    planted: 'an API key that the cluster does not know',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    alike: 'clusterLogin',
    plant: world => doctor(world, {}, { apiKey: unknownKey(WRONG) }),
  },
  {
    planted: 'an API key that was not copied in its encoded form',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    says: 'not in its encoded form',
    plant: world => doctor(world, {}, { apiKey: Buffer.from(world.cluster.apiKey, 'base64').toString() }),
  },
  {
    planted: 'a wrong password of a cluster user',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    alike: 'clusterLogin',
    plant: world => doctor(world, {}, { apiKey: undefined, username: world.cluster.username, password: WRONG }),
  },
  {
    planted: 'a cluster user that does not exist',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    alike: 'clusterLogin',
    plant: world => doctor(world, {}, { apiKey: undefined, username: 'nobody', password: WRONG }),
  },
  {
    planted: 'no credentials for the cluster',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    alike: 'clusterLogin',
    plant: world => doctor(world, {}, { apiKey: undefined }),
  },
  {
    planted: 'an API key without any privilege on the index',
    on: 'Elasticsearch',
    expected: 'CLUSTER_PRIVILEGE_MISSING',
    says: 'lack create_doc',
    plant: world => doctor(world, { index: newIndex('other') }, { apiKey: world.cluster.leastPrivilegeApiKey }),
  },
]

const blocks = ['write', 'read_only', 'read_only_allow_delete'].map((block): Cause => ({
  planted: `an index that takes no writes (index.blocks.${block})`,
  on: 'Elasticsearch',
  expected: 'INDEX_BLOCKED',
  says: `index.blocks.${block} is set`,
  alike: 'block',
  plant: async world => {
    const index = newIndex('blocked')
    await asked(world, async client => {
      await client.indices.create({ index })
      await client.indices.putSettings({ index, settings: { [`index.blocks.${block}`]: true } })
    })
    return doctor(world, { index })
  },
}))

/** Behind the proxy, without a filter. */
const inPlace = (
  planted: string,
  expected: Cause['expected'],
  [status, body, headers]: Parameters<typeof answering>,
  more: Pick<Cause, 'says' | 'alike'> = {},
): Cause => ({
  planted,
  on: 'a server of the test',
  expected,
  ...more,
  plant: async (world, owner) => {
    const { port } = await owner.own(answering(status, body, headers))
    return doctor(world, {}, { url: `http://127.0.0.1:${port}` })
  },
})

const html = { 'content-type': 'text/html' }
const json = { 'content-type': 'application/json' }
const signed = { ...json, 'x-elastic-product': 'Elasticsearch' }
const edge = (message: string) => JSON.stringify({ ok: false, message })
const root = (version: object) => JSON.stringify({ cluster_name: 'planted', version, tagline: 'You Know, for Search' })

const others: readonly Cause[] = [
  inPlace('a cluster URL that leads to Kibana', 'CLUSTER_NOT_ELASTICSEARCH', [200, '<html>Kibana</html>', html]),
  inPlace(
    'a cluster URL that leads to OpenSearch',
    'CLUSTER_NOT_ELASTICSEARCH',
    [200, root({ number: '2.19.0', distribution: 'opensearch' }), signed],
    { says: 'opensearch' },
  ),
  inPlace('a cluster of version 7', 'CLUSTER_VERSION_UNSUPPORTED', [200, root({ number: '7.17.29' }), signed]),
  inPlace('a gateway that refuses with a page (403)', 'GATEWAY_REFUSED', [403, '<h1>Forbidden</h1>', html]),
  inPlace('a gateway that sends to a login page (302)', 'GATEWAY_REFUSED', [
    302,
    '',
    { location: 'https://login.example/' },
  ]),
  inPlace(
    'a gateway that wants a login of its own (401)',
    'CLUSTER_AUTH_REJECTED',
    [401, '<h1>Login</h1>', { ...html, server: 'gateway' }],
    { says: 'server: gateway' },
  ),
  inPlace('a host that the hosting service does not know', 'CLUSTER_UNKNOWN_HOST', [
    404,
    edge('Unknown resource.'),
    json,
  ]),
  inPlace('a deployment that is stopped', 'CLUSTER_UNAVAILABLE', [503, edge('is currently unavailable.'), json]),
  inPlace('a cluster that is still starting', 'CLUSTER_UNAVAILABLE', [
    503,
    JSON.stringify({
      error: { type: 'cluster_block_exception', reason: 'blocked by: [SERVICE_UNAVAILABLE/1/state not recovered];' },
      status: 503,
    }),
    signed,
  ]),
  inPlace('a cluster that has more to do than it takes', 'CLUSTER_OVERLOADED', [429, edge('Slow down.'), json]),
]

const destinations: readonly Cause[] = [
  ...(['http', 'socks5'] as const).map((kind): Cause => ({
    planted: `a cluster URL with a port where nobody listens (${kind})`,
    on: kind === 'http' ? 'Squid' : 'microsocks',
    expected: 'PROXY_TARGET_UNREACHABLE',
    alike: 'destination',
    plant: async world =>
      doctor(world, by(world, world.proxy[kind]), { url: `https://127.0.0.1:${await closedPort()}` }),
  })),
  {
    planted: 'a cluster URL with a port where nobody listens, over http',
    on: 'Squid',
    expected: 'PROXY_TARGET_UNREACHABLE',
    alike: 'destination',
    plant: async world => doctor(world, {}, { url: `http://127.0.0.1:${await closedPort()}` }),
  },
  {
    planted: 'a cluster URL with a host that does not exist (socks5)',
    on: 'microsocks',
    expected: 'PROXY_TARGET_UNREACHABLE',
    alike: 'destination',
    // No name server is asked for a name like this.
    plant: world => doctor(world, { proxy: world.proxy.socks5 }, { url: `https://${'x'.repeat(64)}.localhost:9243` }),
  },
  ...(['https', 'http'] as const).map((scheme): Cause => ({
    planted: `a cluster that takes connections and never answers (${scheme})`,
    on: 'a server of the test',
    expected: 'CLUSTER_TIMEOUT',
    plant: async (world, owner) => {
      const { port } = await owner.own(listen(() => {}))
      return doctor(world, { timeoutMs: 800 }, { url: `${scheme}://127.0.0.1:${port}` })
    },
  })),
  {
    planted: 'a cluster that hangs up on every connection',
    on: 'a server of the test',
    expected: 'CLUSTER_UNAVAILABLE',
    plant: async (world, owner) => {
      const { port } = await owner.own(listen(socket => socket.destroy()))
      return doctor(world, { proxy: world.proxy.socks5 }, { url: `https://127.0.0.1:${port}` })
    },
  },
  {
    planted: 'https:// in the cluster URL, and the port for http://',
    on: 'nginx',
    expected: 'CLUSTER_UNAVAILABLE',
    says: 'does not speak TLS',
    plant: world => doctor(world, {}, { url: world.cluster.httpUrl.replace(/^http:/, 'https:') }),
  },
  {
    planted: 'a cluster certificate that nobody vouches for, because its authority was not named',
    on: 'nginx',
    expected: 'CLUSTER_CERT_INVALID',
    says: 'issued by',
    alike: 'authority',
    plant: world => doctor(world, {}, { ca: undefined }),
  },
  {
    planted: "a fingerprint that is not the cluster's (--ca-fingerprint)",
    on: 'nginx',
    expected: 'CLUSTER_CERT_INVALID',
    plant: world => doctor(world, {}, { ca: undefined, caFingerprint: 'AB'.repeat(32) }),
  },
]

export const clusterCauses: readonly Cause[] = [...destinations, ...others, ...credentials, ...blocks]
