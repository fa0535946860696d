/** Causes that only real servers have: Squid's rules, what nginx says, certificates. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RealWorld } from '../contracts/real-world.js'
import { startIpFilter } from '../real/servers/ip-filter.js'
import { findParts, required } from '../real/servers/parts.js'
import { DENIED_PORT } from '../real/servers/squid.js'
import type { Cause } from './cause.js'
import { certificateCauses } from './certificate-causes.js'
import { realClusterCauses } from './real-cluster-causes.js'
import { doctor, portOf } from './ways.js'

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

export const realCauses: readonly RealCause[] = [...proxy, ...certificates, ...filter, ...realClusterCauses]
