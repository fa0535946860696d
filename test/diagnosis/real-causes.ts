/** Causes that only real servers have. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type IngestOptions, ingest } from '../../src/index.js'
import { documents, newIndex, through } from '../contracts/options.js'
import type { RealWorld } from '../contracts/real-world.js'
import { startIpFilter } from '../real/servers/ip-filter.js'
import { findParts, required } from '../real/servers/parts.js'
import { DENIED_PORT } from '../real/servers/squid.js'
import { stopped } from './ask.js'
import type { Cause } from './cause.js'
import { certificateCauses } from './certificate-causes.js'
import { by, doctor, portOf } from './ways.js'

type RealCause = Cause<RealWorld>

/** No name server is asked: Squid has none, and the look past it is left out. */
const unknownHost = 'https://no-such-cluster.invalid:9243'

const proxy: readonly RealCause[] = [
  ...(['https', 'http'] as const).map((scheme): RealCause => ({
    planted: `a port of the cluster URL that the proxy's rules forbid (${scheme})`,
    on: 'Squid',
    expected: 'PROXY_DENIED_TARGET',
    says: 'status 403',
    plant: world => doctor(world, {}, { url: `${scheme}://127.0.0.1:${DENIED_PORT}` }),
  })),
  {
    planted: 'a cluster URL with a host that does not exist',
    on: 'Squid',
    expected: 'PROXY_TARGET_UNREACHABLE',
    says: 'cannot reach no-such-cluster.invalid:9243',
    alike: 'destination',
    plant: world => doctor(world, { directCheck: false }, { url: unknownHost }),
  },
  {
    planted: 'a cluster URL that is that of a private link',
    on: 'Squid',
    expected: 'CLUSTER_PRIVATE_LINK',
    plant: world => doctor(world, { directCheck: false }, { url: 'https://logs.vpce.us-east-1.cluster.invalid:9243' }),
  },
  {
    planted: "a TLS port of the proxy in the cluster URL, instead of the cluster's",
    on: 'Squid',
    expected: 'CLUSTER_CERT_INVALID',
    says: 'static proxy',
    plant: world => doctor(world, {}, { url: `https://127.0.0.1:${portOf(world.proxy.https)}` }),
  },
]

const filter: readonly RealCause[] = [
  ...(['short', 'text'] as const).map((body): RealCause => ({
    planted: `neither address is registered, and the filter says so ${body === 'text' ? 'in plain text' : 'in one word'}`,
    on: 'nginx',
    expected: 'EGRESS_NOT_ALLOWED',
    alike: 'registration',
    plant: async world => {
      await world.refuseWith(body)
      await world.register('none')
      return doctor(world)
    },
  })),
  {
    planted: 'both addresses are mistyped in the policy',
    on: 'nginx',
    expected: 'EGRESS_NOT_ALLOWED',
    alike: 'registration',
    plant: async world => {
      await world.allow(['127.0.0.20', '127.0.0.30'])
      return doctor(world)
    },
  },
  {
    planted: "this machine's own address is registered, and neither of the proxy's",
    on: 'nginx',
    expected: 'EGRESS_NOT_ALLOWED',
    beside: 'FILTER_COVERS_CLIENT',
    plant: async world => {
      await world.allow(['127.0.0.1'])
      return doctor(world)
    },
  },
  {
    planted: "this machine's own address is registered, besides both of the proxy's",
    on: 'nginx',
    expected: 'FILTER_NOT_ENFORCED',
    alike: 'openness',
    plant: async world => {
      await world.allow(['127.0.0.1', ...world.staticIps])
      return doctor(world)
    },
  },
  {
    planted: 'http:// in the cluster URL, and the port for https://',
    on: 'nginx',
    expected: 'GATEWAY_REFUSED',
    says: 'plain HTTP request was sent to HTTPS port',
    plant: world => doctor(world, {}, { url: world.cluster.url.replace(/^https:/, 'http:') }),
  },
]

const ingestInto = (world: RealWorld, index: string, more: Partial<IngestOptions> = {}): IngestOptions => ({
  ...through(world, world.proxy.http),
  preflightConnections: 1,
  source: documents(20),
  index,
  ...more,
})

interface NewKey {
  readonly id: string
  readonly encoded: string
}

async function newKey(world: RealWorld, body: object): Promise<NewKey> {
  const { status, text } = await world.ask('POST', '/_security/api_key?refresh=true', { name: 'planted', ...body })
  if (status !== 200) throw new Error(`no API key: ${status} ${text}`)
  return JSON.parse(text) as NewKey
}

