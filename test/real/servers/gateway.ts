import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { userInfo } from 'node:os'
import type { Certificate } from './certificates.js'
import { onFreePorts } from './ports.js'
import { type RunningProcess, startProcess, untilReady } from './process.js'

export interface Gateway extends AsyncDisposable {
  readonly port: number
}

export interface GatewayOptions {
  readonly nginx: string
  /** Absolute; made here. */
  readonly folder: string
  /** Port of the cluster behind it, on 127.0.0.1. */
  readonly clusterPort: string
  /** Lines of nginx for its server. */
  readonly lines: readonly string[]
  /** It speaks TLS with it. */
  readonly certificate?: Certificate
}

/** nginx before a cluster, as the lines say. */
export async function startGateway({
  nginx,
  folder,
  clusterPort,
  lines,
  certificate,
}: GatewayOptions): Promise<Gateway> {
  await mkdir(folder, { recursive: true })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    use => `${use}_temp_path ${folder}/temporary-${use};`,
  )
  const tls = certificate && [`ssl_certificate ${certificate.certFile};`, `ssl_certificate_key ${certificate.keyFile};`]
  return await onFreePorts(1, async ([port = 0]) => {
    const configFile = join(folder, 'nginx.conf')
    const server = [
      `listen 127.0.0.1:${port}${tls === undefined ? '' : ' ssl'};`,
      ...(tls ?? []),
      'access_log off;',
      ...lines,
      `location / { proxy_pass http://127.0.0.1:${clusterPort}; }`,
    ]
    await writeFile(
      configFile,
      `${userInfo().uid === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
worker_processes 1;
events { worker_connections 64; }
http {
  ${temporary.join('\n  ')}
  server {
    ${server.join('\n    ')}
  }
}
`,
    )
    const args = ['-p', folder, '-c', configFile, '-e', join(folder, 'error.log')]
    return await listening('nginx', port, startProcess({ command: nginx, args, folder }))
  })
}

/** `openssl s_server`, which says in a TLS alert that it wants a client certificate. */
export async function startDemanding(openssl: string, folder: string, certificate: Certificate): Promise<Gateway> {
  await mkdir(folder, { recursive: true })
  return await onFreePorts(1, async ([port = 0]) => {
    const { certFile, keyFile, caFile } = certificate
    const args = ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', certFile, '-key', keyFile, '-CAfile', caFile]
    const demands = ['-Verify', '1', '-verify_return_error', '-www', '-quiet']
    return await listening('openssl', port, startProcess({ command: openssl, args: [...args, ...demands], folder }))
  })
}

async function listening(name: string, port: number, starting: Promise<RunningProcess>): Promise<Gateway> {
  const server = await starting
  try {
    await untilReady(name, server, () => accepts(port))
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
  return { port, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

/** Resolves to true if a server accepts connections. */
export async function accepts(port: number, host = '127.0.0.1'): Promise<true | undefined> {
  const socket = connect({ host, port })
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}
