/** Causes that people found in public threads (`threads.ts`). Each is planted in a server of the test, and on a real part if one can have it. */
import { connect as connectTo } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ingest, type IngestOptions } from '../../src/index.js'
import type { RealWorld } from '../contracts/real-world.js'
import { newIndex, through } from '../contracts/options.js'
import type { World } from '../contracts/world.js'
import { issueCertificate } from '../real/servers/certificates.js'
import { startGateway } from '../real/servers/gateway.js'
import type { Owner } from '../real/servers/owner.js'
import { findParts, required } from '../real/servers/parts.js'
import { stopped } from './ask.js'
import type { Cause } from './cause.js'
import { createSigner } from './certificates.js'
import { answering, echoing, type Listener, listen, listening } from './listeners.js'
import { asked, by, changed, doctor, portOf } from './ways.js'

type RealCause = Cause<RealWorld>
type Told = Pick<Cause, 'expected' | 'says'>

const html = { 'content-type': 'text/html' }

const redirected: Told = { expected: 'CLUSTER_TLS_MISMATCH', says: 'redirects to https:' }
const elsewhere: Told = { expected: 'GATEWAY_REFUSED', says: 'it redirects to another path of the same host' }
const windows: Told = { expected: 'CLUSTER_AUTH_REJECTED', says: 'it accepts only Negotiate, but Sluice sends' }
const amazon: Told = { expected: 'CLUSTER_NOT_ELASTICSEARCH', says: 'which accepts only signed requests' }
const oldCluster: Told = { expected: 'CLUSTER_TLS_MISMATCH', says: 'only versions or ciphers of TLS' }
const oldProxy: Told = { expected: 'PROXY_TLS_MISMATCH', says: 'only versions or ciphers of TLS' }
const ofNodes: Told = { expected: 'CLUSTER_NOT_ELASTICSEARCH', says: 'it is the port of the nodes' }

/** Behind the proxy, without a filter. */
const inPlace = (planted: string, told: Told, start: () => Promise<Listener>): Cause => ({
  planted,
  on: 'a server of the test',
  ...told,
  plant: async (world, owner) => {
    const { port } = await owner.own(start())
    return doctor(world, {}, { url: `http://127.0.0.1:${port}` })
  },
})

export const threadCauses: readonly Cause[] = [
  {
    planted: 'a path in the cluster URL that the cluster does not know',
    on: 'Elasticsearch',
    expected: 'CLUSTER_NOT_ELASTICSEARCH',
    says: 'GET / of this URL is refused',
    plant: world => doctor(world, {}, { url: `${world.cluster.url}/es` }),
  },
  inPlace('a gateway that redirects http:// to https://', redirected, () =>
    answering(308, '<html>308', { ...html, location: 'https://127.0.0.1/' }),
  ),
  inPlace('a gateway that redirects to the path of the cluster', elsewhere, () =>
    answering(301, '', { ...html, location: '/es/' }),
  ),
  inPlace('a gateway that accepts only logins of Windows', windows, () =>
    answering(401, '', { 'www-authenticate': 'Negotiate' }),
  ),
  inPlace('a service of Amazon, which repeats the header Authorization', amazon, () =>
    echoing(403, login => JSON.stringify({ message: `${signature}. Authorization=${login}` })),
  ),
  {
    planted: 'a cluster that offers only TLS 1.0',
    on: 'a server of the test',
    ...oldCluster,
    plant: async (world, owner) => doctor(world, {}, { url: `https://127.0.0.1:${await oldPort(owner)}` }),
  },
  {
    planted: 'a proxy that offers only TLS 1.0',
    on: 'a server of the test',
    ...oldProxy,
    plant: async (world, owner) =>
      doctor(world, by(world, changed(world.proxy.https, { port: String(await oldPort(owner)) }))),
  },
  {
    planted: 'a VPN with a wrong MTU: full packets are lost, and small ones pass',
    on: 'a server of the test',
    expected: 'CLUSTER_TIMEOUT',
    says: 'Full packets are lost on the route',
    plant: async (world, owner) => {
      await openFilter(world)
      const { port } = await owner.own(losingFullPackets(Number(portOf(world.cluster.httpUrl))))
      const more = { index: newIndex('mtu'), timeoutMs: 1_500, directCheck: false, proxy: world.proxy.socks5 }
      return doctor(world, more, { url: `http://127.0.0.1:${port}` })
    },
  },
]

const signature = `Authorization header requires 'Credential' parameter`

/** The relay stands before the filter, which then sees this machine's address. */
async function openFilter(world: World): Promise<void> {
  await world.register('everyone')
}

async function oldPort(owner: Owner): Promise<number> {
  const { cert, key } = await (await createSigner()).issue(['127.0.0.1'])
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const { port } = await owner.own(listening(createTlsServer({ cert, key, ...old })))
  return port
}

