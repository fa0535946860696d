/** What can be wrong between this machine and the proxy, on any world. */
import { type Cause, type Part, WRONG } from './cause.js'
import { closedPort, listen } from './listeners.js'
import { by, changed, doctor, unknownKey } from './ways.js'

type Kind = 'http' | 'https' | 'socks5' | 'socks5s'

const parts: Readonly<Record<Kind, Part>> = {
  http: 'Squid',
  https: 'Squid',
  socks5: 'microsocks',
  socks5s: 'microsocks',
}

const wrongPasswords = (['http', 'https', 'socks5', 'socks5s'] as const).map((kind): Cause => ({
  planted: `a wrong proxy password (${kind})`,
  on: parts[kind],
  expected: 'PROXY_AUTH_REJECTED',
  alike: 'proxyLogin',
  plant: world => doctor(world, by(world, changed(world.proxy[kind], { password: WRONG }))),
}))

const logins: readonly Cause[] = [
  ...wrongPasswords,
  {
    planted: 'a wrong proxy password, and a cluster that is reached over http',
    on: 'Squid',
    expected: 'PROXY_AUTH_REJECTED',
    alike: 'proxyLogin',
    plant: world => {
      const proxy = by(world, changed(world.proxy.http, { password: WRONG }))
      return doctor(world, proxy, { url: world.cluster.httpUrl })
    },
  },
  {
    planted: 'a proxy user that does not exist',
    on: 'Squid',
    expected: 'PROXY_AUTH_REJECTED',
    alike: 'proxyLogin',
    plant: world => doctor(world, by(world, changed(world.proxy.http, { username: 'nobody' }))),
  },
  {
    planted: 'a proxy password that was URL-encoded twice',
    on: 'Squid',
    expected: 'PROXY_AUTH_REJECTED',
    alike: 'proxyLogin',
    plant: world => {
      const { password } = new URL(world.proxy.http)
      if (!password.includes('%')) throw new Error('nothing in this password has to be encoded')
      return doctor(world, by(world, changed(world.proxy.http, { password: encodeURIComponent(password) })))
    },
  },
  ...(['http', 'socks5'] as const).map((kind): Cause => ({
    planted: `a proxy URL without credentials (${kind})`,
    on: parts[kind],
    expected: 'PROXY_AUTH_REJECTED',
    alike: 'proxyLogin',
    plant: world => doctor(world, by(world, world.proxy[kind].replace(/\/\/.*@/, '//'))),
  })),
]

const misfits: readonly (readonly [Kind, Kind, Cause['expected']])[] = [
  ['http', 'socks5', 'PROXY_PORT_IS_SOCKS'],
  ['http', 'https', 'PROXY_TLS_MISMATCH'],
  ['https', 'http', 'PROXY_TLS_MISMATCH'],
  ['https', 'socks5', 'PROXY_PORT_IS_SOCKS'],
  ['https', 'socks5s', 'PROXY_PORT_IS_SOCKS'],
  ['socks5', 'http', 'PROXY_PORT_IS_HTTP'],
  ['socks5', 'https', 'PROXY_PORT_IS_HTTP'],
  ['socks5', 'socks5s', 'PROXY_TLS_MISMATCH'],
  ['socks5s', 'socks5', 'PROXY_TLS_MISMATCH'],
  ['socks5s', 'http', 'PROXY_PORT_IS_HTTP'],
]

const ports: readonly Cause[] = misfits.map(([scheme, port, expected]) => ({
  planted: `a proxy URL with ${scheme}:// and the port for ${port}://`,
  on: parts[port],
  expected,
  plant: world => doctor(world, by(world, changed(world.proxy[scheme], { port: world.proxy[port] }))),
}))

