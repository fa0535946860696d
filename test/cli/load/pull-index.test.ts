import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { newIndex } from '../../contracts/options.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

let lab: Lab
let env: Record<string, string>
/** With the cluster to read, which a load of files would not take. */
let pulling: Record<string, string>
beforeAll(async () => {
  lab = await startLab({ register: 'everyone' })
  const { httpUrl, apiKey } = lab.line.cluster
  env = { ...lab.env, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  pulling = { ...env, SLUICE_FROM: httpUrl, SLUICE_FROM_API_KEY: apiKey }
})
afterAll(async () => await lab.close())

const lines = Array.from({ length: 1200 }, (_, n) => `{"_id":"i${n}","_source":{"n":${n}.0,"big":1234567890123456789}}`)

test('the documents of an index go to stdout as a dump, which a load brings back byte for byte', async () => {
  await using work = await folder()
  const name = newIndex('pulled')
  await writeFile(join(work.path, 'in.json'), lines.join('\n'))
  expect(await sluice(['ingest', 'in.json', '--index', name], { cwd: work.path, env })).toMatchObject({ code: 0 })

  const { code, stdout, stderr } = await sluice(['pull', `elasticsearch:${name}`], { cwd: work.path, env: pulling })
  expect(stderr).toMatch(new RegExp(`^1,200 documents of elasticsearch:${name}, \\d+\\.\\d kB, .*\n$`))
  expect(code).toBe(0)
  expect(stdout).toContain(`{"_index":"${name}","_id":"i7","_source":{"n":7.0,"big":1234567890123456789}}\n`)
  await writeFile(join(work.path, 'dump.ndjson'), stdout)
  const loaded = await sluice(['ingest', 'dump.ndjson', '--index', 'again-{_index}'], { cwd: work.path, env })
  expect(loaded).toMatchObject({ code: 0 })
  expect(lab.control.count(`again-${name}`)).toBe(1200)

  const pull = [
    'pull',
    `elasticsearch:${name}*`,
    '--from-query',
    '{"query":{"term":{"n":7}}}',
    '--output',
    'one.ndjson',
  ]
  expect(await sluice(pull, { cwd: work.path, env: pulling })).toMatchObject({ code: 0, stdout: '' })
  expect(await readFile(join(work.path, 'one.ndjson'), 'utf8')).toMatch(/^[^\n]*"_id":"i7"[^\n]*\n$/)
  expect((await readdir(work.path)).filter(file => file.endsWith('.part'))).toEqual([])
})

test.each([
  [['elasticsearch:none-such'], 2, /elasticsearch:none-such/],
  [['elasticsearch:a', '--query', 'x=1'], 2, /--query.*needs a table/],
  [['elasticsearch:a', '--proxy', 'http://localhost:1'], 2, /Pass --from-proxy/],
  [['elasticsearch:A'], 2, /is no index, alias or data stream/],
  [['elasticsearch:a', '--output', '.'], 3, /is a directory|not a file/],
])('%j ends with exit code %i, and writes nothing', async (args, exit, message) => {
  await using work = await folder()
  const { code, stdout, stderr } = await sluice(['pull', ...args], { cwd: work.path, env: pulling })
  expect(stderr).toMatch(message)
  expect({ code, stdout }).toEqual({ code: exit, stdout: '' })
})

test('a cluster that stops answering ends it with an error, and leaves the file as it was', async () => {
  await using work = await folder()
  const name = newIndex('pulled')
  await writeFile(join(work.path, 'in.json'), lines.join('\n'))
  await sluice(['ingest', 'in.json', '--index', name], { cwd: work.path, env })
  await writeFile(join(work.path, 'out.ndjson'), 'before\n')
  lab.control.plant({ lookup: { after: 1, status: 503 } })
  const pull = ['pull', `elasticsearch:${name}`, '--output', 'out.ndjson', '--max-elapsed', '1ms']
  const { code } = await sluice(pull, { cwd: work.path, env: pulling })
  lab.control.heal()
  expect(code).not.toBe(0)
  expect(await readFile(join(work.path, 'out.ndjson'), 'utf8')).toBe('before\n')
  expect((await readdir(work.path)).toSorted()).toEqual(['in.json', 'out.ndjson'])
})
