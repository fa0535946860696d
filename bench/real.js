/**
 * The same clients on one node of Elasticsearch 9. Every load gets a new index with the same settings; afterwards the index
 * has to hold every document.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  chmodSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { findJava, homeOf, releases } from '../scripts/real/elasticsearch.js'
import { clients } from './clients.js'
import { projectFolder } from './prepare.js'
import { say } from './say.js'
import { runClient } from './trial.js'

const heap = '2g'
const release = releases.find(({ major }) => major === 9)

/** Resolves to { cluster, loads: [{ kind, rounds }] }. */
export async function loadRealCluster(programs, names, inputs, { rounds: { fast: count } }) {
  const able = names.filter(name => clients[name].real)
  const cluster = await startCluster()
  const loads = []
  try {
    for (const [kind, { whole, part }] of Object.entries(inputs)) {
      // A cold virtual machine is slower: what comes first must not pay for it.
      for (const name of able) await load(name, programs, part, cluster)
      await load('sluice', programs, whole, cluster)
      const rounds = []
      for (let round = 0; round < count; round += 1) {
        const results = {}
        const from = round % able.length
        for (const name of [...able.slice(from), ...able.slice(0, from)]) {
          const result = await load(name, programs, whole, cluster)
          results[name] = { whole: result }
          say(
            `Elasticsearch, ${kind}, round ${round + 1}/${count}: ${name} ${result.failed ?? `${result.wallSeconds.toFixed(2)} s`}`,
          )
        }
        rounds.push(results)
      }
      loads.push({ kind, rounds })
    }
  } finally {
    await cluster.stop()
  }
  return { cluster: { version: release.version, heap }, loads }
}

async function load(name, programs, corpus, cluster) {
  await cluster.ask('DELETE', '/bench?ignore_unavailable=true')
  await cluster.ask('PUT', '/bench', {
    settings: { number_of_shards: 1, number_of_replicas: 0, refresh_interval: -1 },
    mappings: {
      properties: {
        '@timestamp': { type: 'date' },
        time: { type: 'date' },
        message: { type: 'text' },
        text: { type: 'text' },
      },
      dynamic_templates: [
        { strings: { match_mapping_type: 'string', mapping: { type: 'keyword', ignore_above: 1024 } } },
      ],
    },
  })
  const cost = await runClient(name, programs, { corpus }, { url: cluster.url })
  await cluster.ask('POST', '/bench/_refresh')
  const { count } = await cluster.ask('GET', '/bench/_count')
  const failed =
    cost.failed ??
    (count === corpus.documents ? undefined : `the index holds ${count} of ${corpus.documents} documents`)
  return {
    ...(failed && { failed }),
    documents: corpus.documents,
    bytes: corpus.bytes,
    wallSeconds: cost.wallSeconds,
    cpuSeconds: cost.userSeconds + cost.systemSeconds,
    peakBytes: cost.peakBytes,
  }
}

async function startCluster() {
  const installed = homeOf(release)
  const java = findJava(release)
  if (!existsSync(join(installed, '.ok')) || !java)
    throw new Error(
      `Elasticsearch ${release.version} or its JDK is missing: node scripts/real/install.js says what to do`,
    )
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-cluster-'))
  // Ends the cluster and removes its folder, whatever becomes of this process.
  const keeper = spawn(process.execPath, [join(projectFolder, 'scripts', 'real', 'keeper.js')], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  keeper.stdin.write(`+folder ${folder}\n`)

  chmodSync(folder, 0o755)
  for (const name of ['data', 'logs', 'temporary']) mkdirSync(join(folder, name))
  const root = process.getuid() === 0
  // Elasticsearch refuses to run as root, and nobody may not look into root's cache.
  const home = root ? join(folder, 'home') : installed
  if (root) cpSync(installed, home, { recursive: true })
  const config = join(folder, 'config')
  cpSync(join(home, 'config'), config, { recursive: true })
  const settings = {
    'cluster.name': 'bench',
    'network.host': '127.0.0.1',
    'http.port': 0,
    'transport.port': 0,
    'node.portsfile': true,
    'discovery.type': 'single-node',
    'path.data': join(folder, 'data'),
    'path.logs': join(folder, 'logs'),
    'cluster.routing.allocation.disk.threshold_enabled': false,
    'xpack.security.enabled': false,
  }
  writeFileSync(
    join(config, 'elasticsearch.yml'),
    Object.entries(settings)
      .map(([name, value]) => `${name}: ${value}\n`)
      .join(''),
  )
  const nobody = 65_534
  if (root) spawnSync('chown', ['-R', `${nobody}:${nobody}`, folder])

  const libraries = ['tools/server-launcher', 'tools/server-cli'].map(name => join(home, 'lib', name, '*')).join(':')
  const output = openSync(join(folder, 'output'), 'w')
  const server = spawn(
    join(java, 'bin', 'java'),
    ['-Xmx64m', '-XX:+UseSerialGC', '-cp', libraries, 'org.elasticsearch.server.launcher.ServerLauncher'],
    {
      cwd: home,
      detached: true,
      stdio: ['ignore', output, output],
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
        ES_JAVA_OPTS: `-Xms${heap} -Xmx${heap}`,
      },
      ...(root && { uid: nobody, gid: nobody }),
    },
  )
  closeSync(output)
  keeper.stdin.write(`+group ${server.pid}\n`)

  const stop = async () => {
    const gone = once(keeper, 'exit')
    keeper.stdin.end()
    await gone
  }
  let url = ''
  const ask = async (method, path, body) => {
    const response = await fetch(url + path, {
      method,
      ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer).slice(0, 300)}`)
    return answer
  }
  for (const deadline = Date.now() + 120_000; Date.now() < deadline && server.exitCode === null; await sleep(200)) {
    try {
      const port = /^127\.0\.0\.1:(\d+)$/m.exec(readFileSync(join(folder, 'logs', 'http.ports'), 'utf8'))?.[1]
      url = `http://127.0.0.1:${port}`
      await ask('GET', '/_cluster/health?wait_for_status=yellow&timeout=5s')
      return { url, ask, stop }
    } catch {
      // not yet
    }
  }
  const last = readFileSync(join(folder, 'output'), 'utf8').split('\n').slice(-10).join('\n')
  await stop()
  throw new Error(`Elasticsearch did not start:\n${last}`)
}
