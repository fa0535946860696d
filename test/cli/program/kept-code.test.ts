import { cp, mkdir, readFile, readdir, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { built } from '../../support/build.js'
import { folder } from '../../support/command/sluice.js'

// A program of another V8 than that of the build: it comes without code that this V8 compiled. Each test starts processes.

/** Counts what V8 took from kept code, and what it compiled. */
const counting = `
const vm = require('node:vm')
const counts = { taken: 0, anew: 0 }
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options)
    counts[this.cachedDataRejected === false ? 'taken' : 'anew'] += 1
  }
}
process.once('exit', () => require('node:fs').writeFileSync('counts.json', JSON.stringify(counts)))
`

const some = expect.any(Number) as number

let lab: Lab
beforeAll(async () => {
  lab = await startLab({ register: 'both', ports: 'random' })
})
afterAll(async () => await lab.close())

test('the second load keeps what V8 compiled of the program, and later ones take it', async () => {
  await using work = await program()
  expect(await work.load()).toEqual({ taken: 0, anew: some })
  expect(await work.kept()).toEqual([])
  expect(await work.load()).toMatchObject({ taken: 0 })
  expect(await work.kept()).toContain('main.cjs')
  expect(await work.load()).toEqual({ taken: some, anew: 0 })
})

test('a load that loads more of the program keeps the rest', { tags: 'long' }, async () => {
  await using work = await program()
  await work.load()
  await work.load()
  const names = await work.kept()
  const load = async () => await work.load(['logs.ndjson', '--metrics', 'load.prom'])
  expect(await load()).not.toMatchObject({ anew: 0 })
  expect(await load()).toEqual({ taken: some, anew: 0 })
  expect((await work.kept()).length).toBeGreaterThan(names.length)
})

test('only a load that ends well keeps code, and only where the user keeps it', { tags: 'long' }, async () => {
  await using work = await program()
  await work.load()
  await work.start(['version'])
  await work.start(['ingest', '--help'])
  await work.start(['ingest', 'missing.ndjson', '--index', 'kept'])
  await work.load([], { NODE_DISABLE_COMPILE_CACHE: '1' })
  await writeFile(join(work.path, 'other-user.cjs'), 'process.geteuid = () => 4242')
  await work.load([], { NODE_OPTIONS: `--require ${join(work.path, 'other-user.cjs')}` })
  expect(await work.kept()).toEqual([])
})

test('a start takes code only from the same flags of V8, and replaces none', { tags: 'long' }, async () => {
  await using work = await program()
  await work.load()
  await work.load()
  const before = await readFile(join(work.place, 'main.cjs'))
  const flag = { NODE_OPTIONS: '--max-semi-space-size=1' }
  expect(await work.load([], flag)).toMatchObject({ taken: 0 })
  expect(await readFile(join(work.place, 'main.cjs'))).toEqual(before)
})

test('damaged code is not taken, and the next load keeps it anew', { tags: 'long' }, async () => {
  await using work = await program()
  await work.load()
  await work.load()
  await truncate(join(work.place, 'main.cjs'), 1000)
  expect(await work.load()).toMatchObject({ anew: 1 })
  expect(await work.load()).toMatchObject({ anew: 0 })
})

test('where no code can be kept, a load ends as usual', { tags: 'long' }, async () => {
  await using work = await program()
  await writeFile(work.place, 'a file')
  for (const _ of [1, 2]) expect(await work.load()).toMatchObject({ taken: 0 })
  await rm(work.place)
  await symlink('/dev/null/missing', work.place)
  expect(await work.load()).toMatchObject({ taken: 0 })
})

test('modules of other packages are loaded as Node loads them', async () => {
  await using work = await program()
  const other = join(work.path, 'node_modules', 'other')
  await mkdir(other, { recursive: true })
  await writeFile(join(other, 'main.cjs'), "exports.text = 'é'\nexports.more = () => import('node:os')\n")
  const asking = `const { runCompiled } = require('./bin/compiled.js')
    runCompiled(require('node:path').resolve('dist'))
    const { text, more } = require('other/main.cjs')
    more().then(({ EOL }) => console.log(JSON.stringify(text + EOL)))`
  await writeFile(join(work.path, 'asking.cjs'), asking)
  const { stdout } = await promisify(execFile)(process.execPath, ['asking.cjs'], { cwd: work.path })
  expect(JSON.parse(stdout)).toBe('é\n')
})

/** Returns a copy of the program without the code that was compiled when it was built. */
async function program() {
  const work = await folder()
  const { path } = work
  for (const name of ['bin', 'dist', 'package.json']) await cp(join(built, name), join(path, name), { recursive: true })
  const bin = join(path, 'dist', 'bin')
  const [name = ''] = (await readdir(bin)).filter(name => name.startsWith('v8-'))
  const place = join(bin, name)
  await rm(place, { recursive: true })
  await writeFile(join(path, 'counting.cjs'), counting)
  await writeFile(join(path, 'logs.ndjson'), '{"n":1}\n')
  /** Runs a command to its end. Returns how many files V8 took from kept code, and how many it compiled. */
  const start = async (words: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { NODE_OPTIONS: more = '' } = env
    const options = `--require ${join(path, 'counting.cjs')} ${more}`
    const PATH = process.env['PATH']
    const way = { ...lab.env, SLUICE_PREFLIGHT_CONNECTIONS: '2' }
    const surroundings = { cwd: path, env: { PATH, HOME: path, ...way, ...env, NODE_OPTIONS: options } }
    const ended = promisify(execFile)(process.execPath, [join(path, 'bin', 'sluice.js'), ...words], surroundings)
    await ended.catch(() => undefined)
    return JSON.parse(await readFile(join(path, 'counts.json'), 'utf8')) as { taken: number; anew: number }
  }
  return Object.assign(work, {
    place,
    kept: async () => await readdir(place),
    start,
    load: async ([input = 'logs.ndjson', ...words]: readonly string[] = [], env?: Readonly<Record<string, string>>) =>
      await start(['ingest', input, ...words, '--index', 'kept', '--again', '--quiet'], env),
  })
}
