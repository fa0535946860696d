import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ingest, type IngestOptions, isSluiceError } from '../../src/index.js'
import type { DoctorOptions } from '../../src/route/examine/examine-options.js'
import { newIndex } from '../contracts/options.js'
import { type LabWorld, startLabWorld } from '../contracts/lab-world.js'
import { listen } from '../diagnosis/listeners.js'
import { sectionOf, table, withSection } from '../diagnosis/matrix.js'
import { diagnose } from '../support/lab/patient-doctor.js'
import { type Certificate, issueCertificate } from './servers/certificates.js'
import type { Credentials } from './servers/credentials.js'
import { newOwner, type Owner } from './servers/owner.js'
import { findParts, required } from './servers/parts.js'
import * as started from './servers/proxies.js'
import { startSquid } from './servers/squid.js'

const parts = findParts()
const { proxies } = parts
/** Some of them take only letters and digits. Other tests have logins that must be encoded. */
const login: Credentials = { username: 'someone', password: 'Pa55w0rd' }

interface Started {
  readonly port: number
  /** The certificate that the cluster must be trusted by, if the proxy opens TLS. */
  readonly interceptor?: string | undefined
}

interface Row {
  readonly name: string
  readonly from: string
  /** Absent: the part is not installed. */
  readonly part: string | undefined
  readonly scheme: 'http' | 'https' | 'socks5' | 'socks5s'
  readonly host?: '127.0.0.1' | '::1'
  /** With and without a login, unless the row says which. */
  readonly logins?: readonly ('none' | 'given')[]
  /** Of the cluster. Default: https and http. */
  readonly schemes?: readonly ('https' | 'http')[]
  /** What it cannot do, or what is special. */
  readonly note?: string
  start(owner: Owner, given: Credentials | undefined): Promise<Started>
}

const inFolder = (owner: Owner, given?: Credentials, name = 'proxy') => ({
  folder: join(owner.folder, name),
  login: given,
})
const need = (name: keyof typeof proxies) => required(proxies[name], name)
const modules = '/usr/lib/apache2/modules'

const tinyproxy = async (owner: Owner, given?: Credentials) =>
  await owner.own(started.startTinyproxy(need('tinyproxy'), inFolder(owner, given)))

const apache = (lines: readonly string[]): Row['start'] => {
  return async (owner, given) =>
    await owner.own(started.startApache(need('apache'), modules, inFolder(owner, given), lines))
}

async function squid(owner: Owner) {
  return await owner.own(
    startSquid({
      squid: required(parts.squid, 'squid'),
      squidAuth: required(parts.squidAuth, 'squidAuth'),
      folder: join(owner.folder, 'squid'),
      credentials: login,
      certificate,
      egress: ['127.0.0.1', '127.0.0.1'],
    }),
  )
}

