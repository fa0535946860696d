import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SecureContextOptions } from 'node:tls'
import { makeCertificates } from './certificates.js'
import { Cluster } from './cluster/cluster.js'
import { createClusterServer } from './cluster/server.js'
import type { ClusterVersion } from './cluster/version.js'
import { type Control, createControl } from './control/control.js'
import { startControlServer } from './control/server.js'
import { type Pick, canBindStaticPair, createEgress, staticPair } from './egress.js'
import { FaultPlan } from './faults.js'
import { startAdminServer } from './filter/admin-server.js'
import { Policies, labRegion } from './filter/policies.js'
import { type Register, register } from './filter/presets.js'
import { startInbound } from './inbound/inbound.js'
import { createIpCheck } from './ip-check.js'
import { type LabLine, labEnvironment } from './lab-line.js'
import { Queue } from './managed/queue.js'
import { createManagedServer } from './managed/server.js'
import { type Arrival, type ListenOptions, type Listening, listen } from './listener.js'
import { Credentials } from './proxy/credentials.js'
import { Refusals } from './refusals.js'
import { type Proxy, startProxy } from './proxy/proxy.js'
import { isUp } from './proxy/route.js'
import { serviceNowRegisterOf } from './servicenow/access.js'
import { createServiceNowControl } from './servicenow/control/control.js'
import { Platform } from './servicenow/platform.js'
import { createServiceNowServer } from './servicenow/server.js'

export interface LabOptions {
  /**
   * How the IP filter of the cluster and the address access control of the platform know the static pair. With
   * `unattached` and `everyone`, the platform denies no address. Default `both`.
   */
  readonly register?: Register
  /** `contract`: proxy 9293 http, 9294 https, 1080 socks5, 1081 socks5s; cluster 9243 https, 9200 http; platform 9443 and 9080. Default `random`. */
  readonly ports?: 'random' | 'contract'
  /**
   * When the proxy chooses the egress address. `connection` (default): once for each client connection. `upstream`: for
   * each upstream connection, as Squid does. Then plain http requests of one client connection may leave from both
   * addresses.
   */
  readonly egressPer?: 'connection' | 'upstream'
  /** Default `random`. */
  readonly pick?: Pick
  /** The cluster to play. Default `9.4.3`. */
  readonly version?: ClusterVersion
  /** 2: play another cluster too, from which an index can be moved. It has its own credentials, and no IP filter. Default 1. */
  readonly clusters?: 1 | 2
  /**
   * Announce egress addresses instead of binding them, even if this machine can bind them. Default: only if the
   * machine cannot bind them.
   */
  readonly virtualEgress?: boolean
  /** Play Elastic's managed ingest endpoint too. Default false. */
  readonly managed?: boolean
  /** Serve the console: a web page of this lab, at `line.console`. Default false. */
  readonly console?: boolean
  /** How long the proxy waits for a target, in milliseconds, before it answers 504. Default 10,000. */
  readonly connectTimeoutMs?: number
  /** Between 0 and 1, as Math.random. */
  readonly random?: () => number
}

/** A running lab. Disposal closes it. */
export interface Lab extends AsyncDisposable {
  readonly line: LabLine
  /** The line as environment variables. */
  readonly env: Record<string, string>
  /** The control API as functions. */
  readonly control: Control
  /** Ends every connection and removes the certificates' folder. */
  close(): Promise<void>
}

const contractPorts = {
  http: 9293,
  https: 9294,
  socks5: 1080,
  socks5s: 1081,
  clusterHttps: 9243,
  clusterHttp: 9200,
  platformHttps: 9443,
  platformHttp: 9080,
}
const randomPorts: Record<keyof typeof contractPorts, number> = {
  http: 0,
  https: 0,
  socks5: 0,
  socks5s: 0,
  clusterHttps: 0,
  clusterHttp: 0,
  platformHttps: 0,
  platformHttp: 0,
}

