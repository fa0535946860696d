import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync } from 'node:fs'
import { renameSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { fingerprint, packageInto } from '../../scripts/build.js'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const cache = join(root, '.cache')
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

function buildInto(folder: string): void {
  mkdirSync(cache, { recursive: true })
  for (const name of readdirSync(cache).filter(one => one.startsWith('build-')))
    if (statSync(join(cache, name)).mtimeMs < Date.now() - DAY_MS) rmSync(join(cache, name), { recursive: true })
  // Under another name until it is whole: another run may look for it.
  const partial = mkdtempSync(`${folder}.`)
  packageInto(partial)
  try {
    renameSync(partial, folder)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    // Another run was sooner.
    if (!existsSync(folder)) throw error
  }
}
