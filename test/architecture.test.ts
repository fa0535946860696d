import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))

/**
 * Who may import whom. A part is a folder of src, or one file of its root. Stages know `flow` and `failure`, never each other.
 * A wing is one feature. Nobody imports `cli`.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  failure: [],
  'flow.ts': ['failure'],
  // Bytes and JSON.
  text: [],
  time: ['flow.ts'],
  disk: ['failure', 'text'],
  // The stages.
  source: ['flow.ts', 'failure', 'disk'],
  format: ['flow.ts', 'failure', 'text'],
  bulk: ['flow.ts', 'failure', 'text'],
  sender: ['flow.ts', 'failure', 'cluster', 'time', 'text'],
  ledger: ['flow.ts', 'failure', 'disk', 'text'],
  // The way to a cluster or an instance.
  proxy: ['failure'],
  cluster: ['failure', 'proxy', 'text'],
  servicenow: ['flow.ts', 'failure', 'proxy', 'time', 'text'],
  connect: ['flow.ts', 'failure', 'disk', 'cluster', 'options', 'proxy', 'servicenow', 'state', 'time', 'text'],
  options: ['flow.ts', 'failure', 'bulk', 'format', 'ledger', 'source', 'text'],
  state: ['flow.ts', 'failure', 'disk', 'cluster', 'ledger', 'options', 'time', 'text'],
  // A run. It knows its features by their hooks only.
  run: [
    'flow.ts',
    'failure',
    'source',
    'format',
    'bulk',
    'sender',
    'ledger',
    'cluster',
    'proxy',
    'connect',
    'options',
    'state',
    'time',
  ],
  // Features, each with its hook.
  guarded: ['failure', 'bulk', 'cluster', 'connect', 'ledger', 'options', 'run', 'state', 'time'],
  limits: ['failure', 'cluster', 'options', 'run', 'sender', 'state'],
  replay: ['flow.ts', 'failure', 'bulk', 'cluster', 'format', 'options', 'run', 'state', 'time'],
  spool: ['flow.ts', 'failure', 'disk', 'ledger', 'options', 'run', 'source', 'state', 'text'],
  tables: [
    'flow.ts',
    'failure',
    'disk',
    'cluster',
    'connect',
    'ledger',
    'options',
    'run',
    'servicenow',
    'state',
    'text',
  ],
  'ingest.ts': ['guarded', 'ledger', 'limits', 'options', 'run', 'spool', 'tables'],
  'replay.ts': ['failure', 'ledger', 'limits', 'options', 'replay', 'run', 'source', 'spool'],
  serve: [
    'flow.ts',
    'failure',
    'disk',
    'cluster',
    'connect',
    'ledger',
    'limits',
    'options',
    'run',
    'state',
    'time',
    'text',
  ],
  // What looks, and what tells.
  verify: ['flow.ts', 'failure', 'cluster', 'connect', 'options', 'sender', 'state', 'time', 'text'],
  filter: ['flow.ts', 'failure', 'cluster', 'connect', 'options', 'proxy', 'time', 'text'],
  doctor: ['flow.ts', 'failure', 'cluster', 'connect', 'options', 'proxy', 'servicenow', 'time', 'text'],
  alarm: ['failure', 'connect', 'ledger', 'options', 'servicenow'],
  // A double must not share our bugs.
  lab: [],
  // The public doors.
  'index.ts': [
    'flow.ts',
    'failure',
    'alarm',
    'cluster',
    'connect',
    'doctor',
    'guarded',
    'ingest.ts',
    'ledger',
    'options',
    'replay.ts',
    'serve',
    'source',
    'tables',
    'verify',
  ],
  'servicenow.ts': ['failure', 'connect', 'options', 'servicenow', 'tables'],
  // The command line gets what an embedder gets.
  cli: [
    'index.ts',
    'servicenow.ts',
    'ingest.ts',
    'replay.ts',
    'failure',
    'alarm',
    'connect',
    'disk',
    'doctor',
    'filter',
    'guarded',
    'lab',
    'ledger',
    'options',
    'serve',
    'spool',
    'state',
    'tables',
    'verify',
  ],
}

/** The one door of each package. */
const owners: Readonly<Record<string, string>> = {
  undici: 'proxy',
  socks: 'proxy',
  '@elastic/elasticsearch': 'cluster',
  'p-limit': 'sender',
  'stream-json': 'format',
  tinyglobby: 'source',
  commander: 'cli',
  pino: 'cli',
  '@peculiar/x509': 'lab',
  'reflect-metadata': 'lab',
}

/** What an embedder sees of the client is its type: this file may name it. */
const clientTypeOnly = 'connect/connect.ts'

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
  const waits = path === 'time/system-clock.ts' || part === 'lab' || part === 'cli'
  if (!waits && code.includes('node:timers/promises')) found.push(`${path}: waiting belongs to the clock`)
  return found
}

/** Neither comments nor strings: a sentence may end in the word, and a glob is no comment. */
function withoutTexts(text: string): string {
  return text.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

/** Relative to src: `run/load.ts` is in `run`, a file of the root is a part by itself. */
function partOf(path: string): string {
  const [first = ''] = path.replace(/\.js$/, '.ts').split('/')
  return first
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

  test('every folder and file of src stands in the table, and nothing else', () => {
    expect(readdirSync(src).toSorted()).toEqual(Object.keys(allowed).toSorted())
  })

  const planted: readonly [string, string, string][] = [
    ['a stage importing another', 'bulk/planted.ts', "import { decode } from '../format/decode.js'"],
    ['a stage importing the client’s folder', 'ledger/planted.ts', "import { postBulk } from '../cluster/request.js'"],
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
