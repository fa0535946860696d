/** What can be wrong with the cluster, or with what stands in its place, on any world. */
import { newIndex } from '../contracts/options.js'
import { type Cause, WRONG } from './cause.js'
import { createSigner } from './certificates.js'
import { answering, closedPort, listen, showing } from './listeners.js'
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
    planted: "the password of a cluster user in the user's place",
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    says: 'unable to authenticate this user',
    plant: world => doctor(world, {}, { apiKey: undefined, username: WRONG, password: 'elastic' }),
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

/** What stands in the place of the cluster, and what says so. */
const strangers: readonly Cause[] = [
  inPlace('a cluster URL that leads to Kibana', 'CLUSTER_NOT_ELASTICSEARCH', [200, '<html>Kibana</html>', html], {
    says: 'it is Kibana',
  }),
  inPlace(
    'a cluster URL that leads to the login page of Kibana',
    'CLUSTER_NOT_ELASTICSEARCH',
    [302, '', { location: '/login?next=%2F', 'kbn-name': 'kibana', 'kbn-license-sig': 'a' }],
    { says: 'it is Kibana' },
  ),
  inPlace(
    'a cluster URL that leads to Kibana, which wants a login (401)',
    'CLUSTER_NOT_ELASTICSEARCH',
    [401, '{"statusCode":401,"error":"Unauthorized","message":"Unauthorized"}', { ...json, 'kbn-name': 'kibana' }],
    { says: 'it is Kibana' },
  ),
  inPlace(
    'a cluster URL that leads to OpenSearch, which signs nothing',
    'CLUSTER_NOT_ELASTICSEARCH',
    [200, root({ number: '2.19.0', distribution: 'opensearch' }), json],
    { says: 'it is OpenSearch' },
  ),
  inPlace(
    'a cluster URL that leads to OpenSearch, which wants a login (401)',
    'CLUSTER_NOT_ELASTICSEARCH',
    [401, 'Unauthorized', { 'www-authenticate': 'Basic realm="OpenSearch Security"' }],
    { says: 'it is OpenSearch' },
  ),
  inPlace('a cluster of version 7.10, which signs nothing', 'CLUSTER_VERSION_UNSUPPORTED', [
    200,
    root({ number: '7.10.2', build_flavor: 'default' }),
    json,
  ]),
  inPlace(
    'a gateway that takes the product header out of answers',
    'CLUSTER_NOT_ELASTICSEARCH',
    [200, root({ number: '9.1.0', build_flavor: 'default' }), json],
    { says: 'a gateway removed its header x-elastic-product' },
  ),
  inPlace(
    'a cluster URL that leads to a login page (200)',
    'CLUSTER_NOT_ELASTICSEARCH',
    [200, '<!doctype html><title>Log in</title><input type="password">', html],
    { says: 'it is a login page' },
  ),
  inPlace(
    'a cluster URL that leads to the dashboard of a service',
    'CLUSTER_NOT_ELASTICSEARCH',
    [200, '<!doctype html><title>Dashboard</title><p>Your proxies</p>', html],
    { says: 'it is a web page' },
  ),
  inPlace(
    'a gateway that takes the credentials out of requests',
    'CLUSTER_AUTH_REJECTED',
    [
      401,
      JSON.stringify({
        error: {
          type: 'security_exception',
          reason: 'missing authentication credentials for REST request [/]',
        },
        status: 401,
      }),
      json,
    ],
    { says: 'they did not arrive' },
  ),
  inPlace(
    'a cluster whose licence has ended (403)',
    'CLUSTER_LICENSE_ENDED',
    [
      403,
      JSON.stringify({
        error: { type: 'security_exception', reason: 'current license is non-compliant for [security]' },
        status: 403,
      }),
      signed,
    ],
    { says: 'license is non-compliant' },
  ),
  inPlace(
    'http:// in the cluster URL, and a TLS port that says so (400)',
    'CLUSTER_TLS_MISMATCH',
    [400, 'Client sent an HTTP request to an HTTPS server.\n', {}],
    { says: 'the URL says http://' },
  ),
  {
    planted: 'http:// in the cluster URL, and a TLS port that hangs up',
    on: 'a server of the test',
    expected: 'CLUSTER_TLS_MISMATCH',
    says: 'the URL says http://',
    plant: async (world, owner) => {
      const { port } = await owner.own(showing(await (await createSigner()).issue(['127.0.0.1'])))
      return doctor(world, {}, { url: `http://127.0.0.1:${port}` })
    },
  },
  inPlace(
    'a gateway that requires a client certificate (400)',
    'CLUSTER_CLIENT_CERT',
    [400, '<html><head><title>400 No required SSL certificate was sent</title></head></html>', html],
    { says: 'it needs a client certificate' },
  ),
]

const others: readonly Cause[] = [
  inPlace(
    'a cluster URL that leads to OpenSearch',
    'CLUSTER_NOT_ELASTICSEARCH',
    [200, root({ number: '2.19.0', distribution: 'opensearch' }), signed],
    { says: 'opensearch' },
  ),
  inPlace('a cluster of version 7', 'CLUSTER_VERSION_UNSUPPORTED', [200, root({ number: '7.17.29' }), signed]),
  inPlace('a gateway that refuses with a page (403)', 'GATEWAY_REFUSED', [403, '<h1>Forbidden</h1>', html]),
  inPlace(
    'a gateway that sends to a login page (302)',
    'GATEWAY_REFUSED',
    [302, '', { location: 'https://login.example/?state=1' }],
    { says: 'it is a login page, status 302, location: https://login.example/' },
  ),
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
    expected: 'CLUSTER_TLS_MISMATCH',
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

export const clusterCauses: readonly Cause[] = [...destinations, ...strangers, ...others, ...credentials, ...blocks]
