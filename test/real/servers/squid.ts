import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Certificate } from './certificates.js'
import type { Credentials } from './credentials.js'
import { onFreePorts } from './ports.js'
import { type RunningProcess, startProcess, untilReady } from './process.js'

export interface Squid extends AsyncDisposable {
  readonly httpPort: number
  readonly httpsPort: number
  /** Each always leaves from one of the two addresses. */
  readonly nodePorts: readonly [number, number]
}

export interface SquidOptions {
  readonly squid: string
  /** Path of the helper that checks Basic credentials. */
  readonly squidAuth: string
  /** Absolute; made here. Given to Squid's own account when the tests run as root. */
  readonly folder: string
  readonly credentials: Credentials
  readonly certificate: Certificate
  readonly egress: readonly [string, string]
  /** The TLS port wants client certificates of this authority. */
  readonly clientCaFile?: string
}

/** The one port that its rules forbid. */
export const DENIED_PORT = 9

/** Squid as a static-IP proxy: either address for each connection that it opens, chosen at random. */
export async function startSquid(options: SquidOptions): Promise<Squid> {
  await mkdir(options.folder, { recursive: true })
  await writeFile(join(options.folder, 'passwords'), passwordLine(options.credentials))
  return onFreePorts(4, async ports => {
    const [http, https, first, second] = ports as [number, number, number, number]
    const configFile = join(options.folder, 'squid.conf')
    await writeFile(configFile, squidConfig(options, { http, https, first, second }))
    await writeFile(join(options.folder, 'cache.log'), '')
    if (isRoot()) await promisify(execFile)('chown', ['-R', 'proxy', options.folder])

    // -n: a service name of its own, else two Squids on one machine meet in shared memory.
    const args = ['-N', '-n', `sluice${process.pid}x${http}`, '-f', configFile]
    const server = await startProcess({ command: options.squid, args, folder: options.folder })
    try {
      await untilReady('squid', server, () => accepting(options.folder, ports))
    } catch (error) {
      await server[Symbol.asyncDispose]()
      throw error
    }
    return running(server, http, https, [first, second])
  })
}

function running(server: RunningProcess, httpPort: number, httpsPort: number, nodePorts: [number, number]): Squid {
  return { httpPort, httpsPort, nodePorts, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

// Its log, and not a connection, tells that the port is this Squid's and not another program's.
async function accepting(folder: string, ports: readonly number[]): Promise<true | undefined> {
  const log = await readFile(join(folder, 'cache.log'), 'utf8')
  return ports.every(port => new RegExp(`Accepting .* local=127\\.0\\.0\\.1:${port} `).test(log)) ? true : undefined
}

function squidConfig(
  { folder, squidAuth, certificate, egress, clientCaFile }: SquidOptions,
  ports: { http: number; https: number; first: number; second: number },
): string {
  return `
http_port 127.0.0.1:${ports.http}
https_port 127.0.0.1:${ports.https} tls-cert=${certificate.certFile} tls-key=${certificate.keyFile}${clientCaFile === undefined ? '' : ` clientca=${clientCaFile}`}
http_port 127.0.0.1:${ports.first} name=first
http_port 127.0.0.1:${ports.second} name=second

auth_param basic program ${squidAuth} ${folder}/passwords
auth_param basic realm static
auth_param basic children 2 startup=1 idle=1
acl known proxy_auth REQUIRED
http_access deny !known
acl closed port ${DENIED_PORT}
http_access deny closed
http_access allow known
http_access deny all

acl at_first myportname first
acl at_second myportname second
acl half random 1/2
tcp_outgoing_address ${egress[0]} at_first
tcp_outgoing_address ${egress[1]} at_second
tcp_outgoing_address ${egress[0]} half
tcp_outgoing_address ${egress[1]}
server_persistent_connections off

# Names that do not exist are asked of nobody: no name server is there.
dns_nameservers 127.0.0.1
dns_timeout 1 second
dns_retransmit_interval 1 second

via off
forwarded_for delete
cache deny all
cache_mem 0 MB
memory_pools off
max_filedescriptors 4096
pinger_enable off
shutdown_lifetime 1 second
visible_hostname static-proxy.test
${isRoot() ? 'cache_effective_user proxy' : ''}
pid_filename ${folder}/squid.pid
access_log stdio:${folder}/access.log
cache_log ${folder}/cache.log
coredump_dir ${folder}
`
}

// One of the forms that Squid's helper takes is the bare MD5 of the password.
function passwordLine({ username, password }: Credentials): string {
  return `${username}:${createHash('md5').update(password).digest('hex')}\n`
}

function isRoot(): boolean {
  return userInfo().uid === 0
}