const combined: readonly Cause[] = [
  {
    planted: 'a wrong proxy password, and http:// with the port for SOCKS5',
    on: 'microsocks',
    expected: 'PROXY_PORT_IS_SOCKS',
    alike: 'portFirst',
    plant: world => doctor(world, by(world, changed(world.proxy.http, { password: WRONG, port: world.proxy.socks5 }))),
  },
  {
    planted: 'a wrong proxy password, and https:// with the port for http://',
    on: 'Squid',
    expected: 'PROXY_TLS_MISMATCH',
    alike: 'portFirst',
    plant: world => doctor(world, by(world, changed(world.proxy.https, { password: WRONG, port: world.proxy.http }))),
  },
  {
    planted: 'a wrong proxy password, and a wrong API key of the cluster',
    on: 'Squid',
    expected: 'PROXY_AUTH_REJECTED',
    alike: 'loginFirst',
    plant: world =>
      doctor(world, by(world, changed(world.proxy.http, { password: WRONG })), { apiKey: unknownKey(WRONG) }),
  },
  {
    planted: 'a wrong proxy password, and an IP filter that lets in neither address',
    on: 'Squid',
    expected: 'PROXY_AUTH_REJECTED',
    alike: 'loginFirst',
    plant: async world => {
      await world.register('none')
      return doctor(world, by(world, changed(world.proxy.http, { password: WRONG })))
    },
  },
  {
    planted: 'a wrong proxy password, and a cluster URL with a wrong port',
    on: 'Squid',
    expected: 'PROXY_AUTH_REJECTED',
    alike: 'loginFirst',
    plant: async world => {
      const proxy = by(world, changed(world.proxy.http, { password: WRONG }))
      return doctor(world, proxy, { url: `https://127.0.0.1:${await closedPort()}` })
    },
  },
]

const at = (port: number) => `http://user:${WRONG}@127.0.0.1:${port}`

const absences: readonly Cause[] = [
  {
    planted: 'a proxy port where nobody listens',
    on: 'this machine',
    expected: 'PROXY_UNREACHABLE',
    says: 'ECONNREFUSED',
    alike: 'proxyGone',
    plant: async world => doctor(world, { proxy: at(await closedPort()) }),
  },
  {
    planted: 'a proxy host whose name does not exist',
    on: 'this machine',
    expected: 'PROXY_UNREACHABLE',
    says: 'ENOTFOUND',
    alike: 'proxyGone',
    // A part of a name has at most 63 characters: no name server is asked for this one.
    plant: world => doctor(world, { proxy: `http://user:${WRONG}@${'x'.repeat(64)}.localhost:9293` }),
  },
  {
    planted: 'a proxy that hangs up on every connection',
    on: 'a server of the test',
    expected: 'PROXY_UNREACHABLE',
    alike: 'proxyGone',
    plant: async (world, owner) => {
      const { port } = await owner.own(listen(socket => socket.destroy()))
      return doctor(world, { proxy: at(port) })
    },
  },
  {
    planted: 'a proxy port that says something else (an SSH server)',
    on: 'a server of the test',
    expected: 'PROXY_UNREACHABLE',
    says: 'does not speak HTTP',
    plant: async (world, owner) => {
      const { port } = await owner.own(listen(socket => socket.write('SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n')))
      return doctor(world, { proxy: at(port) })
    },
  },
  {
    planted: 'a proxy that takes connections and keeps silent',
    on: 'a server of the test',
    expected: 'PROXY_TIMEOUT',
    alike: 'silence',
    plant: async (world, owner) => {
      const { port } = await owner.own(listen(() => {}))
      return doctor(world, { proxy: at(port), timeoutMs: 400 })
    },
  },
  ...(['https', 'socks5s'] as const).map((kind): Cause => ({
    planted: `a proxy certificate that nobody vouches for (${kind})`,
    on: parts[kind],
    expected: 'PROXY_CERT_INVALID',
    alike: 'authority',
    plant: world => doctor(world, { proxy: world.proxy[kind] }),
  })),
  {
    planted: "the proxy's address in the cluster URL",
    on: 'this machine',
    expected: 'CLUSTER_URL_IS_PROXY',
    plant: world => doctor(world, {}, { url: `http://${new URL(world.proxy.http).host}` }),
  },
]

export const proxyCauses: readonly Cause[] = [...logins, ...ports, ...combined, ...absences]
