import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Returns a Python that has this package, such as `pyarrow==26.0.1`. It is installed once, into the user's cache. */
export function pythonWith(requirement: string): string {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice', 'python')
  const folder = join(cache, requirement.replaceAll(/[^\w.]+/g, '-'))
  const python = join(folder, 'bin', 'python')
  if (existsSync(join(folder, '.complete'))) return python
  mkdirSync(cache, { recursive: true })
  execFileSync('python3', ['-m', 'venv', '--clear', folder])
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', requirement])
  writeFileSync(join(folder, '.complete'), '')
  return python
}