/** The deployment that plays the other cluster. */
const OTHER = 'other'

/**
 * Starts everything on this machine: static-IP proxy, egress check, search cluster with IP filter, service-management
 * platform with address access control, and control API. Rejects if a port is taken.
 */
export async function startLab(options: LabOptions = {}): Promise<Lab> {
  const { register: which = 'both', version = '9.4.3', pick = 'random', random = Math.random } = options
  const ports = options.ports === 'contract' ? contractPorts : randomPorts
  const isVirtual = options.virtualEgress ?? !(await canBindStaticPair())
  const { tls, caFile, folder } = await writeCertificates()

  const faults = new FaultPlan()
  const credentials = new Credentials()
  const policies = new Policies()
  const refusals = new Refusals()
  const arrivals: Arrival[] = []
  const egress = createEgress({ mode: isVirtual ? 'virtual' : 'loopback', pick, random, isUp: isChoosable })
  const listening: Listening[] = []
  const onArrival = (arrival: Arrival): void => void arrivals.push(arrival)

  try {
    const main = await startDeployment('main', ports.clusterHttps, ports.clusterHttp, new Cluster('main', version))
    register(policies, which, 'main')
    const isDouble = options.clusters === 2
    const other = isDouble ? await startDeployment(OTHER, 0, 0, new Cluster(OTHER, version)) : undefined
    const platform = new Platform()
    platform.access.register(serviceNowRegisterOf(which))
    const servePlatform = createServiceNowServer(platform, refusals)
    const platformHttps = await openTarget('servicenow', 'https', ports.platformHttps, servePlatform, tls)
    const platformHttp = await openTarget('servicenow', 'http', ports.platformHttp, servePlatform)
    const queue = new Queue(main.cluster, faults)
    const serveManaged = createManagedServer({ cluster: main.cluster, faults, queue, refusals })
    const managed = options.managed === true ? await openTarget('ingest', 'https', 0, serveManaged, tls) : undefined
    const ipCheck = await openTarget('ip-check', 'http', 0, createIpCheck())
    const ipCheckHttps = await openTarget('ip-check', 'https', 0, createIpCheck(), tls)
    const proxy = await startProxy({
      credentials,
      egress,
      egressPer: options.egressPer ?? 'connection',
      faults,
      refusals,
      tls,
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      ports,
      onArrival,
      onListening: opened => void listening.push(opened),
    })

    const inbound = await startInbound({ faults, onArrival })
    listening.push(inbound)
    const control = createControl({
      arrivals,
      credentials,
      faults,
      policies,
      refusals,
      main: main.cluster,
      other: other?.cluster,
      servicenow: createServiceNowControl(platform),
      inbound,
      managed: queue,
      line: () => line,
      newDeployment: async name => {
        const cluster = new Cluster(name, version, main.cluster.security)
        const { url, httpUrl } = await startDeployment(name, 0, 0, cluster)
        return { name, url, httpUrl }
      },
    })
    const controlServer = await startControlServer(control)
    listening.push(controlServer)
    const admin = await startAdminServer(policies, onArrival)
    listening.push(admin)
    // Only who asks for the page loads it.
    const page =
      options.console === true ? await (await import('./console/server.js')).startConsole(control) : undefined
    if (page !== undefined) listening.push(page)
    let line = describe()
    function describe(): LabLine {
      const { security } = main.cluster
      return {
        proxy: proxyUrls(credentials, proxy),
        proxyCaFile: caFile,
        staticIps: staticPair,
        ipCheckUrl: `http://127.0.0.1:${ipCheck.port}/`,
        ipCheckHttpsUrl: `https://localhost:${ipCheckHttps.port}/`,
        cluster: {
          url: main.url,
          httpUrl: main.httpUrl,
          caFile,
          apiKey: security.apiKey,
          username: security.username,
          password: security.password,
          leastPrivilegeApiKey: security.leastPrivilegeApiKey,
          version,
        },
        ...(other && {
          otherCluster: {
            url: other.url,
            httpUrl: other.httpUrl,
            apiKey: other.cluster.security.apiKey,
            username: other.cluster.security.username,
            password: other.cluster.security.password,
          },
        }),
        ...(managed && {
          managed: {
            url: `https://main.ingest.localhost:${managed.port}/_es`,
            plainUrl: `https://localhost:${managed.port}/_es`,
            apiKey: security.eventApiKey,
          },
        }),
        servicenow: {
          url: `https://localhost:${platformHttps.port}`,
          httpUrl: `http://localhost:${platformHttp.port}`,
          username: platform.username,
          password: platform.password,
          clientId: platform.client.id,
          clientSecret: platform.client.secret,
          publicClientId: platform.publicClient.id,
        },
        admin: { url: admin.url, apiKey: admin.apiKey, deployment: main.cluster.deployment, region: labRegion },
        egress: egress.mode,
        inbound: { url: `http://127.0.0.1:${inbound.port}`, address: `127.0.0.1:${inbound.port}` },
        control: controlServer.url,
        ...(page && { console: page.url }),
      }
    }
    credentials.onRotate = main.cluster.security.onRotate = () => {
      line = describe()
    }
    return {
      get line() {
        return line
      },
      get env() {
        return labEnvironment(line)
      },
      control,
      close,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }

  async function startDeployment(
    name: string,
    httpsPort: number,
    httpPort: number,
    cluster: Cluster,
  ): Promise<{ cluster: Cluster; url: string; httpUrl: string }> {
    policies.addDeployment(name)
    const serve = createClusterServer({
      cluster,
      faults,
      allows: address => policies.allows(name, address),
      filterBody: () => cluster.filterBody,
      refusals,
    })
    const https = await openTarget('cluster', 'https', httpsPort, serve, tls)
    const http = await openTarget('cluster', 'http', httpPort, serve)
    return { cluster, url: `https://localhost:${https.port}`, httpUrl: `http://localhost:${http.port}` }
  }

  /** Opens a port that the proxy can reach. With virtual egress the port reads the address from a PROXY line. */
  async function openTarget(
    at: 'cluster' | 'ingest' | 'ip-check' | 'servicenow',
    name: string,
    port: number,
    serve: ListenOptions['serve'],
    secure?: SecureContextOptions,
  ): Promise<Listening> {
    const admit = (arrival: Arrival): boolean => {
      onArrival(arrival)
      return true
    }
    const announced = isVirtual && { isAnnounced: egress.isAnnounced }
    const opened = await listen({ at, name, port, serve, admit, ...(secure && { tls: secure }), ...announced })
    egress.own(opened.port)
    listening.push(opened)
    return opened
  }

  function isChoosable(address: string): boolean {
    return !faults.current.nodeDown?.failover || isUp(address, faults)
  }

  async function close(): Promise<void> {
    await Promise.all(listening.splice(0).map(one => one.close()))
    await rm(folder, { recursive: true, force: true })
  }
}

/** Writes the authority's certificate to a file that only this user can read. The keys stay in memory. */
async function writeCertificates(): Promise<{ tls: SecureContextOptions; caFile: string; folder: string }> {
  const { authority, chain, key } = await makeCertificates()
  const folder = await mkdtemp(join(tmpdir(), 'sluice-lab-'))
  const caFile = join(folder, 'ca.pem')
  await writeFile(caFile, authority, { mode: 0o600 })
  return { tls: { cert: chain, key }, caFile, folder }
}

function proxyUrls(credentials: Credentials, { http, https, socks5, socks5s, nodes }: Proxy): LabLine['proxy'] {
  return {
    http: credentials.url('http', http.port),
    https: credentials.url('https', https.port),
    socks5: credentials.url('socks5', socks5.port),
    socks5s: credentials.url('socks5s', socks5s.port),
    nodes: [credentials.url('http', nodes[0].port), credentials.url('http', nodes[1].port)],
  }
}
