// npm run state
// Keeps the state folders of this version in fixtures/states, so that each later version is tested with them: one for each kind of work.
// Takes the build as it is.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startLab } from '../../dist/lab/index.js'
import { kinds } from './state/kinds.js'
import { nameCluster } from './state/named-cluster.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const kept = join(root, 'fixtures', 'states', version)
const index = 'kept-state'
/** Sluice writes a checkpoint at most twice a second. */
const WRITTEN_MS = 2000
const LONGEST_MS = 60_000

rmSync(kept, { recursive: true, force: true })
for (const [kind, play] of Object.entries(kinds)) await keepKind(kind, play)

async function keepKind(kind, play) {
  const work = mkdtempSync(join(tmpdir(), 'sluice-state-'))
  const lab = await startLab()
  const named = await nameCluster(lab)
  try {
    await play(worldOf(work, lab, named))
    await keep(join(kept, kind), work, lab, named)
  } finally {
    await named.close()
    await lab.close()
    rmSync(work, { recursive: true, force: true })
  }
}

/** What a kind of work needs: files, commands, and the cluster. */
function worldOf(work, { control }, { env }) {
  const start = (args, more) => {
    const place = [
      '--state-dir',
      'state',
      ...(args.includes('--index') || args[0] === 'replay' ? [] : ['--index', index]),
    ]
    const command = [join(root, 'bin', 'sluice.js'), ...args, ...place]
    const child = spawn(process.execPath, command, { cwd: work, env: { PATH: process.env['PATH'], ...env, ...more } })
    let stderr = ''
    child.stdout.resume()
    child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
    return { child, stderr: () => stderr, ended: new Promise(resolve => child.once('close', resolve)) }
  }
  return {
    control,
    file: name => join(work, name),
    start,
    until,
    stored: async count => await until(() => control.count(index) === count),
    /** The next requests but so many are stored, and have no answer. */
    hold: after => control.plant({ hold: { after, stored: true } }),
    killHeld: async ({ child, ended, stderr }) => {
      await until(() => control.struck('hold') > 0 || child.exitCode !== null)
      await sleep(WRITTEN_MS)
      if (!child.kill('SIGKILL')) throw new Error(`the command ended too early: ${stderr()}`)
      await ended
      control.plant({})
    },
  }
}

async function until(isTrue) {
  for (let waited = 0; !isTrue(); waited += 10) {
    if (waited > LONGEST_MS) throw new Error(`still not so: ${isTrue}`)
    await sleep(10)
  }
}

/** Puts names in the place of what another lab, another folder and other files have. */
async function keep(to, work, lab, named) {
  const { cluster, index: uuid } = await uuids(lab, named)
  // A lock names its process.
  for (const path of readdirSync(work, { recursive: true }).filter(name => /(^|[/\\])locks$/.test(name)))
    rmSync(join(work, path), { recursive: true, force: true })
  const names = { [work]: '{work}', [cluster]: '{cluster}', [uuid]: '{index}' }
  for (const name of readdirSync(work)) {
    const { ino, mtimeMs } = statSync(join(work, name))
    Object.assign(names, { [`,${ino},`]: `,{inode:${name}},`, [`,${mtimeMs},`]: `,{mtime:${name}},` })
  }
  for (const path of readdirSync(join(work, 'state'), { recursive: true })) {
    const file = join(work, 'state', path)
    if (!statSync(file).isFile()) continue
    const found = readFileSync(file, 'utf8')
    const text = Object.entries(names).reduce((rest, [value, name]) => rest.replaceAll(value, name), found)
    if (text !== found) writeFileSync(file, text)
  }
  mkdirSync(to, { recursive: true })
  cpSync(work, join(to, 'work'), { recursive: true })
  const stored = lab.control
    .ids(index)
    .map(id => `${JSON.stringify({ create: { _id: id } })}\n${String(lab.control.source(index, id))}\n`)
  writeFileSync(join(to, 'stored.ndjson'), stored.join(''))
  console.log(`${to}: ${stored.length} documents are stored`)
}

async function uuids({ line }, { url, proxy }) {
  const { connect } = await import('../../dist/index.js')
  const { apiKey, caFile } = line.cluster
  const way = await connect({ target: { url, apiKey, ca: readFileSync(caFile) }, proxy })
  try {
    const settings = await way.client.indices.getSettings({ index })
    return { cluster: (await way.client.info()).cluster_uuid, index: settings[index].settings.index.uuid }
  } finally {
    await way.close()
  }
}
