import { chmod, cp, mkdir, readFile, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import { built } from '../../support/build.js'
import { folder } from '../../support/command/sluice.js'

// A program from the V8 of another version: the build holds no code that this one takes. Each test starts processes.

/** Counts what V8 compiled anew, and what it took. */
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

test('the second start keeps what V8 compiled of the program, and later ones take it', async () => {
  await using work = await program()
  expect(await work.start()).toEqual({ taken: 0, anew: expect.any(Number) as number })
  expect(await work.kept()).toEqual([])
  expect(await work.start()).toMatchObject({ taken: 0 })
  expect(await work.kept()).toContain('main.cjs')
  expect(await work.start()).toEqual({ taken: expect.any(Number) as number, anew: 0 })
  // Each command needs other functions.
  expect(await work.start('explain')).toMatchObject({ taken: 0 })
})

test('a load keeps code that the next load takes, although it changes flags of V8', { tags: 'long' }, async () => {
  await using work = await program()
  await using lab = await startLab({ register: 'both', ports: 'random' })
  await writeFile(join(work.path, 'logs.ndjson'), '{"n":1}\n')
  const load = async () => await work.start('ingest', ['logs.ndjson', '--index', 'kept', '--again', '--quiet'], lab.env)
  await load()
  await load()
  expect(await load()).toEqual({ taken: expect.any(Number) as number, anew: 0 })
})

test('code that another user could have written is not taken', async () => {
  await using work = await program()
  await work.start()
  await work.start()
  const at = await work.place()
  await chmod(at, 0o770)
  expect(await work.start()).toMatchObject({ taken: 0 })
  await chmod(at, 0o700)
  expect(await work.start()).toMatchObject({ anew: 0 })
  await writeFile(join(work.path, 'other-user.cjs'), 'process.geteuid = () => 4242')
  const options = `--require ${join(work.path, 'other-user.cjs')}`
  expect(await work.start('version', [], { NODE_OPTIONS: options })).toMatchObject({ taken: 0 })
})

test('only its user may read or write what a start has kept', { tags: 'long' }, async () => {
  await using work = await program()
  await work.start()
  await work.start()
  expect((await stat(await work.place())).mode & 0o777).toBe(0o700)
})

test('a start that fails keeps nothing', { tags: 'long' }, async () => {
  await using work = await program()
  await work.start()
  await work.start('version', [WRONG])
  expect(await work.kept()).toEqual([])
})

test('code from other flags of V8 is kept apart', { tags: 'long' }, async () => {
  await using work = await program()
  await work.start()
  await work.start()
  expect(await work.start('version', [], { NODE_OPTIONS: '--max-semi-space-size=1' })).toMatchObject({ taken: 0 })
  expect(await readdir(join(work.path, 'cache', 'sluice'))).toHaveLength(2)
})

test('damaged code, and code of another source, is not taken', { tags: 'long' }, async () => {
  await using work = await program()
  await work.start()
  await work.start()
  const file = join(await work.place(), 'main.cjs')
  const code = await readFile(file)
  code.fill(0xff, code.length >> 1)
  await writeFile(file, code)
  expect(await work.start()).toMatchObject({ anew: 1 })
})

test(
  'no start keeps code if Node is told to keep none, or if the place cannot be written',
  { tags: 'long' },
  async () => {
    await using work = await program()
    for (const env of [{ NODE_DISABLE_COMPILE_CACHE: '1' }, { XDG_CACHE_HOME: '/dev/null/cache' }])
      for (const _ of [1, 2, 3]) expect(await work.start('version', [], env)).toMatchObject({ taken: 0 })
    await expect(stat(join(work.path, 'cache', 'sluice'))).rejects.toMatchObject({ code: 'ENOENT' })
  },
)

test('a start that keeps code removes code that is 90 days old, and nothing else', { tags: 'long' }, async () => {
  await using work = await program()
  const cache = join(work.path, 'cache', 'sluice')
  const old = new Date(Date.now() - 91 * 24 * 3_600_000)
  for (const name of ['v8-old', 'v8-young', 'bench']) await mkdir(join(cache, name), { recursive: true })
  for (const name of ['v8-old', 'bench']) await utimes(join(cache, name), old, old)
  await work.start()
  await work.start()
  const names = await readdir(cache)
  expect(names.filter(name => !name.endsWith('-version')).sort()).toEqual(['bench', 'v8-young'])
  expect(names).toHaveLength(3)
})

const WRONG = '--no-such-option'

/** Returns a copy of the program without the code that was compiled when it was built. */
async function program() {
  const work = await folder()
  const { path } = work
  for (const name of ['bin', 'dist', 'package.json']) await cp(join(built, name), join(path, name), { recursive: true })
  const bin = join(path, 'dist', 'bin')
  for (const name of (await readdir(bin)).filter(name => name.startsWith('v8-')))
    await rm(join(bin, name), { recursive: true })
  await writeFile(join(path, 'counting.cjs'), counting)
  const cache = join(path, 'cache')
  const place = async (command = 'version'): Promise<string> => {
    const names = await readdir(join(cache, 'sluice'))
    return join(cache, 'sluice', names.find(name => name.endsWith(`-${command}`)) ?? '')
  }
  return Object.assign(work, {
    place,
    kept: async () => await readdir(await place()),
    /** Runs a command, and returns how many files V8 took from kept code, and how many it compiled. */
    start: async (command = 'version', words: readonly string[] = [], env: Record<string, string> = {}) => {
      const { NODE_OPTIONS: more = '' } = env
      const ended = promisify(execFile)(process.execPath, [join(path, 'bin', 'sluice.js'), command, ...words], {
        cwd: path,
        env: {
          PATH: process.env['PATH'],
          HOME: path,
          XDG_CACHE_HOME: cache,
          ...env,
          NODE_OPTIONS: `--require ${join(path, 'counting.cjs')} ${more}`,
        },
      })
      const isEnded = ended.then(
        ({ stderr }) => stderr === '',
        () => false,
      )
      expect(await isEnded).toBe(!words.includes(WRONG))
      return JSON.parse(await readFile(join(path, 'counts.json'), 'utf8')) as { taken: number; anew: number }
    },
  })
}
