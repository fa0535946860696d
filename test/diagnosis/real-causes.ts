/** Causes that only real servers have: Squid's rules, what nginx says, certificates. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RealWorld } from '../contracts/real-world.js'
import { issueCertificate } from '../real/servers/certificates.js'
import { startDemanding, startGateway } from '../real/servers/gateway.js'
import { startIpFilter } from '../real/servers/ip-filter.js'
import { findParts, required } from '../real/servers/parts.js'
import { DENIED_PORT, startSquid } from '../real/servers/squid.js'
import type { Cause } from './cause.js'
import { certificateCauses } from './certificate-causes.js'
import { realClusterCauses } from './real-cluster-causes.js'
import { realThreadCauses } from './thread-causes.js'
import { changed, doctor, portOf } from './ways.js'

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
    planted: 'a web server in the proxy URL',
    on: 'nginx',
    expected: 'PROXY_NOT_A_PROXY',
    says: 'server: nginx',
    plant: world => doctor(world, { proxy: `http://127.0.0.1:${portOf(world.cluster.httpUrl)}` }),
  },
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
    planted: 'a private address in the cluster URL, which the rules of the proxy forbid',
    on: 'Squid',
    expected: 'CLUSTER_PRIVATE_LINK',
    says: 'is a private address',
    plant: world => doctor(world, { directCheck: false }, { url: `https://10.1.2.3:${DENIED_PORT}` }),
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
    expected: 'CLUSTER_TLS_MISMATCH',
    says: 'the port expects TLS, but the URL says http://',
    plant: world => doctor(world, {}, { url: world.cluster.url.replace(/^https:/, 'http:') }),
  },
]

/** nginx before the cluster, as the lines say, and the doctor who meets it. */
const gateway = (
  planted: string,
  expected: Cause['expected'],
  says: string,
  lines: (world: RealWorld) => readonly string[],
): RealCause => ({
  planted,
  on: 'nginx',
  expected,
  says,
  plant: async (world, owner) => {
    const nginx = required(findParts().nginx, 'nginx')
    const clusterPort = portOf(world.cluster.httpUrl)
    const { port } = await owner.own(
      startGateway({ nginx, folder: join(owner.folder, 'gateway'), clusterPort, lines: lines(world) }),
    )
    await world.register('everyone')
    return doctor(world, { directCheck: false }, { url: `http://127.0.0.1:${port}` })
  },
})

const gateways: readonly RealCause[] = [
  {
    planted: 'a web server in the proxy URL, and a cluster that is reached over http',
    on: 'nginx',
    expected: 'PROXY_NOT_A_PROXY',
    says: 'it answers requests itself',
    plant: async (world, owner) => {
      const nginx = required(findParts().nginx, 'nginx')
      const { port } = await owner.own(
        startGateway({ nginx, folder: join(owner.folder, 'gateway'), clusterPort: '9', lines: ['return 404;'] }),
      )
      const proxy = `http://127.0.0.1:${port}`
      return doctor(world, { proxy, ipCheckUrl: undefined, directCheck: false }, { url: world.cluster.httpUrl })
    },
  },
  gateway(
    'a real gateway that takes the product header out of answers',
    'CLUSTER_NOT_ELASTICSEARCH',
    'a gateway removed its header x-elastic-product',
    () => ['proxy_hide_header X-elastic-product;'],
  ),
  gateway(
    'a real gateway that takes the credentials out of requests',
    'CLUSTER_AUTH_REJECTED',
    'they did not arrive',
    () => ['proxy_set_header Authorization "";'],
  ),
  {
    planted: 'a real gateway that requires a client certificate',
    on: 'nginx',
    expected: 'CLUSTER_CLIENT_CERT',
    says: 'it needs a client certificate',
    plant: async (world, owner) => {
      const { nginx, openssl } = findParts()
      const folder = join(owner.folder, 'gateway')
      const certificate = await issueCertificate(required(openssl, 'openssl'), join(owner.folder, 'tls'), 'gateway')
      const { port } = await owner.own(
        startGateway({
          nginx: required(nginx, 'nginx'),
          folder,
          clusterPort: portOf(world.cluster.httpUrl),
          certificate,
          lines: [`ssl_client_certificate ${certificate.caFile};`, 'ssl_verify_client on;'],
        }),
      )
      return doctor(world, {}, { url: `https://127.0.0.1:${port}`, ca: await readFile(certificate.caFile) })
    },
  },
  {
    planted: 'a server that asks for a client certificate by an alert',
    on: 'a server of the test',
    expected: 'CLUSTER_CLIENT_CERT',
    says: 'the TLS alert',
    plant: async (world, owner) => {
      const openssl = required(findParts().openssl, 'openssl')
      const certificate = await issueCertificate(openssl, join(owner.folder, 'tls'), 'demanding')
      const { port } = await owner.own(startDemanding(openssl, join(owner.folder, 'demanding'), certificate))
      return doctor(world, {}, { url: `https://127.0.0.1:${port}`, ca: await readFile(certificate.caFile) })
    },
  },
  ...(['https', 'socks5s'] as const).map((scheme): RealCause => ({
    planted: `a proxy that asks for a client certificate by an alert (${scheme})`,
    on: 'a server of the test',
    expected: 'PROXY_CLIENT_CERT',
    says: 'the TLS alert',
    plant: async (world, owner) => {
      const openssl = required(findParts().openssl, 'openssl')
      const certificate = await issueCertificate(openssl, join(owner.folder, 'tls'), 'demanding')
      const { port } = await owner.own(startDemanding(openssl, join(owner.folder, 'demanding'), certificate))
      const url = changed(world.proxy.https, { scheme, port: String(port) })
      return doctor(world, { proxy: { url, ca: await readFile(certificate.caFile) } })
    },
  })),
  {
    planted: 'a proxy that asks for a client certificate, and a cluster that is reached over http',
    on: 'a server of the test',
    expected: 'PROXY_CLIENT_CERT',
    says: 'the TLS alert',
    plant: async (world, owner) => {
      const openssl = required(findParts().openssl, 'openssl')
      const certificate = await issueCertificate(openssl, join(owner.folder, 'tls'), 'demanding')
      const { port } = await owner.own(startDemanding(openssl, join(owner.folder, 'demanding'), certificate))
      const url = changed(world.proxy.https, { port: String(port) })
      const proxy = { url, ca: await readFile(certificate.caFile) }
      return doctor(world, { proxy, directCheck: false }, { url: world.cluster.httpUrl })
    },
  },
  {
    planted: 'a real proxy that requires a client certificate',
    on: 'Squid',
    expected: 'PROXY_CLIENT_CERT',
    says: 'the TLS alert',
    plant: async (world, owner) => {
      const { squid, squidAuth, openssl } = findParts()
      const certificate = await issueCertificate(required(openssl, 'openssl'), join(owner.folder, 'tls'), 'demanding')
      const { httpsPort } = await owner.own(
        startSquid({
          squid: required(squid, 'squid'),
          squidAuth: required(squidAuth, 'squidAuth'),
          folder: join(owner.folder, 'squid'),
          credentials: { username: 'someone', password: 'something' },
          certificate,
          egress: ['127.0.0.1', '127.0.0.1'],
          clientCaFile: certificate.caFile,
        }),
      )
      const url = changed(world.proxy.https, { port: String(httpsPort) })
      return doctor(world, { proxy: { url, ca: await readFile(certificate.caFile) } })
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

export const realCauses: readonly RealCause[] = [
  ...proxy,
  ...certificates,
  ...gateways,
  ...filter,
  ...realClusterCauses,
  ...realThreadCauses,
]
