/** Holds the house to its plan: who may import whom, through which doors, without circles, and which folder owns which package. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { circlesOf, graphOf } from '../scripts/measure/circles.js'
import { importsIn, walkFile } from '../scripts/measure/imports.js'
import { hooks, membersOf } from '../scripts/measure/structure.js'
import {
  clientTypeOnly,
  districtOf,
  districts,
  double,
  floorOf,
  owners,
  roomOf,
  tooOpen,
  usesProcess,
  usesSocket,
  walls,
} from './support/house.js'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** Each room of the plan by its path relative to src. */
const planned = new Map(
  districts.flatMap(({ name, rooms }) =>
    Object.entries(rooms).map(([room, plan]) => [[name, room].filter(part => part !== '').join('/'), plan] as const),
  ),
)

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
  const [from, to] = [roomOf(path), roomOf(target)]
  if (from === to) return []
  if (!mayImport(path, target)) return [`${path}: ${from} may not import ${to}`]
  const door = target.slice(to.length + 1).replace(/\.ts$/, '')
  return target === to || doorsOf(to).includes(door) ? [] : [`${path}: ${target} is no door of ${to}`]
}

function mayImport(path: string, target: string): boolean {
  const [from, to] = [districtOf(path), districtOf(target)]
  if (from === double.name) return false
  if (to === double.name) return from === double.enteredBy
  if (from === to) return besideOf(roomOf(path)).includes(roomOf(target))
  return floorOf(to) < floorOf(from) && !listed(walls[from]).includes(roomOf(target))
}

function besideOf(room: string): string[] {
  const district = districtOf(room)
  return listed(planned.get(room)?.beside).map(name => (district === '' ? name : `${district}/${name}`))
}

function doorsOf(room: string): string[] {
  return room === double.name ? [double.door] : listed(planned.get(room)?.doors)
}

function wrongPackage({ path }: SourceFile, { target, isType }: Import): string[] {
  if (target === 'node:process') return mayUseProcess(path) ? [] : [`${path}: node:process belongs to cli`]
  if (target.startsWith('node:')) return isSocket(path, target) ? [`${path}: ${target} opens a socket`] : []
  const name = target.split('/', target.startsWith('@') ? 2 : 1).join('/')
  const owner = owners[name]
  const isFine = (owner !== undefined && path.startsWith(`${owner}/`)) || (isType && path === clientTypeOnly)
  return isFine ? [] : [`${path}: ${name} belongs to ${owner ?? 'no room'}`]
}

function mayUseProcess(path: string): boolean {
  return ['cli', double.name].includes(districtOf(path)) || path in usesProcess
}

/** The pipeline turns bytes into bodies, and reaches nobody. */
function isSocket(path: string, target: string): boolean {
  return (
    districtOf(path) === 'pipeline' &&
    /^node:(?:net|tls|https?|http2|dgram|dns)\b/.test(target) &&
    !(path in usesSocket)
  )
}

/** Returns whether a file uses the global of this name, in any form. */
function uses({ path, text }: SourceFile, ...names: readonly string[]): boolean {
  let isUsed = false
  walkFile(path, text, (node, parent, key) => {
    if (node.type !== 'Identifier' || !names.includes(node.name ?? '')) return
    const isName = (key === 'property' || key === 'key') && parent?.computed !== true
    isUsed ||= !isName && !['id', 'local', 'imported', 'exported', 'params', 'label'].includes(key ?? '')
  })
  return isUsed
}

/** Finds what no import shows. */
function misuses({ path, text }: SourceFile): string[] {
  const part = districtOf(path)
  const found: string[] = []
  if (part !== 'cli' && part !== double.name && uses({ path, text }, 'process', 'console'))
    found.push(`${path}: process and console belong to cli`)
  // The bundle of the command line has a client without its API, for a quicker start.
  if (part !== 'lab' && /\bclient\.(?!transport\b|close\b)\w/.test(withoutTexts(text)))
    found.push(`${path}: requests use the client's transport, not its API`)
  const mayWait = path === 'base/time/clock.ts' || part === 'lab' || part === 'cli'
  if (!mayWait && withoutComments(text).includes('node:timers/promises'))
    found.push(`${path}: waiting belongs to the clock`)
  return found
}

