/**
 * Packs Sluice, installs the package in an empty project, and uses it there: what works in the checkout alone fails here.
 * Takes the build as it is: `npm run build` first. It needs what `npm install` needs. `--nodes 22,24`: also runs the package on these.
 */
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { gzipSync } from 'node:zlib'
import { compilers, consumer } from './pack/consumer.js'
import { checkContents } from './pack/contents.js'
import { check, install, isWindows, pack, root, run as runIn } from './pack/steps.js'

/** As many packages as an installation has: Sluice, its own, and what the client of Elasticsearch brings. */
const MOST_PACKAGES = 30
/** Both are run by npx: they would make every `npm ci` slower. */
const lint = ['publint@0.3.25', '--strict']
const typesOf = ['@arethetypeswrong/cli@0.18.5']

const project = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
const { values } = parseArgs({ options: { nodes: { type: 'string', default: '' } } })
const { version, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

try {
  const { filename, files, size, unpackedSize } = pack(project)
  const tarball = join(project, filename)
  check('what is packed', () => checkContents(files.map(file => file.path)))
  check('publint', () => run('npx', ['--yes', ...lint, tarball]))
  check('are the types wrong', () => run('npx', ['--yes', ...typesOf, tarball]))
  const packages = installPackage(tarball)
  check(`${packages} packages`, () => atMost(packages, MOST_PACKAGES))
  check('sluice --version', () => same(sluice('--version').trim(), version))
  check('sluice demo', () => includes(sluice('demo'), 'it balances'))
  for (const file of ['load.mjs', 'load.cjs'])
    check(`every door, from ${file}`, () => same(run(process.execPath, [file]).trim(), 'finished 2 string 2'))
  for (const example of ['orders.ndjson', 'orders.csv'])
    check(`examples/${example}`, () => includes(loadExample(example), 'it balances'))
  if (!isWindows) check('examples/cron', () => runCron())
  installBeside()
  if (!isWindows) check('examples/fastify', () => runFastify())
  for (const settings of compilers) check(`types: ${settings.join(' ')}`, () => compile(settings))
  for (const node of values.nodes.split(',').filter(Boolean)) check(`Node ${node}`, () => runOn(node))
  console.log(`${filename}: ${files.length} files, ${kB(size)} packed, ${kB(unpackedSize)} unpacked`)
} finally {
  rmSync(project, { recursive: true, force: true })
}

/** Returns how many packages are installed. */
function installPackage(tarball) {
  const doors = Object.entries(exports).flatMap(([door, to]) =>
    typeof to === 'string' ? [] : [door.replace('.', 'sluice')],
  )
  for (const [name, text] of Object.entries(consumer(doors))) {
    mkdirSync(dirname(join(project, name)), { recursive: true })
    writeFileSync(join(project, name), text)
  }
  install(project, '--omit=dev', tarball)
  const installed = JSON.parse(readFileSync(join(project, 'node_modules', '.package-lock.json'), 'utf8'))
  return Object.keys(installed.packages).length
}

function loadExample(name) {
  const file = join('node_modules', 'sluice', 'examples', name)
  try {
    return sluice('lab', '--', ...shim(), 'ingest', file, '--index', 'orders', '--state-dir', `state-${name}`)
  } catch (error) {
    // Some rows are wrong on purpose.
    if (error.status === 1) return error.stdout
    throw error
  }
}

/** Runs the job of cron with folders of this project, and the access that the lab gives. */
function runCron() {
  const examples = join(project, 'node_modules', 'sluice', 'examples')
  const job = readFileSync(join(examples, 'cron', 'sluice-orders'), 'utf8')
  for (const folder of ['nightly', 'orders']) mkdirSync(join(project, folder))
  copyFileSync(join(examples, 'orders.ndjson'), join(project, 'orders', 'orders.ndjson'))
  const [, command = ''] = /^15 3 .*? sluice (.*)$/m.exec(job) ?? []
  const here = command
    .replace('set -a && . /etc/sluice/access.env && ', '')
    .replace('/srv/orders', join(project, 'orders'))
    .replaceAll('/var/lib/sluice', join(project, 'nightly'))
  const path = `PATH='${join(project, 'node_modules', '.bin')}':"$PATH"`
  same(sluice('lab', '--', 'sh', '-c', `${path}; SLUICE_STATE_DIR=state; export SLUICE_STATE_DIR; ${here}`), '')
  const receipt = JSON.parse(readFileSync(join(project, 'nightly', 'receipts.ndjson'), 'utf8'))
  same(`${receipt.status} ${receipt.created}`, 'finished 5')
}

/** Lets a receiver take an upload, and stops it. */
function runFastify() {
  const server = join(project, 'node_modules', 'sluice', 'examples', 'fastify', 'server.mjs')
  const orders = join('node_modules', 'sluice', 'examples', 'orders.ndjson')
  const lines = [
    'export PORT=$((20000 + $$ % 10000)) NODE_EXTRA_CA_CERTS="$SLUICE_CA"',
    `node '${server}' > server.log & server=$!`,
    'until grep -q listening server.log; do kill -0 $server || exit 1; sleep 0.2; done',
    `curl -sS --data-binary @${orders} -H 'content-type: application/x-ndjson' "http://127.0.0.1:$PORT/uploads/orders"`,
    'kill $server && wait $server',
  ]
  includes(sluice('lab', '--', 'sh', '-c', lines.join('\n')), '"created":5,"rejected":0')
}

/** Installs what a project would have: the types of Node, for the compiler, and what an example uses. */
function installBeside() {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const wanted = `@types/node@${devDependencies['@types/node']}`
  install(project, '--no-save', wanted, 'fastify@5')
}

function compile(settings) {
  const files = readdirSync(join(project, 'types')).map(name => join('types', name))
  const always = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', '--skipLibCheck', 'false']
  run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...always, ...settings, ...files])
}