const rows: readonly Row[] = [
  {
    name: 'tinyproxy',
    from: 'Debian',
    part: proxies.tinyproxy,
    scheme: 'http',
    note: 'HTTP/1.0 answers, one request for each connection',
    start: tinyproxy,
  },
  {
    name: 'tinyproxy on [::1]',
    from: 'Debian',
    part: proxies.tinyproxy,
    scheme: 'http',
    host: '::1',
    start: async (owner, given) =>
      await owner.own(started.startTinyproxy(need('tinyproxy'), { ...inFolder(owner, given), host: '::1' })),
  },
  {
    name: 'tinyproxy, with 100 Continue before each answer',
    from: 'Debian, and a relay of the test',
    part: proxies.tinyproxy,
    scheme: 'http',
    start: async (owner, given) => await owner.own(sayContinue((await tinyproxy(owner, given)).port)),
  },
  { name: 'Apache (mod_proxy_connect)', from: 'Debian', part: proxies.apache, scheme: 'http', start: apache([]) },
  {
    name: 'Apache on [::1]',
    from: 'Debian',
    part: proxies.apache,
    scheme: 'http',
    host: '::1',
    start: async (owner, given) =>
      await owner.own(started.startApache(need('apache'), modules, { ...inFolder(owner, given), host: '::1' })),
  },
  {
    name: 'Apache, Connection: close after each answer',
    from: 'Debian',
    part: proxies.apache,
    scheme: 'http',
    start: apache(['KeepAlive Off']),
  },
  {
    name: 'Apache, three requests for each connection',
    from: 'Debian',
    part: proxies.apache,
    scheme: 'http',
    start: apache(['KeepAlive On', 'MaxKeepAliveRequests 3']),
  },
  {
    name: 'Apache, HTTP/1.0 answers',
    from: 'Debian',
    part: proxies.apache,
    scheme: 'http',
    start: apache(['SetEnv downgrade-1.0 1', 'SetEnv force-response-1.0 1']),
  },
  {
    name: 'Apache, small buffers',
    from: 'Debian',
    part: proxies.apache,
    scheme: 'http',
    start: apache(['ProxyIOBufferSize 512', 'SendBufferSize 4096', 'ReceiveBufferSize 4096']),
  },
  {
    name: 'tinyproxy before Apache',
    from: 'Debian',
    part: proxies.tinyproxy && proxies.apache,
    scheme: 'http',
    note: 'Apache asks tinyproxy for a login',
    start: async (owner, given) => {
      const last = started.startApache(need('apache'), modules, inFolder(owner, login, 'last'))
      const upstream = { port: (await owner.own(last)).port, login }
      return await owner.own(started.startTinyproxy(need('tinyproxy'), inFolder(owner, given), upstream))
    },
  },
  {
    name: 'Squid',
    from: 'Debian',
    part: parts.squid,
    scheme: 'http',
    logins: ['given'],
    start: async owner => ({ port: (await squid(owner)).httpPort }),
  },
  {
    name: 'Squid with TLS (https_port)',
    from: 'Debian',
    part: parts.squid,
    scheme: 'https',
    logins: ['given'],
    start: async owner => ({ port: (await squid(owner)).httpsPort }),
  },
  {
    name: 'privoxy',
    from: 'Debian',
    part: proxies.privoxy,
    scheme: 'http',
    logins: ['none'],
    note: 'it has no logins',
    start: async owner => await owner.own(started.startPrivoxy(need('privoxy'), inFolder(owner))),
  },
  {
    name: 'privoxy before Squid',
    from: 'Debian',
    part: proxies.privoxy && parts.squid,
    scheme: 'http',
    logins: ['given'],
    note: 'the login is that of Squid',
    start: async owner => {
      const { httpPort } = await squid(owner)
      return await owner.own(started.startPrivoxy(need('privoxy'), inFolder(owner), httpPort))
    },
  },
  {
    name: 'goproxy',
    from: 'Go',
    part: proxies.goproxy,
    scheme: 'http',
    start: async (owner, given) => await owner.own(started.startGoproxy(need('goproxy'), inFolder(owner, given))),
  },
  {
    name: 'proxy-chain',
    from: 'npm',
    part: proxies.proxyChain,
    scheme: 'http',
    start: async (owner, given) => await owner.own(started.startProxyChain(need('proxyChain'), inFolder(owner, given))),
  },
  {
    name: 'mitmproxy',
    from: 'PyPI',
    part: proxies.mitmproxy,
    scheme: 'http',
    note: 'it opens TLS: named with its issuer, loads with `--ca`',
    start: async (owner, given) => {
      const { port, folder } = await owner.own(started.startMitmproxy(need('mitmproxy'), inFolder(owner, given)))
      return { port, interceptor: await readFile(join(folder, 'mitmproxy-ca-cert.pem'), 'utf8') }
    },
  },
  {
    name: 'Envoy',
    from: 'PyPI',
    part: proxies.envoy,
    scheme: 'http',
    logins: ['none'],
    note: 'it has no logins of its own',
    start: async owner => await owner.own(started.startEnvoy(need('envoy'), inFolder(owner))),
  },
  {
    name: 'dante',
    from: 'Debian',
    part: proxies.dante,
    scheme: 'socks5',
    logins: ['none'],
    note: 'its logins are accounts of the machine',
    start: async owner => await owner.own(started.startDante(need('dante'), inFolder(owner))),
  },
  {
    name: 'microsocks',
    from: 'Debian',
    part: parts.microsocks,
    scheme: 'socks5',
    start: async (owner, given) =>
      await owner.own(started.startPlainMicrosocks(required(parts.microsocks, 'microsocks'), inFolder(owner, given))),
  },
  {
    name: 'microsocks on [::1]',
    from: 'Debian',
    part: parts.microsocks,
    scheme: 'socks5',
    host: '::1',
    start: async (owner, given) =>
      await owner.own(
        started.startPlainMicrosocks(required(parts.microsocks, 'microsocks'), {
          ...inFolder(owner, given),
          host: '::1',
        }),
      ),
  },
  {
    name: 'stunnel before microsocks',
    from: 'Debian',
    part: proxies.stunnel && parts.microsocks,
    scheme: 'socks5s',
    start: async (owner, given) => {
      const microsocks = required(parts.microsocks, 'microsocks')
      const { port: to } = await owner.own(started.startPlainMicrosocks(microsocks, inFolder(owner, given)))
      return await owner.own(
        started.startStunnel(need('stunnel'), inFolder(owner, undefined, 'front'), { certificate, to }),
      )
    },
  },
  {
    name: 'HAProxy with TLS before tinyproxy',
    from: 'Debian',
    part: proxies.haproxy && proxies.tinyproxy,
    scheme: 'https',
    note: 'buffers of 2 KB',
    start: async (owner, given) => {
      const { port: to } = await tinyproxy(owner, given)
      const pem = (await readFile(certificate.certFile, 'utf8')) + (await readFile(certificate.keyFile, 'utf8'))
      const front = { certificate: pem, to }
      return await owner.own(started.startHaproxy(need('haproxy'), inFolder(owner, undefined, 'front'), front))
    },
  },
]

