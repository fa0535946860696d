/** Real proxies, each started in its own folder on a free port of the loopback. */
import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Certificate } from './certificates.js'
import type { Credentials } from './credentials.js'
import { accepts } from './gateway.js'
import { onFreePorts } from './ports.js'
import { startProcess, untilReady } from './process.js'

export interface StartedProxy extends AsyncDisposable {
  readonly port: number
  readonly folder: string
}

export interface ProxyStart {
  /** Absolute; made here. */
  readonly folder: string
  /** Default: it asks for no login. */
  readonly login?: Credentials | undefined
  /** Default 127.0.0.1. */
  readonly host?: '127.0.0.1' | '::1'
}

interface Program {
  readonly command: string
  readonly args: readonly string[]
  /** Files of its folder, by name. */
  readonly files?: Readonly<Record<string, string>>
}

/** Starts a program whose arguments and files depend on the port. It is ready as soon as the port accepts connections. */
async function startAt({ folder, host = '127.0.0.1' }: ProxyStart, program: (port: number) => Program) {
  await mkdir(folder, { recursive: true })
  return await onFreePorts(1, async ([port = 0]): Promise<StartedProxy> => {
    const { command, args, files = {} } = program(port)
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
    const server = await startProcess({ command, args, folder })
    try {
      await untilReady(command, server, () => accepts(port, host))
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
    return { port, folder, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
  })
}

/** `upstream`: another proxy that it asks instead of the target. */
export async function startTinyproxy(
  program: string,
  start: ProxyStart,
  upstream?: { readonly port: number; readonly login: Credentials },
): Promise<StartedProxy> {
  const { folder, login, host = '127.0.0.1' } = start
  return await startAt(start, port => ({
    command: program,
    args: ['-d', '-c', join(folder, 'tinyproxy.conf')],
    files: {
      'tinyproxy.conf': [
        `Port ${port}`,
        `Listen ${host}`,
        'Timeout 60',
        'MaxClients 100',
        ...(login === undefined ? [] : [`BasicAuth ${login.username} ${login.password}`]),
        ...(upstream === undefined
          ? []
          : [`Upstream http ${upstream.login.username}:${upstream.login.password}@127.0.0.1:${upstream.port}`]),
        '',
      ].join('\n'),
    },
  }))
}

/** `lines`: further lines of its configuration. */
export async function startApache(
  program: string,
  modules: string,
  start: ProxyStart,
  lines: readonly string[] = [],
): Promise<StartedProxy> {
  const { folder, login, host = '127.0.0.1' } = start
  const loaded = [
    'mpm_event authn_core authz_core auth_basic authn_file authz_user',
    'env setenvif reqtimeout proxy proxy_http proxy_connect',
  ]
  const address = host === '::1' ? '[::1]' : host
  const isKnown = login === undefined ? ['Require all granted'] : loginLines(folder)
  const password = createHash('sha1')
    .update(login?.password ?? '')
    .digest('base64')
  return await startAt(start, port => ({
    command: program,
    args: ['-D', 'FOREGROUND', '-f', join(folder, 'httpd.conf')],
    files: {
      passwords: `${login?.username}:{SHA}${password}\n`,
      'httpd.conf': [
        `ServerRoot ${folder}`,
        'ServerName localhost',
        `Listen ${address}:${port}`,
        `PidFile ${folder}/httpd.pid`,
        `DefaultRuntimeDir ${folder}`,
        `ErrorLog ${folder}/error.log`,
        ...(userInfo().uid === 0 ? ['User www-data', 'Group www-data'] : []),
        ...loaded.flatMap(names => names.split(' ')).map(name => `LoadModule ${name}_module ${modules}/mod_${name}.so`),
        'StartServers 1',
        'ProxyRequests On',
        'AllowCONNECT 1-65535',
        '<Proxy "*">',
        ...isKnown,
        '</Proxy>',
        ...lines,
        '',
      ].join('\n'),
    },
  }))
}

function loginLines(folder: string): string[] {
  return [
    'AuthType Basic',
    'AuthName static',
    'AuthBasicProvider file',
    `AuthUserFile ${folder}/passwords`,
    'Require valid-user',
  ]
}

/** It has no logins. `upstream`: the port of another proxy, which gets the login of the client. */
export async function startPrivoxy(program: string, start: ProxyStart, upstream?: number): Promise<StartedProxy> {
  return await startAt(start, port => ({
    command: program,
    args: ['--no-daemon', join(start.folder, 'config')],
    files: {
      config: [
        `confdir ${start.folder}`,
        `logdir ${start.folder}`,
        `listen-address 127.0.0.1:${port}`,
        'toggle 0',
        'buffer-limit 64',
        'keep-alive-timeout 5',
        'socket-timeout 60',
        'enable-proxy-authentication-forwarding 1',
        ...(upstream === undefined ? [] : [`forward / 127.0.0.1:${upstream}`]),
        '',
      ].join('\n'),
    },
  }))
}

export async function startGoproxy(program: string, start: ProxyStart): Promise<StartedProxy> {
  const { login } = start
  return await startAt(start, port => ({
    command: program,
    args: [`127.0.0.1:${port}`, ...(login === undefined ? [] : [login.username, login.password])],
  }))
}

/** It resolves names itself. It has no logins of its own. */
export async function startEnvoy(program: string, start: ProxyStart): Promise<StartedProxy> {
  const { folder } = start
  const lookup = { name: 'names', dns_lookup_family: 'V4_PREFERRED' }
  const upgrades = [{ upgrade_type: 'CONNECT' }]
  const typed = (type: string, more: object) => ({ '@type': `type.googleapis.com/envoy.extensions.${type}`, ...more })
  const routes = [
    {
      match: { connect_matcher: {} },
      route: { cluster: 'targets', upgrade_configs: [{ upgrade_type: 'CONNECT', connect_config: {} }] },
    },
    { match: { prefix: '/' }, route: { cluster: 'targets', timeout: '0s' } },
  ]
  const filters = [
    {
      name: 'forward',
      typed_config: typed('filters.http.dynamic_forward_proxy.v3.FilterConfig', { dns_cache_config: lookup }),
    },
    { name: 'router', typed_config: typed('filters.http.router.v3.Router', {}) },
  ]
  const manager = typed('filters.network.http_connection_manager.v3.HttpConnectionManager', {
    stat_prefix: 'forward',
    upgrade_configs: upgrades,
    route_config: { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] },
    http_filters: filters,
  })
  const cluster = {
    name: 'targets',
    lb_policy: 'CLUSTER_PROVIDED',
    cluster_type: {
      name: 'forward',
      typed_config: typed('clusters.dynamic_forward_proxy.v3.ClusterConfig', { dns_cache_config: lookup }),
    },
  }
  return await startAt(start, port => {
    const listener = {
      address: { socket_address: { address: '127.0.0.1', port_value: port } },
      filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }],
    }
    const config = { static_resources: { listeners: [listener], clusters: [cluster] } }
    return {
      command: program,
      args: ['-c', join(folder, 'envoy.json'), '--concurrency', '1', '--disable-hot-restart', '-l', 'warning'],
      files: { 'envoy.json': JSON.stringify(config) },
    }
  })
}

