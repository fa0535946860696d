import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startLab } from '../../../src/lab/index.js'
import { folder, sluice } from '../../support/sluice.js'

// Each test starts processes.
/** Writes down which of Node's modules were there at the end, which of them only after a flag was set, and which files of ours. */
const watching = `
const { writeFileSync } = require('node:fs')
const v8 = require('node:v8')
const { setFlagsFromString } = v8
let early
v8.setFlagsFromString = flag => {
  early ??= new Set(process.moduleLoadList)
  setFlagsFromString(flag)
}
process.once('exit', () => {
  const node = process.moduleLoadList
  const late = node.filter(name => !early.has(name))
  writeFileSync('loaded.json', JSON.stringify({ node, late, files: Object.keys(require.cache) }))
})
`

test('a load of a file does not wait for what it does not use', async () => {
  await using work = await folder()
  await using lab = await startLab({ register: 'both', ports: 'random' })
  await writeFile(join(work.path, 'logs.ndjson'), '{"n":1}\n')
  await writeFile(join(work.path, 'watching.cjs'), watching)
  const { code, stderr } = await sluice(['ingest', 'logs.ndjson', '--index', 'start-up', '--quiet'], {
    cwd: work.path,
    env: { ...lab.env, NODE_OPTIONS: `--require ${join(work.path, 'watching.cjs')}` },
  })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const loaded = JSON.parse(await readFile(join(work.path, 'loaded.json'), 'utf8')) as Record<string, readonly string[]>
  const dear = ['http', 'http2', 'https', 'worker_threads', 'stream/web', 'readline']
  expect(loaded['node']?.filter(name => dear.includes(name.replace('NativeModule ', '')))).toEqual([])
  // Node would have to compile them itself.
  expect(loaded['late']?.filter(name => /^NativeModule (?!internal\/)/.test(name))).toEqual([])
  const texts = await Promise.all((loaded['files'] ?? []).map(async file => await readFile(file, 'utf8')))
  expect(texts.length).toBeGreaterThan(10)
  // No glob was given, no gzip and no JSON array.
  const packages = ['picomatch', 'stream-json', 'pino']
  expect(packages.filter(name => texts.some(text => text.includes(`node_modules/${name}/`)))).toEqual([])
})