/** Returns the circles of files, and those of rooms, type imports included. */
function circles(files: readonly SourceFile[]): string[] {
  const nodes = files.map(file => ({
    path: file.path,
    imports: importsOf(file).flatMap(({ target, isOurs }) => (isOurs ? [target] : [])),
  }))
  return [...circlesOf(graphOf(nodes)), ...circlesOf(graphOf(nodes, roomOf))].map(circle => circle.toSorted().join(' '))
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

/** Drops strings too: a sentence may end in the word, and a glob is no comment. */
function withoutTexts(text: string): string {
  return text.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
}

function listed(names = ''): string[] {
  return names.split(' ').filter(name => name !== '')
}

function importsOf({ path, text }: SourceFile): Import[] {
  return importsIn(path, text).flatMap(({ specifier, isType }) => {
    if (specifier === undefined) return mayCompute(path) ? [] : [{ target: 'a computed place', isOurs: false, isType }]
    const isOurs = specifier.startsWith('.')
    const target = isOurs ? relative('.', join(dirname(path), specifier)).replace(/(\.js)?$/, '.ts') : specifier
    return [{ target, isOurs, isType }]
  })
}

/** The command reads package.json, a worker thread loads the module that the user names, and the lab stands for itself. */
function mayCompute(path: string): boolean {
  return ['cli', double.name].includes(districtOf(path)) || path === 'features/transform/worker/main.ts'
}

/** Returns what is wrong with the paragraph about a folder. That of JSON holds a table of all that reads JSON. */
function wrongReadme(folder: string): string[] {
  const path = join(src, folder, 'README.md')
  if (!existsSync(path)) return [`src/${folder}/README.md is missing: say what the folder is`]
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n').length
  const most = folder === 'base/json' ? 30 : 15
  return lines <= most ? [] : [`src/${folder}/README.md has ${lines} lines, and at most ${most} are read`]
}

function sourceFiles(folder = src): SourceFile[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sourceFiles(path)
    if (/\.(?:[cm][jt]s|[jt]sx|js)$/.test(entry.name)) throw new Error(`${path} must end with .ts: no test reads it`)
    return entry.name.endsWith('.ts') ? [{ path: relative(src, path), text: readFileSync(path, 'utf8') }] : []
  })
}

