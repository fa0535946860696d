import { cp, readFile, readdir, writeFile } from 'node:fs/promises'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import { built } from '../../support/build.js'
import { folder, sluice } from '../../support/command/sluice.js'

// Each test starts processes.
/** Writes down which of Node's modules were there at the end, which of them only after a flag was set, and which files of ours, and what V8 had to compile. */
const watching = `
const { writeFileSync } = require('node:fs')
const v8 = require('node:v8')
const { setFlagsFromString } = v8
let early
v8.setFlagsFromString = flag => {
  early ??= new Set(process.moduleLoadList)
  setFlagsFromString(flag)
}
const vm = require('node:vm')
const compiled = { ahead: 0, anew: [] }
vm.Script = class extends vm.Script {
  constructor(text, options) {
    super(text, options)
    if (this.cachedDataRejected === false) compiled.ahead += 1
    else compiled.anew.push(options.filename)
  }
}
process.once('exit', () => {
  const node = process.moduleLoadList
  const late = node.filter(name => !early.has(name))
  writeFileSync('loaded.json', JSON.stringify({ node, late, compiled, files: Object.keys(require.cache) }))
})
`

interface Loaded {
  readonly node: readonly string[]
  readonly late: readonly string[]
  readonly files: readonly string[]
  readonly compiled: { readonly ahead: number; readonly anew: readonly string[] }
}

test('a load of a file does not wait for what it does not use', { tags: 'long' }, async () => {
  await using work = await folder()
  await using lab = await startLab({ register: 'both', ports: 'random' })
  await writeFile(join(work.path, 'logs.ndjson'), '{"n":1}\n')
  await writeFile(join(work.path, 'watching.cjs'), watching)
  const { code, stderr } = await sluice(['ingest', 'logs.ndjson', '--index', 'start-up', '--quiet'], {
    cwd: work.path,
    env: { ...lab.env, NODE_OPTIONS: `--require ${join(work.path, 'watching.cjs')}` },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const loaded = JSON.parse(await readFile(join(work.path, 'loaded.json'), 'utf8')) as Loaded
  const dear = ['http', 'http2', 'https', 'worker_threads', 'stream/web', 'readline']
  expect(loaded.node.filter(name => dear.includes(name.replace('NativeModule ', '')))).toEqual([])
  // Node would have to compile them itself.
  expect(loaded.late.filter(name => /^NativeModule (?!internal\/)/.test(name))).toEqual([])
  // V8 takes what it compiled when the program was built.
  expect(loaded.compiled.anew).toEqual([])
  expect(loaded.compiled.ahead).toBeGreaterThan(10)
  const texts = await Promise.all(loaded.files.map(async file => await readFile(file, 'utf8')))
  expect(texts.length).toBeGreaterThan(10)
  // No glob was given, no gzip and no JSON array.
  const packages = ['picomatch', 'stream-json', 'pino']
  expect(packages.filter(name => texts.some(text => text.includes(`node_modules/${name}/`)))).toEqual([])
})

test('a load from code that V8 compiled ahead can load further modules of Node', async () => {
  await using work = await folder()
  await using lab = await startLab({ register: 'both', ports: 'random' })
  await writeFile(join(work.path, 'logs.ndjson'), '{"message":"the same again"}\n'.repeat(1000))
  const args = ['ingest', 'logs.ndjson', '--index', 'start-up', '--quiet', '--compress', 'gzip']
  const { code, stderr } = await sluice(args, { cwd: work.path, env: lab.env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
})

test(
  'a program whose compiled code is damaged, or of another source, compiles it itself',
  { tags: 'long' },
  async () => {
    await using work = await folder()
    for (const name of ['bin', 'dist', 'package.json'])
      await cp(join(built, name), join(work.path, name), { recursive: true })
    const bin = join(work.path, 'dist', 'bin')
    const compiled = (await readdir(bin)).find(name => name.startsWith('v8-')) ?? ''
    const version = () =>
      spawnSync(process.execPath, [join(work.path, 'bin', 'sluice.js'), '--version'], { encoding: 'utf8' })
    const file = join(bin, compiled, 'main.cjs')
    const code = await readFile(file)
    code.fill(0xff, code.length >> 1)
    await writeFile(file, code)
    expect(version()).toMatchObject({ status: 0, stderr: '' })
    await writeFile(
      join(bin, 'main.cjs'),
      "process.stdout.write('other')".padEnd((await readFile(join(bin, 'main.cjs'))).length),
    )
    expect(version()).toMatchObject({ status: 0, stderr: '', stdout: 'other' })
  },
)
