import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { ServeReceipt } from '../../../src/index.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { ask } from '../../support/lab/lab-clients.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { type Folder, type Running, folder, startSluice } from '../../support/command/sluice.js'

const token = 'a-token-of-the-command-0123456789'

let lab: Lab
let work: Folder
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
beforeEach(async () => {
  work = await folder()
})
afterEach(async () => await work[Symbol.asyncDispose]())

const fixed = ['serve', '--index', 'from-command', '--listen', '127.0.0.1:0', '--preflight-connections', '1']
const env = () => ({ ...lab.env, SLUICE_STATE_DIR: join(work.path, 'state') })

/** Of the line that tells it. */
async function urlOf(running: Running): Promise<string> {
  let text = ''
  running.child.stderr?.on('data', (chunk: string) => (text += chunk))
  await running.printed('listening on ')
  return /listening on ([^\s"]+)/.exec(text)?.[1] ?? ''
}

test('accepts documents until SIGTERM, loads them, and prints its receipt', async () => {
  await writeFile(join(work.path, 'token'), `${token}\n`)
  const running = startSluice([...fixed, '--serve-token-file', 'token', '--json'], { cwd: work.path, env: env() })
  const url = await urlOf(running)
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  expect((await ask(url, { body: '[{"n":1},{"n":2}]', headers })).status).toBe(202)
  expect(
    (await ask(url, { body: '[{"n":1},{"n":2}]', headers: { ...headers, authorization: 'Bearer no' } })).status,
  ).toBe(401)
  running.child.kill('SIGTERM')
  const { code, stdout, stderr } = await running.ended
  expect(code, stderr).toBe(0)
  const receipt = JSON.parse(stdout) as ServeReceipt
  expect(receipt).toMatchObject({
    status: 'finished',
    accepted: 2,
    created: 2,
    answers: { 202: 1, 401: 1 },
    waiting: { documents: 0, bytes: 0 },
  })
  expect(`${stdout}${stderr}`).not.toContain(token)
  expect(lab.control.count('from-command')).toBe(2)
})

test('prints the receipt for people, and what is left with exit code 5', async () => {
  lab.control.register('none')
  try {
    const more = ['--no-token', '--accept-anyway']
    const running = startSluice([...fixed, ...more], { cwd: work.path, env: env() })
    const url = await urlOf(running)
    expect((await ask(url, { body: '{"n":1}', headers: { 'content-type': 'application/json' } })).status).toBe(202)
    running.child.kill('SIGTERM')
    const { code, stdout, stderr } = await running.ended
    expect(code, stderr).toBe(5)
    expect(stdout).toMatch(/^Served for .*\n\n {2}accepted +1\n {2}loaded +0\n[\s\S]* {2}waiting +1 \(8 B\) in /)
    expect(stderr).toMatch(/EGRESS_NOT_ALLOWED/)
  } finally {
    lab.control.register('both')
  }
})

test.each([
  ['no token at all', [], /--serve-token-file: callers need a token. Set SLUICE_SERVE_TOKEN/],
  [
    'no token towards other machines',
    ['--no-token', '--listen', '0.0.0.0:0'],
    /--serve-token: a token is required, because other machines can reach 0\.0\.0\.0/,
  ],
  [
    'a token and none',
    ['--no-token', '--serve-token-file', 'token'],
    /--no-token: cannot be combined with --serve-token-file/,
  ],
  ['a short token', ['--serve-token-file', 'short'], /--serve-token-file: must have at least 16 characters/],
  [
    'a token that is not there',
    ['--serve-token-file', 'missing'],
    /--serve-token-file: cannot read missing: no such file/,
  ],
  [
    'an address that is none',
    ['--serve-token-file', 'token', '--listen', 'here'],
    /--listen: 'here' is not an address and a port/,
  ],
  [
    'the path of the state',
    ['--serve-token-file', 'token', '--serve-path', '/health'],
    /--serve-path: is the path of the health report/,
  ],
  ['ids of the cluster', ['--serve-token-file', 'token', '--ids', 'cluster'], /--ids: cannot be 'cluster'/],
])('does not start with %s', async (_, more, told) => {
  await writeFile(join(work.path, 'token'), token)
  await writeFile(join(work.path, 'short'), 'hunter2')
  const { code, stderr } = await sluice([...fixed, ...more], { cwd: work.path, env: env() })
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(told) as unknown })
  expect(stderr).not.toContain('hunter2')
})

test('does not start where the IP filter refuses, with the exit code of that', async () => {
  lab.control.register('none')
  try {
    const { code, stderr } = await sluice([...fixed, '--no-token'], { cwd: work.path, env: env() })
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining('EGRESS_NOT_ALLOWED') as unknown })
  } finally {
    lab.control.register('both')
  }
})

test('writes what the index refuses to one file, with all that a replay needs', async () => {
  const running = startSluice([...fixed, '--no-token', '--json', '--dead-letters', 'dead.ndjson'], {
    cwd: work.path,
    env: env(),
  })
  const url = await urlOf(running)
  const headers = { 'content-type': 'application/x-ndjson' }
  expect((await ask(url, { body: '{"n":3}\n{"n":"three"}\n', headers })).status).toBe(202)
  running.child.kill('SIGTERM')
  const { code, stdout, stderr } = await running.ended
  expect(code, stderr).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject({ accepted: 2, created: 1, rejected: 1, deadLetters: 'dead.ndjson' })
  const letter = JSON.parse(await readFile(join(work.path, 'dead.ndjson'), 'utf8')) as object
  expect(letter).toMatchObject({ index: 'from-command', document: { n: 'three' } })
})