/** Proxies that no row has, and why. */
const absent = [
  ['3proxy', 'Debian has no package of it'],
  ['gost', 'its module is not to be had as a Go module'],
]

const schemes = ['https', 'http'] as const
const documents = 500
const outcomes = new Map<string, { readonly logins: string; readonly counts: string; readonly seconds: number }>()

let world: LabWorld
let shared: Owner
let certificate: Certificate

beforeAll(async () => {
  shared = await newOwner()
  certificate = await issueCertificate(required(parts.openssl, 'openssl'), join(shared.folder, 'tls'), 'front')
  world = await startLabWorld()
  // A row has one address, and it is that of this machine.
  await world.register('everyone')
  const lines = Array.from({ length: documents }, (_, n) => `{"n":${n},"text":"${'x'.repeat(200)}"}\n`)
  await writeFile(join(shared.folder, 'documents.ndjson'), lines.join(''))
})
afterAll(async () => {
  await world[Symbol.asyncDispose]()
  await shared[Symbol.asyncDispose]()
})

describe('a real proxy: a load and the doctor, over https and http', () => {
  for (const row of rows) {
    if (row.part === undefined && !process.env['CI']) {
      console.warn(`skipped: ${row.name} is not installed: node scripts/real/install.js`)
      test.skip(row.name, () => undefined)
      continue
    }
    const { name, logins = ['none', 'given'], schemes: asked = schemes } = row
    for (const kind of logins) {
      test(`${name}, ${kind === 'given' ? 'with a login' : 'without a login'}`, async () => {
        const from = performance.now()
        await using owner = await newOwner()
        const given = kind === 'given' ? login : undefined
        const { port, interceptor } = await row.start(owner, given)
        const counts = new Map<string, number>()
        for (const scheme of asked) {
          const way = wayThrough(row, scheme, { port, given, interceptor })
          if (interceptor !== undefined && scheme === 'https') await findsInterceptor(way)
          counts.set(scheme, await load(way, owner))
          expect(await errorsOf(way)).toEqual([])
        }
        if (given !== undefined) await refusesWrongLogin(row, { port, given, interceptor })
        keep(row, kind, counts, performance.now() - from)
      })
    }
  }
})

type Way = Pick<DoctorOptions, 'proxy' | 'target'>

function wayThrough(
  { scheme: kind, host = '127.0.0.1' }: Row,
  scheme: 'https' | 'http',
  { port, given, interceptor }: Started & { readonly given: Credentials | undefined },
): Way {
  const { cluster } = world
  const userinfo = given === undefined ? '' : `${given.username}:${encodeURIComponent(given.password)}@`
  const url = `${kind}://${userinfo}${host === '::1' ? '[::1]' : host}:${port}`
  const ca = interceptor ?? certificateOf(cluster.caFile)
  const target = { url: scheme === 'https' ? cluster.url : cluster.httpUrl, apiKey: cluster.apiKey, ca }
  return { proxy: { url, ca: certificateOf(certificate.caFile) }, target }
}

