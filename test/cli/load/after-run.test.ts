import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import type { Receipt } from '../../../src/pipeline/ledger/receipt.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterEach(() => lab.control.register('both'))
afterAll(async () => await lab.close())

async function world() {
  const work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), '{"n":1}\n{"n":2}\n')
  const env = { ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state'), SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const load = ['ingest', 'a.ndjson', '--index', 'followed', '--again']
  return {
    at: (name: string) => join(work.path, name),
    read: async (name: string) => JSON.parse(await readFile(join(work.path, name), 'utf8')) as Receipt,
    load: async (...more: string[]) => await sluice([...load, ...more], { cwd: work.path, env }),
    [Symbol.asyncDispose]: async () => await work[Symbol.asyncDispose](),
  }
}

const both = ['--on-success', 'cat > good.json', '--on-failure', 'cat > bad.json']

test('a command after success, and another after failure, read the receipt', async () => {
  await using work = await world()
  expect(await work.load(...both)).toMatchObject({ code: 0 })
  expect(await work.read('good.json')).toMatchObject({ status: 'finished', exit: 0, created: 2 })
  expect(existsSync(work.at('bad.json'))).toBe(false)
  await writeFile(work.at('a.ndjson'), '{"n":3}\nno json\n')
  expect(await work.load(...both)).toMatchObject({ code: 1 })
  expect(await work.read('bad.json')).toMatchObject({ status: 'finished', exit: 1, rejected: 1 })
})

test('a run that never began has a failure to read, and the user has seen it first', async () => {
  await using work = await world()
  lab.control.register('none')
  const ended = await work.load(...both, '--quiet')
  expect(ended).toMatchObject({ code: 3, stderr: expect.stringMatching(/^error: the IP filter/) as string })
  expect(ended.stderr.match(/^error:/gm)).toHaveLength(1)
  const { failure, ...rest } = await work.read('bad.json')
  expect(rest).toMatchObject({ status: 'failed', command: 'ingest', exit: 3 })
  expect(failure).toMatchObject({ code: 'EGRESS_NOT_ALLOWED', exit: 3 })
  // Also before anything was connected.
  expect(await work.load(...both, '--pipeline', '')).toMatchObject({ code: 2 })
})

test.each([
  ['exit code', 'echo nobody to tell >&2; exit 7', [], /ended with exit code 7\. It printed: nobody to tell/],
  ['time limit', 'sleep 600 & sleep 600', ['--alarm-timeout', '100ms'], /took longer than its time limit/],
  ['unknown program', 'no-such-program-of-sluice', [], /ended with exit code 127/],
])('a command that fails by its %s is a warning, and changes no exit code', async (_, command, more, warning) => {
  await using work = await world()
  const { code, stderr } = await work.load('--on-success', command, ...more)
  expect(code).toBe(0)
  expect(stderr).toMatch(warning)
})

test('a command that reads nothing does no harm, a dry run runs none, and a typing error is no command', async () => {
  await using work = await world()
  expect(await work.load('--on-success', 'true', '--quiet')).toMatchObject({ code: 0, stderr: '' })
  expect(await work.load('--on-success', 'cat > dry.json', '--dry-run')).toMatchObject({ code: 0 })
  expect(existsSync(work.at('dry.json'))).toBe(false)
  expect(await work.load('--on-failure', 'incidnet')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('looks like incident') as string,
  })
})

test('a command after a failure is refused where nothing would run it', async () => {
  const { code, stderr } = await sluice(['pull', 'servicenow:incident', '--on-failure', 'cat > never.json'], {
    env: { ...lab.env },
  })
  expect([code, stderr]).toEqual([2, expect.stringContaining('takes a command only with ingest and replay')])
})

test('a command in a configuration file that nobody named does not run', async () => {
  await using work = await world()
  for (const [option, report] of [
    ['onFailure', undefined],
    ['onSuccess', undefined],
    [undefined, '../report.html'],
  ]) {
    const settings = option === undefined ? { report } : { [option]: 'touch ran' }
    await writeFile(work.at('sluice.config.json'), JSON.stringify(settings))
    expect(await work.load()).toMatchObject({ code: 2, stderr: expect.stringContaining('does not name') as string })
  }
  expect(existsSync(work.at('ran'))).toBe(false)
  await writeFile(work.at('sluice.config.json'), JSON.stringify({ onFailure: 'nothing' }))
  expect(await work.load()).toMatchObject({ code: 0 })
})