describe('architecture', () => {
  const files = sourceFiles()

  test('every import follows the plan and uses a door', () => {
    expect(files.flatMap(violations)).toEqual([])
  })

  test('src holds the districts of the plan and at most 16 entries', () => {
    const names = districts.flatMap(({ name, rooms }) => (name === '' ? Object.keys(rooms) : [name]))
    expect(readdirSync(src).toSorted()).toEqual([...names, double.name].toSorted())
    expect(names.length + 1).toBeLessThanOrEqual(16)
  })

  test('every file stands in a room of the plan', () => {
    const homeless = files.filter(({ path }) => !planned.has(roomOf(path)) && districtOf(path) !== double.name)
    expect(homeless.map(({ path }) => path)).toEqual([])
  })

  test('every room that is a folder, and every district, has a short README', () => {
    const folders = [...planned.keys(), ...districts.map(({ name }) => name), double.name]
    const wrong = [...new Set(folders)].filter(folder => folder !== '' && !folder.endsWith('.ts')).flatMap(wrongReadme)
    expect(wrong).toEqual([])
    expect(wrongReadme('base/planned')).toEqual(['src/base/planned/README.md is missing: say what the folder is'])
  })

  test('no files and no rooms import each other in a circle', () => {
    expect(circles(files)).toEqual([])
  })

  test('every permission and every door of the plan is used', () => {
    const used = new Set(
      files.flatMap(file =>
        importsOf(file)
          .filter(({ target, isOurs }) => isOurs && roomOf(target) !== roomOf(file.path))
          .flatMap(({ target }) => [`${roomOf(file.path)} imports ${roomOf(target)}`, `door ${target}`]),
      ),
    )
    const said = [...planned].flatMap(([room, { doors }]) => [
      ...besideOf(room).map(to => `${room} imports ${to}`),
      ...listed(doors).map(door => `door ${room}/${door}.ts`),
    ])
    expect(said.filter(one => !used.has(one))).toEqual([])
  })

  test('no room has more doors than it may have', () => {
    expect(tooOpen(districts)).toEqual([])
    const planned = { few: { doors: 'a b c d e f' }, many: { doors: 'a b c d e f g' }, more: { doors: 'a b', most: 1 } }
    expect(tooOpen([{ name: 'planted', rooms: planned }])).toEqual([
      'planted/many has 7 doors and may have 6',
      'planted/more has 2 doors and may have 1',
    ])
  })

  test('no member of the hooks of a run is for one feature only', () => {
    const alone = (all: readonly SourceFile[]) => membersOf(all, hooks).filter(({ by }) => by.length < 2)
    expect(alone(files)).toEqual([])
    const feature = { path: 'features/spool/planted.ts', text: 'const hook: EndingHook = { planted: () => 1 }' }
    const members = files.map(file =>
      file.path === hooks.path
        ? { ...file, text: file.text.replace('  dispose?()', '  planted?(): void\n  dispose?()') }
        : file,
    )
    expect(alone([...members, feature])).toEqual([{ name: 'planted', by: [feature.path] }])
  })

  const planted: readonly [string, string, string][] = [
    ['a stage that imports another', 'pipeline/bulk/planted.ts', "import { decode } from '../format/decode.js'"],
    [
      'a stage that imports a route',
      'pipeline/ledger/planted.ts',
      "import type { Cluster } from '../../route/cluster/open-cluster.js'",
    ],
    ['the sender that imports the proxy', 'route/sender/planted.ts', "import { route } from '../proxy/route.js'"],
    ['a feature that imports another', 'features/guarded/planted.ts', "import { pull } from '../tables/pull.js'"],
    [
      'a feature that imports a program',
      'features/spool/planted.ts',
      "import { serve } from '../../programs/serve/serve.js'",
    ],
    ['the loop that imports a feature', 'run/loop/planted.ts', "import { pull } from '../../features/tables/pull.js'"],
    ['a program that imports another', 'programs/verify/planted.ts', "import { serve } from '../serve/serve.js'"],
    [
      'the route that imports a run',
      'route/connect/planted.ts',
      "import { byAge } from '../../run/state/runs/runs.js'",
    ],
    ['a room that imports one above it', 'run/state/inputs/planted.ts', "import { byAge } from '../runs/runs.js'"],
    ['the base that imports an option', 'base/text/planted.ts', "import { nearest } from '../../options/nearest.js'"],
    ['the lab that imports ours', 'lab/planted.ts', "import { failure } from '../base/failure/failure.js'"],
    [
      'the lab that imports ours from below',
      'lab/cluster/planted.ts',
      "import { failure } from '../../base/failure/failure.js'",
    ],
    ['a load that starts the lab', 'ingest.ts', "import { startLab } from './lab/index.js'"],
    ['an import of the command line', 'ingest.ts', "import { main } from './cli/main.js'"],
    [
      'the command line behind the library',
      'cli/commands/planted.ts',
      "import { Sender } from '../../route/sender/sender.js'",
    ],
    ['an import past the doors', 'route/sender/planted.ts', "import type { Bounds } from '../cluster/planted.js'"],
    ['a file in no room', 'programs/planted.ts', "import { serve } from './serve/serve.js'"],
    ['a package through another door', 'route/cluster/planted.ts', "import { Pool } from 'undici'"],
    ['a package of nobody', 'pipeline/bulk/planted.ts', "import lodash from 'lodash'"],
    ['a re-export', 'pipeline/bulk/planted.ts', "export { decode } from '../format/decode.js'"],
    ['a lazy import', 'pipeline/bulk/planted.ts', "const p = await import('undici')"],
    ['an import over several lines', 'pipeline/bulk/planted.ts', "import {\n  decode,\n} from '../format/decode.js'"],
    ['a lazy import in backticks', 'pipeline/bulk/planted.ts', 'const p = await import(`undici`)'],
    ['a lazy import of a computed place', 'pipeline/bulk/planted.ts', 'const p = await import(name)'],
    ['an import by require', 'pipeline/bulk/planted.ts', "import d = require('../format/decode.js')"],
    ['a loader', 'pipeline/bulk/planted.ts', "createRequire(import.meta.url)('undici')"],
    [
      'an import with an apostrophe in a comment',
      'pipeline/bulk/planted.ts',
      "import {\n  decode, // what's cut\n} from '../format/decode.js'",
    ],
    ['a file by its URL', 'pipeline/bulk/planted.ts', "const w = new URL('../format/decode.js', import.meta.url)"],
    ['a type by import()', 'pipeline/bulk/planted.ts', "type D = import('../format/decode.js').Format"],
    ['a declared module', 'pipeline/bulk/planted.ts', "declare module '../format/decode.js' {}"],
    ['a socket in the pipeline', 'pipeline/bulk/planted.ts', "import { connect } from 'node:net'"],
    ['the environment by its module', 'options/planted.ts', "import { env } from 'node:process'"],
    ['the environment taken apart', 'options/planted.ts', 'const { env } = process'],
    ['the environment behind slashes', 'options/planted.ts', 'const url = `http://${process.env.URL}`'],
    ['the environment outside the command line', 'options/planted.ts', 'export const url = process.env.URL'],
    ['the client’s API', 'route/cluster/planted.ts', 'await cluster.client.search({ index })'],
    ['the console behind a glob', 'base/failure/planted.ts', "const all = 'dir/*.ndjson'\nconsole.log(all)\n/* */"],
    ['waiting somewhere else', 'route/sender/planted.ts', "import { setTimeout } from 'node:timers/promises'"],
  ]
  test.each(planted)('catches %s', (_, path, text) => {
    expect(violations({ path, text })).toHaveLength(1)
  })

  test('catches circles, also of types', () => {
    const one = { path: 'run/loop/one.ts', text: "import type { Two } from './two.js'" }
    const two = { path: 'run/loop/two.ts', text: "import { three } from '../state/runs/three.js'" }
    const three = { path: 'run/state/runs/three.ts', text: "export type { One } from '../../loop/one.js'" }
    expect(circles([one, two, three])).toEqual([
      'run/loop/one.ts run/loop/two.ts run/state/runs/three.ts',
      'run/loop run/state/runs',
    ])
    expect(circles([one, two])).toEqual([])
  })
})
