// node scripts/build.js
// Builds the package into `dist/`: the kernels, the modules, and the program of the command line. `npm run check` checks the types.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = join(root, 'dist')
const cache = join(root, '.cache')
/** Says which sources `dist/` was built from. */
const record = join(cache, 'built-from')
const sources = ['src', 'bin', 'scripts/build.js', 'scripts/bundle', 'package.json', 'package-lock.json']
const settings = ['tsconfig.json', 'tsconfig.build.json']

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  rmSync(dist, { recursive: true, force: true })
  node('scripts/kernel/build.js')
  compileInto(dist)
  mkdirSync(cache, { recursive: true })
  writeFileSync(record, fingerprint())
}

/** A hash of all that a build is made from. The build holds code that V8 compiled, which only the same V8 takes. */
export function fingerprint() {
  const hash = createHash('sha256').update(process.versions.v8)
  for (const path of [...sources, ...settings].flatMap(filesOf))
    hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  return hash.digest('hex').slice(0, 16)
}

/** Writes the package as it would be installed, but its dependencies. Takes `dist/` if that is of the same sources. */
export function packageInto(folder) {
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'))
  cpSync(join(root, 'bin'), join(folder, 'bin'), { recursive: true })
  const isBuilt = existsSync(dist) && existsSync(record) && readFileSync(record, 'utf8') === fingerprint()
  if (isBuilt) cpSync(dist, join(folder, 'dist'), { recursive: true })
  else compileInto(join(folder, 'dist'))
}

function compileInto(folder) {
  node('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--noCheck', '--outDir', folder)
  node('scripts/bundle/bundle.js', folder)
}

function node(script, ...options) {
  execFileSync(process.execPath, [join(root, script), ...options], { cwd: root, stdio: 'inherit' })
}

function filesOf(path) {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  const names = readdirSync(join(root, path)).toSorted((one, other) => (one < other ? -1 : 1))
  return names.flatMap(name => filesOf(`${path}/${name}`))
}
