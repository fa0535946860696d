import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** Who may import whom. A part is a folder of src; `(root)` are the files that compose them, `flow` the types that cross stages. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  failure: [],
  flow: ['failure'],
  source: ['flow', 'failure'],
  format: ['flow', 'failure'],
  bulk: ['flow', 'failure'],
  ledger: ['flow', 'failure'],
  sender: ['flow', 'failure', 'cluster'],
  cluster: ['failure', 'proxy'],
  proxy: ['failure'],
  servicenow: ['flow', 'failure', 'proxy'],
  options: ['failure', 'flow'],
  // What an embedder's options have to be.
  checks: ['failure', 'bulk', 'doctor', 'options', '(root)'],
  doctor: ['failure', 'flow', 'cluster', 'proxy', 'servicenow', 'checks', '(root)'],
  filter: ['failure', 'flow', 'cluster', 'proxy', '(root)'],
  verify: ['failure', 'flow', 'cluster', 'ledger', 'sender', 'options', 'checks', 'run', '(root)'],
  // What a run is made of besides the stages: `ingest.ts` puts it together.
  run: [
    'failure',
    'flow',
    'source',
    'format',
    'bulk',
    'ledger',
    'sender',
    'cluster',
    'proxy',
    'servicenow',
    'options',
    'checks',
    '(root)',
  ],
  serve: ['failure', 'flow', 'cluster', 'ledger', 'source', 'options', 'checks', 'run', '(root)'],
  alarm: ['failure', 'ledger', 'servicenow', 'options', 'checks', '(root)'],
  // A double must not share our bugs.
  lab: [],
  '(root)': [
    'failure',
    'flow',
    'source',
    'format',
    'bulk',
    'ledger',
    'sender',
    'cluster',
    'proxy',
    'servicenow',
    'options',
    'doctor',
    'filter',
    'verify',
    'run',
    'serve',
    'checks',
    'alarm',
  ],
  // The command line gets what an embedder gets.
  cli: ['(root)', 'failure', 'options', 'doctor', 'filter', 'verify', 'serve', 'alarm', 'lab'],
}

/** The one door of each package. */
const owners: Readonly<Record<string, string>> = {
  undici: 'proxy',
  socks: 'proxy',
  '@elastic/elasticsearch': 'cluster',
  'p-limit': 'sender',
  'stream-json': 'format',
  tinyglobby: 'source',
  zod: 'options',
  commander: 'cli',
  pino: 'cli',
  '@peculiar/x509': 'lab',
  'reflect-metadata': 'lab',
}

/** What an embedder sees of the client is its type: these files of the root may name it. */
const clientTypeOnly = 'connect.ts'

interface SourceFile {
  /** Relative to src. */
  readonly path: string
  readonly text: string
}

function violations({ path, text }: SourceFile): string[] {
  const part = partOf(path)
  const found: string[] = []
  for (const { specifier, isType } of importsOf(text)) {
    if (specifier.startsWith('.')) {
      const target = partOf(relative('.', join(dirname(path), specifier)))
      const fine = target === part || allowed[part]?.includes(target) === true
      if (!fine) found.push(`${path}: ${part} may not import ${target}`)
    } else if (!specifier.startsWith('node:')) {
      const name = specifier.startsWith('@')
        ? specifier.split('/').slice(0, 2).join('/')
        : (specifier.split('/')[0] ?? '')
      const fine = owners[name] === part || (isType && path === clientTypeOnly)
      if (!fine) found.push(`${path}: ${name} belongs to ${owners[name] ?? 'nobody'}`)
    }
  }
  const code = text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
  if (part !== 'cli' && /\b(process|console)\./.test(withoutTexts(text)))
    found.push(`${path}: process and console belong to cli`)
  // The bundle of the command line has a client without them, for a quicker start.
  if (part !== 'lab' && /\bclient\.(?!transport\b|close\b)\w/.test(withoutTexts(text)))
    found.push(`${path}: requests go through the client's transport, not its API`)
  const waits = path === 'system-clock.ts' || part === 'lab' || part === 'cli'
  if (!waits && code.includes('node:timers/promises')) found.push(`${path}: waiting belongs to the clock`)
  return found
}

/** Neither comments nor strings: a sentence may end in the word, and a glob is no comment. */
function withoutTexts(text: string): string {
  return text.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

function partOf(path: string): string {
  const [first = '', ...rest] = path.split('/')
  if (rest.length > 0) return first
  return first.startsWith('flow.') ? 'flow' : '(root)'
}

function importsOf(text: string): { specifier: string; isType: boolean }[] {
  const statements = text.matchAll(
    /^(?:import|export)\s(?:(type)\s)?[^'"]*?\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  )
  return [...statements].map(([, type, from, bare, dynamic]) => ({
    specifier: from ?? bare ?? dynamic ?? '',
    isType: type === 'type',
  }))
}

function sourceFiles(folder = src): SourceFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourceFiles(path)
    return entry.name.endsWith('.ts') ? [{ path: relative(src, path), text: readFileSync(path, 'utf8') }] : []
  })
}

describe('architecture', () => {
  test('every import follows the table', () => {
    expect(sourceFiles().flatMap(violations)).toEqual([])
  })

  test('every folder of src stands in the table, and nothing else', () => {
    const folders = readdirSync(src, { withFileTypes: true }).filter(entry => entry.isDirectory())
    const named = Object.keys(allowed).filter(part => part !== 'flow' && part !== '(root)')
    expect(folders.map(({ name }) => name).toSorted()).toEqual(named.toSorted())
  })

  const planted: readonly [string, string, string][] = [
    ['a stage importing another', 'bulk/planted.ts', "import { decode } from '../format/decode.js'"],
    ['a stage importing the client’s folder', 'ledger/planted.ts', "import { post } from '../cluster/post.js'"],
    ['the lab importing ours', 'lab/planted.ts', "import { failure } from '../failure/failure.js'"],
    [
      'the lab importing ours from below',
      'lab/cluster/planted.ts',
      "import { failure } from '../../failure/failure.js'",
    ],
    ['somebody importing the command line', 'ingest-planted.ts', "import { main } from './cli/main.js'"],
    [
      'the command line reaching behind the library',
      'cli/commands/planted.ts',
      "import { Sender } from '../../sender/sender.js'",
    ],
    ['a package through another door', 'cluster/planted.ts', "import { Pool } from 'undici'"],
    ['a package of nobody', 'bulk/planted.ts', "import lodash from 'lodash'"],
    ['a re-export', 'bulk/planted.ts', "export { decode } from '../format/decode.js'"],
    ['a lazy import', 'bulk/planted.ts', "const p = await import('undici')"],
    ['an import over several lines', 'bulk/planted.ts', "import {\n  decode,\n} from '../format/decode.js'"],
    ['the environment outside the command line', 'options/planted.ts', 'export const url = process.env.URL'],
    ['the client’s API', 'cluster/planted.ts', 'await cluster.client.search({ index })'],
    ['the console behind a glob', 'failure/planted.ts', "const all = 'dir/*.ndjson'\nconsole.log(all)\n/* */"],
    ['waiting somewhere else', 'sender/planted.ts', "import { setTimeout } from 'node:timers/promises'"],
  ]
  test.each(planted)('catches %s', (_, path, text) => {
    expect(violations({ path, text })).toHaveLength(1)
  })
})
