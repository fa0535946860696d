import { execFile } from 'node:child_process'
import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { cp, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { type RunningProcess, startProcess, untilReady } from './process.js'

export interface Elasticsearch extends AsyncDisposable {
  readonly port: number
  readonly username: string
  readonly password: string
  /** Asks the cluster as its superuser. `body` is sent as JSON, or as it is if it is a text. */
  ask(method: string, path: string, body?: unknown): Promise<{ readonly status: number; readonly text: string }>
}

export interface ElasticsearchOptions {
  readonly home: string
  readonly java: string
  /** Absolute; made here. Holds configuration, data and logs. */
  readonly folder: string
  /** Of its superuser. Default: a new one. */
  readonly password?: string
  /** Default 512m. */
  readonly heap?: string
  /** More lines for elasticsearch.yml, such as `http.max_content_length: 200kb`. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>
}

// Most of a server's work in the tests is its start: code is compiled once, and garbage is collected by one thread.
const cheap = ['-XX:TieredStopAtLevel=1', '-XX:-UseG1GC', '-XX:+UseSerialGC', '-XX:-AlwaysPreTouch']

// Elasticsearch refuses to run as root; this is Debian's user `nobody`.
const nobody = { uid: 65_534, gid: 65_534 }

/** One node of Elasticsearch with security, over plain http on 127.0.0.1, on ports that it chooses itself. */
export async function startElasticsearch(options: ElasticsearchOptions): Promise<Elasticsearch> {
  const { folder, java, heap = '512m', settings = {}, password = randomBytes(12).toString('hex') } = options
  const root = userInfo().uid === 0
  for (const name of ['data', 'logs', 'temporary']) await mkdir(join(folder, name), { recursive: true })
  const home = root ? await readableHome(options) : options.home
  const config = join(folder, 'config')
  await cp(join(home, 'config'), config, { recursive: true })
  await mkdir(join(config, 'jvm.options.d'), { recursive: true })
  await writeFile(join(config, 'elasticsearch.yml'), configLines(folder, settings))
  await writeFile(join(config, 'users'), `admin:${passwordHash(password)}\n`)
  await writeFile(join(config, 'users_roles'), 'superuser:admin\n')
  if (root) await promisify(execFile)('chown', ['-R', `${nobody.uid}:${nobody.gid}`, folder])

  const server = await startProcess({
    command: join(java, 'bin', 'java'),
    args: ['-Xms4m', '-Xmx64m', '-XX:+UseSerialGC', ...launcher(home, config)],
    folder,
    cwd: home, // it looks for its modules there
    env: {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      HOME: folder,
      HOSTNAME: 'localhost',
      ES_HOME: home,
      ES_PATH_CONF: config,
      ES_TMPDIR: join(folder, 'temporary'),
      ES_DISTRIBUTION_TYPE: 'zip',
      ES_JAVA_HOME: java,
      JAVA: join(java, 'bin', 'java'),
      JAVA_TYPE: 'ES_JAVA_HOME',
      ES_JAVA_OPTS: `-Xms${heap} -Xmx${heap} ${cheap.join(' ')}`,
    },
    ...(root && { account: nobody }),
  })
  try {
    return await ready(server, folder, { username: 'admin', password })
  } catch (error) {
    await server[Symbol.asyncDispose]()
    throw error
  }
}

// The cache may lie where only root may look (/root is closed to others); then a copy of the home goes with the data.
async function readableHome({ home, folder }: ElasticsearchOptions): Promise<string> {
  if (await openToOthers(home)) return home
  const copy = join(folder, 'home')
  await promisify(execFile)('cp', ['-a', home, copy])
  return copy
}

async function openToOthers(path: string): Promise<boolean> {
  const { mode } = await stat(path)
  if ((mode & 0o001) === 0) return false
  return dirname(path) === path || openToOthers(dirname(path))
}

function configLines(folder: string, settings: NonNullable<ElasticsearchOptions['settings']>): string {
  const lines = {
    'cluster.name': 'real',
    'node.name': 'real-1',
    'network.host': '127.0.0.1',
    'http.port': 0,
    'transport.port': 0,
    'node.portsfile': true,
    'discovery.type': 'single-node',
    'path.data': join(folder, 'data'),
    'path.logs': join(folder, 'logs'),
    'cluster.routing.allocation.disk.threshold_enabled': false,
    // Elasticsearch takes the block of a full disk away when it looks at the disks. The tests do that themselves.
    'cluster.info.update.interval': '1h',
    'xpack.security.enabled': true,
    ...settings,
  }
  return Object.entries(lines)
    .map(([name, value]) => `${name}: ${value}\n`)
    .join('')
}

// One of the hashes that the file realm reads; few rounds, since every request with the password is checked against it.
function passwordHash(password: string): string {
  const rounds = 1000
  const salt = randomBytes(32)
  const hash = pbkdf2Sync(password, salt, rounds, 32, 'sha512')
  return `{PBKDF2}${rounds}$${salt.toString('base64')}$${hash.toString('base64')}`
}

// What bin/elasticsearch does: from 9.4 on there is a launcher of its own, before it the general one of the command line tools.
function launcher(home: string, config: string): string[] {
  const libraries = (...names: string[]): string => names.map(name => join(home, 'lib', name, '*')).join(':')
  if (existsSync(join(home, 'lib', 'tools', 'server-launcher'))) {
    const classPath = libraries('tools/server-launcher', 'tools/server-cli')
    return ['-cp', classPath, 'org.elasticsearch.server.launcher.ServerLauncher']
  }
  const properties = {
    'cli.name': 'server',
    'cli.script': join(home, 'bin', 'elasticsearch'),
    'cli.libs': 'lib/tools/server-cli',
    'es.path.home': home,
    'es.path.conf': config,
    'es.distribution.type': 'zip',
    'es.java.type': 'ES_JAVA_HOME',
  }
  const defined = Object.entries(properties).map(([name, value]) => `-D${name}=${value}`)
  return [...defined, '-cp', libraries('', 'cli-launcher'), 'org.elasticsearch.launcher.CliToolLauncher']
}

async function ready(
  server: RunningProcess,
  folder: string,
  { username, password }: { username: string; password: string },
): Promise<Elasticsearch> {
  // "127.0.0.1:41234", or the same for IPv6 on further lines
  const portsFile = join(folder, 'logs', 'http.ports')
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  let port = 0
  const ask: Elasticsearch['ask'] = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }
  const probe = async (): Promise<number | undefined> => {
    port = Number(/^127\.0\.0\.1:(\d+)$/m.exec(await readFile(portsFile, 'utf8'))?.[1])
    const health = await ask('GET', '/_cluster/health?wait_for_status=yellow&timeout=5s')
    return health.status === 200 ? port : undefined
  }
  port = await untilReady('Elasticsearch', server, probe)
  return { port, username, password, ask, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
