// node scripts/release/executable.js [BUILD] [OUTPUT]
// Makes one file for Linux that holds Node and Sluice, and loads files with it. BUILD holds `bin` and `dist`: the project, if not given.
// Node 25.5 or later makes it, and is inside. Another Node fetches one by npm. Exit code 3: there is none.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { compileAhead } from '../bundle/compile.js'

/** The oldest line of Node with long support that knows `--build-sea`. */
const BUILDER = 'node@26'
const CANNOT_BUILD = 3

const script = fileURLToPath(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const build = resolve(process.argv[2] ?? root)
const output = resolve(process.argv[3] ?? join(root, '.cache', 'release', `sluice-${process.platform}-${process.arch}`))

if (canBuild()) await make()
else if (process.env.SLUICE_BUILDER === undefined) process.exitCode = makeByAnother()
else process.exitCode = refuse(`Node ${process.version} does not know --build-sea`)

function canBuild() {
  return (
    process.platform === 'linux' &&
    execFileSync(process.execPath, ['--help'], { encoding: 'utf8' }).includes('--build-sea')
  )
}

function makeByAnother() {
  if (process.platform !== 'linux') return refuse('the single executable is for Linux')
  const found = spawnSync('npm', ['exec', '--yes', `--package=${BUILDER}`, '--', 'node', '-p', 'process.execPath'], {
    encoding: 'utf8',
  })
  if (found.status !== 0) return refuse(`npm has no ${BUILDER} for this machine: ${found.stderr}`)
  const env = { ...process.env, SLUICE_BUILDER: BUILDER }
  return spawnSync(found.stdout.trim(), [script, build, output], { env, stdio: 'inherit' }).status
}

function refuse(reason) {
  console.error(`No executable: ${reason}`)
  return CANNOT_BUILD
}

async function make() {
  const work = mkdtempSync(join(tmpdir(), 'sluice-executable-'))
  try {
    const assets = await filesInside(join(work, 'package'))
    const config = join(work, 'config.json')
    const main = join(root, 'scripts', 'release', 'executable-main.cjs')
    mkdirSync(dirname(output), { recursive: true })
    writeFileSync(config, JSON.stringify({ main, output, assets, disableExperimentalSEAWarning: true }))
    execFileSync(process.execPath, ['--build-sea', config], { stdio: ['ignore', 'ignore', 'inherit'] })
    smoke(work)
    console.log(`${output}: Node ${process.version}, ${Math.round(statSync(output).size / 1e6)} MB`)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Returns the files of the program, with what the V8 of this Node compiles of them ahead. */
async function filesInside(folder) {
  for (const path of ['bin', 'dist', 'package.json']) cpSync(join(build, path), join(folder, path), { recursive: true })
  for (const name of readdirSync(join(folder, 'dist', 'bin')).filter(name => name.startsWith('v8-')))
    rmSync(join(folder, 'dist', 'bin', name), { recursive: true })
  await compileAhead(join(folder, 'dist'))
  const program = [...under(folder, 'bin'), ...under(folder, 'dist/bin'), 'package.json']
  return Object.fromEntries(program.map(path => [path, join(folder, path)]))
}

function under(folder, path) {
  const names = readdirSync(join(folder, path), { recursive: true, encoding: 'utf8' }).map(name => join(path, name))
  return names.filter(name => statSync(join(folder, name)).isFile())
}

/** Uses the executable on a machine that seems to have nothing else. */
function smoke(work) {
  const documents = '{"n":1}\n{"n":2}\n{"n":3}\n'
  writeFileSync(join(work, 'a.ndjson'), documents)
  writeFileSync(join(work, 'b.ndjson.gz'), gzipSync(documents))
  writeFileSync(join(work, 'c.csv'), 'n,m\n1,2\n3,4\n')
  writeFileSync(join(work, 'twice.mjs'), 'export default document => [document, document]\n')
  const run = (...args) => printedBy(args, work)
  const ingest = (...args) =>
    run(
      'lab',
      '--',
      output,
      'ingest',
      ...args,
      '--index',
      'smoke',
      '--json',
      '--state-dir',
      join(work, `state-${args.join()}`),
    )
  tried('the version', run('--version'), /^\d+\.\d+\.\d+(?:-rc\.\d+)?\n$/)
  tried('a file, a gzip file and a CSV file', ingest('a.ndjson', 'b.ndjson.gz', 'c.csv'), /"created":8,/)
  tried('a function of your own, in a worker thread', ingest('a.ndjson', '--transform', 'twice.mjs'), /"created":6,/)
  tried('edits', ingest('a.ndjson', '--set', 'm=1', '--drop', 'n'), /"created":3,/)
  tried('S3, which is not inside', ingest('s3://bucket/a.ndjson'), /npm install sluice @aws-sdk\/client-s3/)
  tried('the demo', run('demo'), /it balances/)
}

/** Returns what the executable prints, with an empty environment. */
function printedBy(args, work) {
  const options = { cwd: work, env: { HOME: work, PATH: '' }, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }
  try {
    return execFileSync(output, args, options)
  } catch ({ stdout, stderr }) {
    return `${stdout}${stderr}`
  }
}

function tried(what, printed, wanted) {
  if (!wanted.test(printed)) throw new Error(`${what}: no ${wanted} in\n${printed}`)
  console.log(`ok    ${what}`)
}
