import { execFileSync } from 'node:child_process'
import { copyFileSync, cpSync, mkdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/**
 * A package as it would be installed, built from the sources under test. Inside the project, where it finds its dependencies;
 * of this run alone, so that two runs at once do not take it from each other. Workers learn of it by the environment.
 */
export const built = process.env['SLUICE_TEST_BUILD'] ?? join(root, '.cache', `cli-tests-${process.pid}`)

export function setup(): () => void {
  process.env['SLUICE_TEST_BUILD'] = built
  mkdirSync(built, { recursive: true })
  copyFileSync(join(root, 'package.json'), join(built, 'package.json'))
  cpSync(join(root, 'bin'), join(built, 'bin'), { recursive: true })
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  execFileSync(process.execPath, [compiler, '-p', join(root, 'tsconfig.build.json'), '--outDir', join(built, 'dist')], {
    stdio: 'inherit',
  })
  execFileSync(process.execPath, [join(root, 'scripts', 'bundle', 'bundle.js'), join(built, 'dist')], {
    stdio: 'inherit',
  })
  return () => rmSync(built, { recursive: true, force: true })
}
