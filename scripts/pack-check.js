/**
 * Packs Sluice, installs the package in an empty project, and uses it there: what works in the checkout alone fails here.
 * Takes the build as it is: `npm run build` first. `node scripts/pack-check.js` needs what `npm install` needs.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const project = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
const windows = process.platform === 'win32'
const program = `
import { readFileSync } from 'node:fs'
import { ingest } from 'sluice'
import { startLab } from 'sluice/lab'
import { connectServiceNow } from 'sluice/servicenow'
import { Client } from '@elastic/elasticsearch'
import { connectionThrough } from 'sluice/connection'

const lab = await startLab()
const { url, apiKey, caFile: ca } = lab.line.cluster
const receipt = await ingest({
  source: [{ a: 1 }, { a: 2 }],
  target: { url, apiKey, ca: readFileSync(ca) },
  proxy: lab.line.proxy.http,
  index: 'packed',
})
const { url: instance, username, password } = lab.line.servicenow
const platform = await connectServiceNow({
  servicenow: { url: instance, username, password, ca: readFileSync(ca) },
  proxy: lab.line.proxy.http,
})
const { sys_id: id } = await platform.table('incident').create({ short_description: 'packed' })
const Connection = connectionThrough({ proxy: lab.line.proxy.socks5 })
const client = new Client({ node: url, auth: { apiKey }, tls: { ca: readFileSync(ca) }, Connection })
const { count } = await client.count({ index: 'packed' })
console.log(receipt.status, receipt.created, typeof id, count)
await client.close()
await platform.close()
await lab.close()
`

try {
  const { filename, files, size } = pack()
  check('what is packed', () => checkFiles(files.map(file => file.path)))
  install(join(project, filename))
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  check('sluice --version', () => same(sluice('--version').trim(), version))
  check('sluice demo', () => includes(sluice('demo'), 'it balances'))
  check('sluice, sluice/lab, sluice/servicenow and sluice/connection, from a program', () =>
    same(run('node', ['load.mjs']).trim(), 'finished 2 string 2'),
  )
  check('types, from a program', () => run('node', [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.']))
  check('sluice without the packages of the command line', () => {
    for (const name of ['commander', 'pino']) rmSync(join(project, 'node_modules', name), { recursive: true })
    same(run('node', ['load.mjs']).trim(), 'finished 2 string 2')
  })
  console.log(`${filename}: ${files.length} files, ${Math.round(size / 1000)} kB packed`)
} finally {
  rmSync(project, { recursive: true, force: true })
}

function pack() {
  // The build stands: `prepare` would make it again, and print into the JSON.
  const [packed] = JSON.parse(run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', project], root))
  return packed
}

function checkFiles(paths) {
  const needed = [
    'bin/package.json',
    'bin/sluice.js',
    'dist/bin/LICENSES.txt',
    'dist/bin/main.cjs',
    'dist/index.js',
    'dist/index.d.ts',
    'dist/lab/index.js',
    'dist/servicenow.js',
    'dist/connection.js',
    'README.md',
    'LICENSE',
  ]
  const missing = needed.filter(path => !paths.includes(path))
  const strange = paths.filter(
    path => !/^(bin|dist|schema)\/|^(README\.md|CHANGELOG\.md|LICENSE|package\.json)$/.test(path),
  )
  const stale = paths.filter(path => /^dist\/(?!bin\/)/.test(path) && !sourceOf(path))
  if (missing.length + strange.length + stale.length > 0) {
    throw new Error(JSON.stringify({ missing, strange, stale }))
  }
}

/** A file that an older build left behind has no source any more. */
function sourceOf(path) {
  const source = path.replace(/^dist\//, '').replace(/(\.d\.ts|\.js)$/, '.ts')
  return existsSync(join(root, 'src', source))
}

function install(tarball) {
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'project', private: true, type: 'module' }))
  writeFileSync(join(project, 'load.mjs'), program)
  writeFileSync(join(project, 'load.ts'), program)
  const types = { typeRoots: [join(root, 'node_modules/@types')], types: ['node'] }
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    ...types,
  }
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['load.ts'] }))
  run('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', '--omit=dev', tarball])
}

function sluice(...args) {
  return run(join(project, 'node_modules', '.bin', windows ? 'sluice.cmd' : 'sluice'), args)
}

function run(command, args, cwd = project) {
  const shell = windows && command !== 'node'
  return execFileSync(command, args, { cwd, shell, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

function check(what, does) {
  try {
    does()
    console.log(`ok    ${what}`)
  } catch (error) {
    console.log(`FAIL  ${what}\n${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}`)
    process.exitCode = 1
  }
}

function same(found, wanted) {
  if (found !== wanted) throw new Error(`found ${found}, wanted ${wanted}`)
}

function includes(text, part) {
  if (!text.includes(part)) throw new Error(`no '${part}' in:\n${text}`)
}
