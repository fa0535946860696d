/** Fetches the files of the corpus from the packages that hold them, by the ordinary clients, into the user's cache. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** How a person sees a file that is not plain CSV or JSON. Absent: commas or tabs by its name, UTF-8, names in the first row. */
interface Dialect {
  readonly encoding?: string
  readonly delimiter?: string
  readonly quote?: string
  /** Lines above the names of the columns. */
  readonly skip?: number
  /** How many columns it has, if no row names them. */
  readonly columns?: number
  /** Whether blanks stand behind delimiters. */
  readonly blanks?: boolean
  /** What stands before quotes in cells. */
  readonly escape?: string
  /** The array of documents inside. */
  readonly picked?: string
}

interface Package {
  readonly registry: 'npm' | 'pypi'
  readonly name: string
  readonly version: string
  /** An archive in the package that holds the files. */
  readonly inner?: string
  readonly files: readonly (readonly [path: string, sha256: string, dialect?: Dialect])[]
}

export interface FirstTry {
  /** Package and path. */
  readonly name: string
  readonly path: string
  readonly dialect: Dialect
}

const corpus = fileURLToPath(new URL('corpus.json', import.meta.url))
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sluice', 'first-try')

/** Returns the files that can be had, and why others cannot. */
export function fetchCorpus(): { readonly files: readonly FirstTry[]; readonly missing: readonly string[] } {
  const packages = JSON.parse(readFileSync(corpus, 'utf8')) as Package[]
  const files: FirstTry[] = []
  const missing: string[] = []
  for (const one of packages) {
    const title = `${one.name} ${one.version}`
    let folder: string
    try {
      folder = fetched(one)
    } catch (error) {
      missing.push(`${title}, ${one.files.length} files: ${String(error).split('\n')[0]}`)
      continue
    }
    for (const [path, sha256, dialect = {}] of one.files) {
      const whole = join(folder, path)
      const problem = !existsSync(whole)
        ? 'it is not in the package'
        : sumOf(whole) === sha256
          ? undefined
          : 'it changed'
      if (problem === undefined) files.push({ name: `${one.name}/${path}`, path: whole, dialect })
      else missing.push(`${title}, ${path}: ${problem}`)
    }
  }
  return { files, missing }
}

function sumOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

/** Returns the folder of an unpacked package. */
function fetched({ registry, name, version, inner }: Package): string {
  const folder = join(cache, `${registry}-${name.replaceAll(/[^\w.-]/g, '-')}-${version}`)
  if (existsSync(join(folder, '.complete'))) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const run = (program: string, ...words: string[]) =>
    execFileSync(program, words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  if (registry === 'npm') run('npm', 'pack', '--silent', '--ignore-scripts', `${name}@${version}`)
  else {
    // The source of this one is its only form.
    const form = inner === undefined ? ['--only-binary', ':all:'] : ['--no-binary', ':all:']
    run('python3', '-m', 'pip', 'download', '--quiet', '--no-deps', ...form, `${name}==${version}`)
  }
  const [packed = ''] = readdirSync(folder)
  if (packed.endsWith('.whl')) run('python3', '-m', 'zipfile', '-e', packed, '.')
  else run('tar', 'xzf', packed, '--strip-components', '1')
  if (inner !== undefined) run('tar', 'xzf', inner)
  rmSync(join(folder, packed))
  writeFileSync(join(folder, '.complete'), '')
  return folder
}