/** `packages`: the folder of its package. */
export async function startProxyChain(packages: string, start: ProxyStart): Promise<StartedProxy> {
  const { login, folder } = start
  return await startAt(start, port => ({
    command: process.execPath,
    args: [join(folder, 'server.mjs')],
    files: {
      'server.mjs': `
import { createRequire } from 'node:module'
const { Server } = createRequire(${JSON.stringify(`${packages}/`)})('proxy-chain')
const login = ${JSON.stringify(login ?? null)}
const server = new Server({
  host: '127.0.0.1',
  port: ${port},
  prepareRequestFunction: ({ username, password }) => ({
    requestAuthentication: login !== null && (username !== login.username || password !== login.password),
  }),
})
await server.listen()
`,
    },
  }))
}

/** It opens TLS. The certificate of its authority is the file `mitmproxy-ca-cert.pem` of its folder. */
export async function startMitmproxy(program: string, start: ProxyStart): Promise<StartedProxy> {
  const { login, folder } = start
  const known = login === undefined ? [] : ['--proxyauth', `${login.username}:${login.password}`]
  const quiet = ['--quiet', '--set', `confdir=${folder}`, '--set', 'ssl_insecure=true']
  return await startAt(start, port => ({
    command: program,
    args: ['--listen-host', '127.0.0.1', '--listen-port', String(port), ...quiet, ...known],
  }))
}

/** Its logins are accounts of the machine, so the tests use none. */
export async function startDante(program: string, start: ProxyStart): Promise<StartedProxy> {
  const { folder } = start
  return await startAt(start, port => ({
    command: program,
    args: ['-f', join(folder, 'danted.conf'), '-p', join(folder, 'danted.pid'), '-N', '1'],
    files: {
      'danted.conf': [
        `logoutput: ${folder}/log`,
        `internal: 127.0.0.1 port = ${port}`,
        'external: 127.0.0.1',
        'socksmethod: none',
        'clientmethod: none',
        'user.unprivileged: nobody',
        'client pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }',
        'socks pass { from: 0.0.0.0/0 to: 0.0.0.0/0 }',
        '',
      ].join('\n'),
    },
  }))
}

export async function startPlainMicrosocks(program: string, start: ProxyStart): Promise<StartedProxy> {
  const { login, host = '127.0.0.1' } = start
  const known = login === undefined ? [] : ['-u', login.username, '-P', login.password]
  return await startAt(start, port => ({ command: program, args: ['-i', host, '-p', String(port), ...known] }))
}

/** Speaks TLS before a port, with buffers of a few hundred bytes. */
export async function startHaproxy(
  program: string,
  start: ProxyStart,
  { certificate, to }: { readonly certificate: string; readonly to: number },
): Promise<StartedProxy> {
  const { folder } = start
  return await startAt(start, port => ({
    command: program,
    args: ['-f', join(folder, 'haproxy.cfg'), '-db'],
    files: {
      'haproxy.pem': certificate,
      'haproxy.cfg': [
        'global',
        '  tune.bufsize 2048',
        '  tune.maxrewrite 256',
        'defaults',
        '  mode tcp',
        '  timeout connect 10s',
        '  timeout client 60s',
        '  timeout server 60s',
        `listen front`,
        `  bind 127.0.0.1:${port} ssl crt ${folder}/haproxy.pem`,
        `  server proxy 127.0.0.1:${to}`,
        '',
      ].join('\n'),
    },
  }))
}

/** Speaks TLS before a port. */
export async function startStunnel(
  program: string,
  start: ProxyStart,
  { certificate, to }: { readonly certificate: Certificate; readonly to: number },
): Promise<StartedProxy> {
  const { folder } = start
  return await startAt(start, port => ({
    command: program,
    args: [join(folder, 'stunnel.conf')],
    files: {
      'stunnel.conf': [
        'foreground = yes',
        `pid = ${folder}/stunnel.pid`,
        '[front]',
        `accept = 127.0.0.1:${port}`,
        `connect = 127.0.0.1:${to}`,
        `cert = ${certificate.certFile}`,
        `key = ${certificate.keyFile}`,
        '',
      ].join('\n'),
    },
  }))
}