const cluster: readonly RealCause[] = [
  {
    planted: 'an API key that may create documents, and a load that overwrites them (--op index)',
    on: 'Elasticsearch',
    expected: 'CLUSTER_PRIVILEGE_MISSING',
    says: 'lack index',
    plant: world =>
      doctor(world, { index: newIndex('least'), op: 'index' }, { apiKey: world.cluster.leastPrivilegeApiKey }),
  },
  {
    planted: 'an API key that has expired',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    says: 'expired',
    plant: async world => doctor(world, {}, { apiKey: (await newKey(world, { expiration: '1ms' })).encoded }),
  },
  {
    planted: 'an API key that was revoked',
    on: 'Elasticsearch',
    expected: 'CLUSTER_AUTH_REJECTED',
    says: 'invalidated',
    plant: async world => {
      const { id, encoded } = await newKey(world, {})
      await world.ask('DELETE', '/_security/api_key', { ids: [id] })
      return doctor(world, {}, { apiKey: encoded })
    },
  },
  {
    planted: 'an API key that may write to the index, and not make it',
    on: 'Elasticsearch',
    expected: 'CLUSTER_PRIVILEGE_MISSING',
    says: 'lack auto_configure',
    plant: async world => {
      const index = newIndex('unmade')
      const indices = [{ names: ['*'], privileges: ['create_doc', 'view_index_metadata'] }]
      const { encoded } = await newKey(world, { role_descriptors: { planted: { indices } } })
      return doctor(world, { index }, { apiKey: encoded })
    },
  },
  {
    planted: 'an index that is closed (--write-check)',
    on: 'Elasticsearch',
    expected: 'INDEX_REQUEST_REFUSED',
    says: 'index_closed_exception',
    plant: async world => {
      const index = newIndex('closed')
      await world.ask('PUT', `/${index}`)
      await world.ask('POST', `/${index}/_close`)
      return doctor(world, { index, writeCheck: true })
    },
  },
  {
    planted: 'an index that takes no writes, found by a load',
    on: 'Elasticsearch',
    expected: 'INDEX_BLOCKED',
    alike: 'block',
    plant: async world => {
      const index = newIndex('blocked')
      await world.ask('PUT', `/${index}`, { settings: { 'index.blocks.write': true } })
      return { by: 'ingest', run: async () => await stopped(ingest(ingestInto(world, index))) }
    },
  },
  {
    planted: 'a pipeline that does not exist',
    on: 'Elasticsearch',
    expected: 'REQUEST_REFUSED',
    says: 'pipeline with id [geo] does not exist',
    plant: world => ({
      by: 'ingest',
      run: async () => await stopped(ingest(ingestInto(world, newIndex(), { pipeline: 'geo' }))),
    }),
  },
  {
    planted: 'an API key without any privilege on the index, found by a load',
    on: 'Elasticsearch',
    expected: 'CLUSTER_PRIVILEGE_MISSING',
    plant: world => {
      const options = ingestInto(world, newIndex('other'))
      const target = { ...options.target, apiKey: world.cluster.leastPrivilegeApiKey }
      return { by: 'ingest', run: async () => await stopped(ingest({ ...options, target })) }
    },
  },
  {
    planted: 'a mapping that does not fit the documents, and --max-rejected 0',
    on: 'Elasticsearch',
    expected: 'TOO_MANY_REJECTED',
    plant: async world => {
      const index = newIndex('mapped')
      await world.ask('PUT', `/${index}`, { mappings: { properties: { message: { type: 'long' } } } })
      return { by: 'ingest', run: async () => await stopped(ingest(ingestInto(world, index, { maxRejected: 0 }))) }
    },
  },
]

/** nginx before the cluster, with another certificate. */
const certificates = certificateCauses<RealWorld>('nginx', async (world, owner, { cert, key }) => {
  const files = { certFile: join(owner.folder, 'cert.pem'), keyFile: join(owner.folder, 'key.pem') }
  await writeFile(files.certFile, cert)
  await writeFile(files.keyFile, key)
  const { httpsPort: port } = await owner.own(
    startIpFilter({
      nginx: required(findParts().nginx, 'nginx'),
      folder: join(owner.folder, 'nginx'),
      certificate: { ...files, caFile: '' },
      clusterPort: Number(portOf(world.cluster.httpUrl)),
    }),
  )
  return { port }
})

/** A user of both proxies at once: the wrong one of them. */
const swapped: readonly RealCause[] = [
  {
    planted: 'http:// at a port of microsocks itself, with its right password',
    on: 'microsocks',
    expected: 'PROXY_PORT_IS_SOCKS',
    plant: world => doctor(world, by(world, world.proxy.socks5.replace(/^socks5:/, 'http:'))),
  },
]

export const realCauses: readonly RealCause[] = [...swapped, ...proxy, ...certificates, ...filter, ...cluster]