/** Relays to a port. From a full packet of the client on, it loses what the client sends. */
async function losingFullPackets(port: number): Promise<Listener> {
  return await listen(socket => {
    const onward = connectTo(port, '127.0.0.1')
    let isLost = false
    socket.on('data', bytes => {
      isLost ||= bytes.length > 1_400
      if (!isLost) onward.write(bytes)
    })
    onward.on('error', () => socket.destroy())
    onward.pipe(socket)
    socket.on('close', () => onward.destroy())
  })
}

/** nginx before the cluster, without a filter. */
const gateway = (planted: string, told: Told, lines: readonly string[], isOldTls = false): RealCause => ({
  planted,
  on: 'nginx',
  ...told,
  plant: async (world, owner) => {
    const { nginx, openssl } = findParts()
    const folder = join(owner.folder, 'gateway')
    const certificate = isOldTls
      ? await issueCertificate(required(openssl, 'openssl'), join(owner.folder, 'tls'), 'gateway')
      : undefined
    const started = startGateway({
      nginx: required(nginx, 'nginx'),
      folder,
      clusterPort: portOf(world.cluster.httpUrl),
      lines,
      ...(certificate === undefined ? {} : { certificate }),
    })
    const { port } = await owner.own(started)
    await world.register('everyone')
    const scheme = isOldTls ? 'https' : 'http'
    return told === oldProxy
      ? doctor(world, by(world, changed(world.proxy.https, { port: String(port) })))
      : doctor(world, { directCheck: false }, { url: `${scheme}://127.0.0.1:${port}` })
  },
})

/** A load of 300 KB through nginx with these lines. */
function healthy(planted: string, lines: readonly string[]): RealCause {
  return {
    planted,
    on: 'nginx',
    expected: 'nothing',
    plant: async (world, owner) => {
      const nginx = required(findParts().nginx, 'nginx')
      const folder = join(owner.folder, 'gateway')
      const clusterPort = portOf(world.cluster.httpUrl)
      const { port } = await owner.own(startGateway({ nginx, folder, clusterPort, lines }))
      await world.register('everyone')
      const input = join(owner.folder, 'documents.ndjson')
      await writeFile(
        input,
        Array.from({ length: 300 }, (_, n) => `{"n":${n},"text":"${'x'.repeat(1_000)}"}\n`).join(''),
      )
      const way = through(world, world.proxy.http)
      const target = { ...way.target, url: `http://127.0.0.1:${port}` }
      const index = newIndex('gateway')
      const stateDir = join(owner.folder, 'state')
      return {
        by: 'ingest',
        run: async () => await stopped(loadAll({ ...way, target, index, source: input, stateDir })),
      }
    },
  }
}

async function loadAll(options: IngestOptions): Promise<void> {
  const { created } = await ingest(options)
  if (created !== 300) throw new Error(`${created} of 300 documents were created`)
}

const oldTls = ['ssl_protocols TLSv1;', 'ssl_ciphers "ALL:@SECLEVEL=0";']

export const realThreadCauses: readonly RealCause[] = [
  gateway('a real gateway that redirects http:// to https://', redirected, ['return 308 https://$host$request_uri;']),
  gateway('a real gateway that redirects to the path of the cluster', elsewhere, [
    'absolute_redirect off;',
    'location = / { return 301 /es/; }',
  ]),
  gateway('a real gateway that serves the cluster only under a path', { expected: 'GATEWAY_REFUSED', says: '404' }, [
    'location = / { return 404; }',
  ]),
  gateway('a real gateway that accepts only logins of Windows', windows, [
    'add_header WWW-Authenticate Negotiate always;',
    'return 401;',
  ]),
  gateway('a real gateway that wants signed requests, and repeats the header Authorization', amazon, [
    'default_type application/json;',
    `return 403 "{\\"message\\":\\"${signature}. Authorization=$http_authorization\\"}";`,
  ]),
  gateway('a real gateway that offers only TLS 1.0', oldCluster, oldTls, true),
  gateway('a real server that offers only TLS 1.0, in place of the proxy', oldProxy, oldTls, true),
  healthy('nothing: a real gateway that takes requests of at most 64 KB', ['client_max_body_size 64k;']),
  healthy('nothing: a real gateway that takes only requests with a length', [
    'set $asked $request_method$http_content_length;',
    'if ($asked = POST) { return 411; }',
  ]),
  {
    planted: 'the port of the nodes of a real cluster, instead of its port for HTTP',
    on: 'Elasticsearch',
    ...ofNodes,
    plant: async world => {
      const { nodes } = await asked(world, async client => await client.nodes.info({ metric: 'transport' }))
      const [address = ''] = Object.values(nodes).map(({ transport }) => transport?.publish_address ?? '')
      await world.register('everyone')
      return doctor(world, { directCheck: false }, { url: `http://127.0.0.1:${portOf(address)}` })
    },
  },
]