/** Uses the package on another version of Node: loads files of three kinds, edits them, and goes through every door. */
function runOn(node) {
  const path = run('npm', ['exec', '--yes', `--package=node@${node}`, '--', 'node', '-p', 'process.execPath']).trim()
  const program = [path, join('node_modules', 'sluice', 'bin', 'sluice.js')]
  const on = (...args) => run(path, [program[1], ...args])
  includes(on('demo'), 'it balances')
  const inputs = { 'a.ndjson': '{"a":1}\n', 'b.ndjson.gz': gzipSync('{"a":2}\n'), 'c.csv': 'a,b\n3,4\n' }
  const files = { ...inputs, 'twice.mjs': 'export default document => [document, document]\n' }
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(project, name), bytes)
  const load = [
    ...program,
    'ingest',
    ...Object.keys(inputs),
    '--index',
    'all',
    '--state-dir',
    `state-${node}`,
    '--again',
  ]
  includes(on('lab', '--', ...load, '--set', 'b=1'), '3 created')
  includes(on('lab', '--', ...load, '--transform', 'twice.mjs'), '6 created')
  for (const file of ['load.mjs', 'load.cjs']) same(run(path, [file]).trim(), 'finished 2 string 2')
}

function shim() {
  return [join('node_modules', '.bin', isWindows ? 'sluice.cmd' : 'sluice')]
}

function sluice(...args) {
  return run(shim()[0], args)
}

function run(command, args, cwd = project) {
  return runIn(command, args, cwd)
}

function same(found, wanted) {
  if (found !== wanted) throw new Error(`found ${found}, wanted ${wanted}`)
}

function includes(text, part) {
  if (!text.includes(part)) throw new Error(`no '${part}' in:\n${text}`)
}

function atMost(found, most) {
  if (found > most) throw new Error(`found ${found}, wanted ${most} or fewer`)
}

function kB(bytes) {
  return `${Math.round(bytes / 1000)} kB`
}
