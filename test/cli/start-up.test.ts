import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test, vi } from 'vitest'
import { startLab } from '../../src/lab/index.js'
import { folder, sluice } from './sluice.js'

// Each test starts processes.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 })

/** Writes down which of Node's modules were there when V8's flags were set, and which at the end. */
const watching = `
const { writeFileSync } = require('node:fs')
const v8 = require('node:v8')
const { setFlagsFromString } = v8
let before
v8.setFlagsFromString = flag => {
  before ??= [...process.moduleLoadList]
  setFlagsFromString(flag)
}
process.once('exit', () => writeFileSync('seen.json', JSON.stringify({ before, after: process.moduleLoadList })))
`

let seen: { readonly before: readonly string[]; readonly after: readonly string[] }
beforeAll(async () => {
  await using work = await folder()
  await using lab = await startLab({ register: 'both', ports: 'random' })
  await writeFile(join(work.path, 'logs.ndjson'), '{"n":1}\n')
  await writeFile(join(work.path, 'watching.cjs'), watching)
  const { code, stderr } = await sluice(['ingest', 'logs.ndjson', '--index', 'start-up', '--quiet'], {
    cwd: work.path,
    env: { ...lab.env, NODE_OPTIONS: `--require ${join(work.path, 'watching.cjs')}` },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  seen = JSON.parse(await readFile(join(work.path, 'seen.json'), 'utf8')) as typeof seen
})

test('a load of a file does not wait for what it does not use', () => {
  const dear = ['http', 'http2', 'https', 'worker_threads', 'stream/web', 'readline']
  expect(seen.after.filter(name => dear.includes(name.replace('NativeModule ', '')))).toEqual([])
})

test('the flags of V8 are set when the modules of Node are loaded: later ones are compiled anew', () => {
  const dear = ['crypto', 'fs/promises', 'net', 'stream', 'tls', 'zlib', 'child_process']
  expect(seen.before.map(name => name.replace('NativeModule ', ''))).toEqual(expect.arrayContaining(dear))
})
