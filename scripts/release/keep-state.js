// npm run state
// Keeps the state folder of this version in fixtures/states, so that each later version is tested with it: one load is finished, and one was killed
// while a request had no answer. Takes the build as it is.
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startLab } from '../../dist/lab/index.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const kept = join(root, 'fixtures', 'states', version)
const index = 'kept-state'
/** Sluice writes a checkpoint at most twice a second. */
const WRITTEN_MS = 2000

const work = mkdtempSync(join(tmpdir(), 'sluice-state-'))
const lab = await startLab()
try {
  writeFileSync(join(work, 'customers.ndjson'), lines(1, 30))
  writeFileSync(join(work, 'orders.ndjson'), `${lines(101, 60)}not json\n${lines(161, 60)}`)
  await load('customers.ndjson').ended
  lab.control.plant({ hold: { after: 16, stored: true } })
  const { child, ended } = load('orders.ndjson')
  while (lab.control.struck('hold') === 0 && child.exitCode === null) await sleep(10)
  await sleep(WRITTEN_MS)
  if (!child.kill('SIGKILL')) throw new Error('the load ended too early')
  await ended
  await keep()
} finally {
  await lab.close()
  rmSync(work, { recursive: true, force: true })
}

function lines(from, count) {
  return Array.from({ length: count }, (_, n) => `{"n":${from + n}}\n`).join('')
}

function load(file) {
  const fixed = ['--state-dir', 'state', '--dead-letters', 'dead.ndjson', '--batch-docs', '5', '--concurrency', '1']
  const args = [join(root, 'bin', 'sluice.js'), 'ingest', file, '--index', index, ...fixed]
  const env = { PATH: process.env['PATH'], ...lab.env }
  const child = spawn(process.execPath, args, { cwd: work, env, stdio: ['ignore', 'ignore', 'inherit'] })
  return { child, ended: new Promise(resolve => child.once('close', resolve)) }
}

/** Puts names in the place of what another lab and another folder have. */
async function keep() {
  const { cluster, index: uuid } = await uuids()
  // A lock names its process.
  rmSync(join(work, 'state', 'locks'), { recursive: true, force: true })
  const names = {
    [work]: '{work}',
    [cluster]: '{cluster}',
    [uuid]: '{index}',
    [new URL(lab.line.cluster.url).host]: '{host}',
  }
  for (const path of readdirSync(join(work, 'state'), { recursive: true })) {
    const file = join(work, 'state', path)
    if (!statSync(file).isFile()) continue
    const text = readFileSync(file, 'utf8')
    writeFileSync(
      file,
      Object.entries(names).reduce((rest, [found, name]) => rest.replaceAll(found, name), text),
    )
  }
  rmSync(kept, { recursive: true, force: true })
  mkdirSync(kept, { recursive: true })
  cpSync(work, join(kept, 'work'), { recursive: true })
  const stored = lab.control
    .ids(index)
    .map(id => `${JSON.stringify({ create: { _id: id } })}\n${String(lab.control.source(index, id))}\n`)
  writeFileSync(join(kept, 'stored.ndjson'), stored.join(''))
  console.log(`${kept}: ${stored.length} documents are stored`)
}

async function uuids() {
  const { connect } = await import('../../dist/index.js')
  const { url, apiKey, caFile } = lab.line.cluster
  const way = await connect({ target: { url, apiKey, ca: readFileSync(caFile) }, proxy: lab.line.proxy.http })
  try {
    const settings = await way.client.indices.getSettings({ index })
    return { cluster: (await way.client.info()).cluster_uuid, index: settings[index].settings.index.uuid }
  } finally {
    await way.close()
  }
}
