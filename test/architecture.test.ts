/** Holds the house to its plan: who may import whom, through which doors, without circles, and which folder owns which package. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { circlesOf, graphOf } from '../scripts/measure/circles.js'
import { clientTypeOnly, house, owners } from './support/house.js'

const src = fileURLToPath(new URL('../src', import.meta.url))

interface SourceFile {
  /** Relative to src. */
  readonly path: string
  readonly text: string
}

interface Import {
  /** A package, or the path of one of our files relative to src. */
  readonly target: string
  readonly isOurs: boolean
  readonly isType: boolean
}

function violations(file: SourceFile): string[] {
  return [
    ...importsOf(file).flatMap(one => (one.isOurs ? wrongImport(file, one) : wrongPackage(file, one))),
    ...misuses(file),
  ]
}

function wrongImport({ path }: SourceFile, { target }: Import): string[] {
  const [from, to] = [partOf(path), partOf(target)]
  if (from === to) return []
  if (!listed(house[from]?.imports).includes(to)) return [`${path}: ${from} may not import ${to}`]
  const door = target.slice(to.length + 1).replace(/\.ts$/, '')
  return target === to || listed(house[to]?.doors).includes(door) ? [] : [`${path}: ${target} is no door of ${to}`]
}

function wrongPackage({ path }: SourceFile, { target, isType }: Import): string[] {
  if (target.startsWith('node:')) return []
  const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/')
  const isFine = owners[name] === partOf(path) || (isType && path === clientTypeOnly)
  return isFine ? [] : [`${path}: ${name} belongs to ${owners[name] ?? 'nobody'}`]
}

/** Finds what no import shows. */
function misuses({ path, text }: SourceFile): string[] {
  const part = partOf(path)
  const found: string[] = []
  if (part !== 'cli' && /\b(process|console)\./.test(withoutTexts(text)))
    found.push(`${path}: process and console belong to cli`)
  // The bundle of the command line has a client without its API, for a quicker start.
  if (part !== 'lab' && /\bclient\.(?!transport\b|close\b)\w/.test(withoutTexts(text)))
    found.push(`${path}: requests use the client's transport, not its API`)
  const mayWait = path === 'time/system-clock.ts' || part === 'lab' || part === 'cli'
  if (!mayWait && withoutComments(text).includes('node:timers/promises'))
    found.push(`${path}: waiting belongs to the clock`)
  return found
}

/** Returns the circles of files, and those of parts, type imports included. */
function circles(files: readonly SourceFile[]): string[] {
  const nodes = files.map(file => ({
    path: file.path,
    imports: importsOf(file).flatMap(({ target, isOurs }) => (isOurs ? [target] : [])),
  }))
  return [...circlesOf(graphOf(nodes)), ...circlesOf(graphOf(nodes, partOf))].map(circle => circle.toSorted().join(' '))
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

/** Drops strings too: a sentence may end in the word, and a glob is no comment. */
function withoutTexts(text: string): string {
  return text.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

/** Returns the part of a path relative to src: `run` for `run/load.ts`. A file of the root is a part by itself. */
function partOf(path: string): string {
  return path.split('/')[0] ?? ''
}

function listed(names = ''): string[] {
  return names.split(' ').filter(name => name !== '')
}

function importsOf({ path, text }: SourceFile): Import[] {
  const statements = text.matchAll(
    /^(?:import|export)\s(?:(type)\s)?[^'"]*?\bfrom\s+['"]([^'"]+)['"]|^import\s+['"]([^'"]+)['"]|\bimport\(\s*['"]([^'"]+)['"]/gm,
  )
  return [...statements].map(([, type, from, bare, dynamic]) => {
    const specifier = from ?? bare ?? dynamic ?? ''
    const isOurs = specifier.startsWith('.')
    const target = isOurs ? relative('.', join(dirname(path), specifier)).replace(/(\.js)?$/, '.ts') : specifier
    return { target, isOurs, isType: type === 'type' }
  })
}

function sourceFiles(folder = src): SourceFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourceFiles(path)
    return entry.name.endsWith('.ts') ? [{ path: relative(src, path), text: readFileSync(path, 'utf8') }] : []
  })
}

describe('architecture', () => {
  const files = sourceFiles()

  test('every import follows the plan and uses a door', () => {
    expect(files.flatMap(violations)).toEqual([])
  })

  test('every folder and file of src stands in the plan, and nothing else', () => {
    expect(readdirSync(src).toSorted()).toEqual(Object.keys(house).toSorted())
  })

  test('no files and no parts import each other in a circle', () => {
    expect(circles(files)).toEqual([])
  })

  test('every permission and every door of the plan is used', () => {
    const used = new Set(
      files.flatMap(file =>
        importsOf(file)
          .filter(({ target, isOurs }) => isOurs && partOf(target) !== partOf(file.path))
          .flatMap(({ target }) => [`${partOf(file.path)} imports ${partOf(target)}`, `door ${target}`]),
      ),
    )
    const planned = Object.entries(house).flatMap(([part, { imports, doors }]) => [
      ...listed(imports).map(to => `${part} imports ${to}`),
      ...listed(doors).map(door => `door ${part}/${door}.ts`),
    ])
    expect(planned.filter(one => !used.has(one))).toEqual([])
  })

  const planted: readonly [string, string, string][] = [
    ['a stage that imports another', 'bulk/planted.ts', "import { decode } from '../format/decode.js'"],
    [
      'a stage that imports the client’s folder',
      'ledger/planted.ts',
      "import type { Cluster } from '../cluster/open-cluster.js'",
    ],
    ['a wing that imports another', 'guarded/planted.ts', "import { serve } from '../serve/serve.js'"],
    ['the loop that imports a wing', 'run/planted.ts', "import { serve } from '../serve/serve.js'"],
    ['the lab that imports ours', 'lab/planted.ts', "import { failure } from '../failure/failure.js'"],
    [
      'the lab that imports ours from below',
      'lab/cluster/planted.ts',
      "import { failure } from '../../failure/failure.js'",
    ],
    ['an import of the command line', 'ingest.ts', "import { main } from './cli/main.js'"],
    [
      'the command line behind the library',
      'cli/commands/planted.ts',
      "import { Sender } from '../../sender/sender.js'",
    ],
    ['an import past the doors', 'sender/planted.ts', "import type { Bounds } from '../cluster/planted.js'"],
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

  test('catches circles, also of types', () => {
    const one = { path: 'run/one.ts', text: "import type { Two } from './two.js'" }
    const two = { path: 'run/two.ts', text: "import { three } from '../state/three.js'" }
    const three = { path: 'state/three.ts', text: "export type { One } from '../run/one.js'" }
    expect(circles([one, two, three])).toEqual(['run/one.ts run/two.ts state/three.ts', 'run state'])
    expect(circles([one, two])).toEqual([])
  })
})
