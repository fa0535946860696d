import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const cache = join(root, '.cache')
const sources = [
  'src',
  'bin',
  'scripts/bundle',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
]
const DAY_MS = 86_400_000

/** The package as it would be installed, built from the sources under test. Inside the project, where it finds its dependencies. */
export const built = process.env['SLUICE_TEST_BUILD'] ?? ''
/** Where commands of this run keep their state. */
export const stateHome = process.env['SLUICE_TEST_STATE'] ?? ''

/** Builds the package once for all test files that start it. A later run of the same sources finds it built. */
export async function setup(project: TestProject): Promise<(() => void) | undefined> {
  if (!(await isNeeded(project))) return undefined
  const folder = join(cache, `build-${fingerprint()}`)
  if (!existsSync(folder)) buildInto(folder)
  const state = mkdtempSync(join(tmpdir(), 'sluice-state-'))
  // Workers learn of both by the environment.
  process.env['SLUICE_TEST_BUILD'] = folder
  process.env['SLUICE_TEST_STATE'] = state
  return () => rmSync(state, { recursive: true, force: true })
}

/** Tells whether a test file of this run leads to this one by its imports. */
async function isNeeded(project: TestProject): Promise<boolean> {
  const { filenamePattern } = project.vitest as { filenamePattern?: string[] }
  if (filenamePattern === undefined) return true
  const { testFiles } = await project.globTestFiles(filenamePattern)
  const reached = new Set(testFiles)
  for (const file of reached)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(/ from '(\.[^']*)\.js'/g)) {
      const imported = resolve(dirname(file), `${path}.ts`)
      if (existsSync(imported)) reached.add(imported)
    }
  return reached.has(fileURLToPath(import.meta.url))
}

function fingerprint(): string {
  const hash = createHash('sha256')
  for (const path of sources.flatMap(filesOf).toSorted())
    hash.update(`${path}\0`).update(readFileSync(join(root, path)))
  return hash.digest('hex').slice(0, 16)
}

function filesOf(path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path]
  return readdirSync(join(root, path)).flatMap(name => filesOf(`${path}/${name}`))
}

function buildInto(folder: string): void {
  mkdirSync(cache, { recursive: true })
  for (const name of readdirSync(cache).filter(one => one.startsWith('build-')))
    if (statSync(join(cache, name)).mtimeMs < Date.now() - DAY_MS) rmSync(join(cache, name), { recursive: true })
  // Under another name until it is whole: another run may look for it.
  const partial = mkdtempSync(`${folder}.`)
  copyFileSync(join(root, 'package.json'), join(partial, 'package.json'))
  cpSync(join(root, 'bin'), join(partial, 'bin'), { recursive: true })
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  // `npm run check` checks the types.
  const options = ['-p', join(root, 'tsconfig.build.json'), '--noCheck', '--outDir', join(partial, 'dist')]
  execFileSync(process.execPath, [compiler, ...options], { stdio: 'inherit' })
  execFileSync(process.execPath, [join(root, 'scripts', 'bundle', 'bundle.js'), join(partial, 'dist')], {
    stdio: 'inherit',
  })
  try {
    renameSync(partial, folder)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    // Another run was sooner.
    if (!existsSync(folder)) throw error
  }
}