async function load(way: Way, owner: Owner): Promise<number> {
  const index = newIndex('proxies')
  const options: IngestOptions = {
    ...way,
    source: join(shared.folder, 'documents.ndjson'),
    index,
    // Several requests, so that connections are used again.
    batchBytes: 16_000,
    maxElapsedMs: 20_000,
    preflightConnections: 4,
    stateDir: join(owner.folder, 'state'),
    deadLetters: false,
  }
  const { created } = await ingest(options)
  expect(created).toBe(documents)
  expect(await world.count(index)).toBe(documents)
  return created
}

async function errorsOf(way: Way): Promise<string[]> {
  const { findings } = await diagnose({ ...way, directCheck: false, preflightConnections: 4, index: newIndex('asked') })
  return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message)
}

async function findsInterceptor(way: Way): Promise<void> {
  const target = { ...way.target, ca: certificateOf(world.cluster.caFile) }
  const { findings } = await diagnose({ ...way, target, preflightConnections: 4 })
  expect(findings[0]).toMatchObject({ code: 'CLUSTER_CERT_INVALID', message: expect.stringContaining('mitmproxy') })
}

async function refusesWrongLogin(row: Row, way: Started & { readonly given: Credentials }): Promise<void> {
  const wrong = { ...way, given: { ...way.given, password: 'wr0ng' } }
  const refused = await ingest({
    ...wayThrough(row, 'https', wrong),
    source: join(shared.folder, 'documents.ndjson'),
    index: newIndex('refused'),
    maxElapsedMs: 10_000,
    deadLetters: false,
    stateDir: join(shared.folder, newIndex('state')),
  }).catch((error: unknown) => (isSluiceError(error) ? error.code : error))
  expect(refused).toBe('PROXY_AUTH_REJECTED')
}

/** Stands before a proxy that closes each connection after its answer, and says 100 Continue first. */
async function sayContinue(port: number) {
  return await listen(socket => {
    const far = connect(port, '127.0.0.1')
    socket.pipe(far)
    far.once('data', first => {
      socket.write('HTTP/1.1 100 Continue\r\n\r\n')
      socket.write(first)
      far.pipe(socket)
    })
    far.on('error', () => socket.destroy())
    socket.on('close', () => far.destroy())
  })
}

function certificateOf(file: string): string {
  return readFileSync(file, 'utf8')
}

const page = fileURLToPath(new URL('../../docs/testing-on-real-servers.md', import.meta.url))

function keep({ name }: Row, kind: 'none' | 'given', counts: ReadonlyMap<string, number>, ms: number): void {
  const before = outcomes.get(name)
  const told = kind === 'given' ? 'with' : 'without'
  outcomes.set(name, {
    logins: before === undefined ? told : `${before.logins}, ${told}`,
    counts: [...counts].map(([scheme, count]) => `${scheme} ${count}`).join(', '),
    seconds: (before?.seconds ?? 0) + ms / 1_000,
  })
}

test('the page has the rows, and what they loaded', async () => {
  const written = await readFile(page, 'utf8')
  const lines = rows.flatMap(({ name, from, scheme, note = '' }) => {
    const { logins, counts } = outcomes.get(name) ?? {}
    return counts === undefined ? [] : [[name, from, `${scheme}://`, logins ?? '', counts, note]]
  })
  const head = ['proxy', 'from', 'URL', 'login', 'documents loaded', 'note']
  const text = [...table(head, lines), '', ...absent.map(([name, why]) => `Not played: ${name}, because ${why}.`)].join(
    '\n',
  )
  console.log([...outcomes].map(([name, { seconds }]) => `${seconds.toFixed(1)} s: ${name}`).join('\n'))
  if (process.env['SLUICE_WRITE_DOCS']) await writeFile(page, withSection(written, 'proxies', text))
  else for (const line of table(head, lines)) expect(sectionOf(written, 'proxies')).toContain(line)
})
