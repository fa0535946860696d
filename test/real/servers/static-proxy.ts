import { join } from 'node:path'
import type { World } from '../../contracts/world.js'
import { startBalancer } from './balancer.js'
import { issueCertificate } from './certificates.js'
import { type Credentials, newCredentials } from './credentials.js'
import { startMicrosocks } from './microsocks.js'
import type { Owner } from './owner.js'
import { type Parts, required } from './parts.js'
import { startSquid } from './squid.js'

export interface StaticProxy {
  readonly urls: World['proxy']
  readonly caFile: string
}

/** Squid and two microsocks, as one proxy that leaves from either of two addresses whatever protocol it is spoken to. */
export async function startStaticProxy(
  parts: Parts,
  owner: Owner,
  egress: readonly [string, string],
): Promise<StaticProxy> {
  const credentials = newCredentials()
  const openssl = required(parts.openssl, 'openssl')
  const certificate = await issueCertificate(openssl, join(owner.folder, 'proxy-tls'), 'static proxy')
  const squid = await owner.own(
    startSquid({
      squid: required(parts.squid, 'squid'),
      squidAuth: required(parts.squidAuth, "squid's basic_ncsa_auth"),
      folder: join(owner.folder, 'squid'),
      credentials,
      certificate,
      egress,
    }),
  )
  const microsocks = required(parts.microsocks, 'microsocks')
  const startNode = async (address: string): Promise<number> => {
    const folder = join(owner.folder, `microsocks-${address}`)
    return (await owner.own(startMicrosocks({ microsocks, folder, credentials, egress: address }))).port
  }
  const nodes = [await startNode(egress[0]), await startNode(egress[1])] as const
  const socks5 = await owner.own(startBalancer(nodes))
  const socks5s = await owner.own(startBalancer(nodes, { certificate }))

  const url = (scheme: string, port: number): string => proxyUrl(scheme, port, credentials)
  return {
    caFile: certificate.caFile,
    urls: {
      http: url('http', squid.httpPort),
      https: url('https', squid.httpsPort),
      socks5: url('socks5', socks5.port),
      socks5s: url('socks5s', socks5s.port),
      nodes: [url('http', squid.nodePorts[0]), url('http', squid.nodePorts[1])],
    },
  }
}

function proxyUrl(scheme: string, port: number, { username, password }: Credentials): string {
  return `${scheme}://${encodeURIComponent(username)}:${encodeURIComponent(password)}@127.0.0.1:${port}`
}
