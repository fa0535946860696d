import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import type { Certificate } from './certificates.js'
import { type Arrivals, watchArrivals } from './arrivals.js'
import { onFreePorts } from './ports.js'
import { type RunningProcess, startProcess, untilReady } from './process.js'

/** The two documented bodies of the filter's 403, and the same in plain text. */
export const refusals = {
  long: '{"ok":false,"message":"Forbidden due to traffic filtering. Please see the Elastic documentation on Traffic Filtering for more information."}',
  short: '{"ok":false,"message":"Forbidden"}',
  text: 'Forbidden due to traffic filtering',
} as const

export interface IpFilter extends AsyncDisposable {
  readonly httpPort: number
  readonly httpsPort: number
  /** Answers any GET with `{"ip": …}`. */
  readonly ipCheckPort: number
  readonly arrivals: Arrivals
  /** Counts for the next request, on open connections too. */
  allow(addresses: readonly string[] | 'everyone'): Promise<void>
  refuseWith(body: keyof typeof refusals): Promise<void>
}

export interface IpFilterOptions {
  readonly nginx: string
  /** Absolute; made here. */
  readonly folder: string
  readonly certificate: Certificate
  /** Port of the cluster behind it, on 127.0.0.1. */
  readonly clusterPort: number
}

/** nginx in front of a cluster: 403 to addresses that are not listed, before the cluster sees anything. Starts closed. */
export async function startIpFilter(options: IpFilterOptions): Promise<IpFilter> {
  const { nginx, folder } = options
  const policies = join(folder, 'policies')
  await mkdir(policies, { recursive: true })
  return onFreePorts(3, async chosen => {
    const [http, https, ipCheck] = chosen as [number, number, number]
    const ports = { http, https, ipCheck }
    const configFile = join(folder, 'nginx.conf')
    await writeFile(configFile, nginxConfig(options, policies, ports))
    const args = ['-p', folder, '-c', configFile, '-e', join(folder, 'error.log')]
    const server = await startProcess({ command: nginx, args, folder })
    try {
      await untilReady('nginx', server, () => identifies(ipCheck, folder))
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
    return running(server, folder, policies, ports)
  })
}

function running(
  server: RunningProcess,
  folder: string,
  policies: string,
  ports: { http: number; https: number; ipCheck: number },
): IpFilter {
  return {
    httpPort: ports.http,
    httpsPort: ports.https,
    ipCheckPort: ports.ipCheck,
    // One worker does one thing at a time: once it has answered us, it has logged all that it answered before.
    arrivals: watchArrivals(folder, ports, async () => void (await identifies(ports.ipCheck, folder))),
    async allow(addresses) {
      const wanted = addresses === 'everyone' ? [addresses] : addresses
      for (const name of wanted) await writeFile(join(policies, name), '')
      for (const name of await readdir(policies)) if (!wanted.includes(name)) await rm(join(policies, name))
    },
    async refuseWith(body) {
      for (const other of ['short', 'text']) await rm(join(folder, other), { force: true })
      if (body !== 'long') await writeFile(join(folder, body), '')
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

// The folder is unique: its name in the answer tells that the port is this nginx's.
async function identifies(port: number, folder: string): Promise<true | undefined> {
  const response = await fetch(`http://127.0.0.1:${port}/folder`, { headers: { connection: 'close' } })
  return (await response.text()) === folder ? true : undefined
}

/**
 * A policy is a file named like the address it allows. nginx looks for it at each request, so that a rule applies at once:
 * a reload would leave old workers answering for a while and would close idle connections.
 */
function nginxConfig(
  { folder, certificate, clusterPort }: IpFilterOptions,
  policies: string,
  ports: { http: number; https: number; ipCheck: number },
): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    use => `${use}_temp_path ${folder}/temporary-${use};`,
  )
  return `
${userInfo().uid === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log info;
worker_processes 1;
events { worker_connections 1024; }
http {
  ${temporary.join('\n  ')}
  log_format arrival escape=json '{"connection":$connection,"from":"$remote_addr","fromPort":$remote_port,"port":$server_port,"request":"$request","status":$status}';
  client_max_body_size 200m;
  client_body_buffer_size 1m;
  keepalive_requests 100000;
  default_type application/json;
  upstream cluster { server 127.0.0.1:${clusterPort}; keepalive 16; }

  server {
    listen 127.0.0.1:${ports.http};
    listen 127.0.0.1:${ports.https} ssl;
    ssl_certificate ${certificate.certFile};
    ssl_certificate_key ${certificate.keyFile};
    access_log ${folder}/access.log arrival;

    set $verdict refused;
    if (-f ${folder}/short) { set $verdict refused-short; }
    if (-f ${folder}/text) { set $verdict refused-text; }
    if (-f ${policies}/$remote_addr) { set $verdict allowed; }
    if (-f ${policies}/everyone) { set $verdict allowed; }
    if ($verdict = refused) { return 403 '${refusals.long}'; }
    if ($verdict = refused-short) { return 403 '${refusals.short}'; }
    if ($verdict = refused-text) { return 403 '${refusals.text}'; }

    location / {
      proxy_pass http://cluster;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      proxy_request_buffering off;
      proxy_next_upstream off;
      proxy_read_timeout 300s;
    }
  }

  server {
    listen 127.0.0.1:${ports.ipCheck};
    access_log off;
    location / { return 200 '{"ip":"$remote_addr"}'; }
    location = /folder { return 200 '${folder}'; }
  }
}
`
}
