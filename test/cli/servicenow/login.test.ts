import { readFile, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { type Folder, folder, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
let work: Folder
beforeAll(async () => {
  lab = await startLab()
  work = await folder()
})
afterAll(async () => {
  await work[Symbol.asyncDispose]()
  await lab.close()
})
afterEach(() => {
  lab.control.servicenow.setBrowser({ consents: true })
  lab.control.servicenow.register('both')
})

/** What the user's browser does: it reaches the instance by itself, and comes back to this machine. */
async function browse(printed: string): Promise<string> {
  const asked = new URL(/https:\/\/\S+\/oauth_auth\.do\S+/.exec(printed)?.[0] ?? '')
  lab.control.servicenow.register('open')
  const back = await fetch(lab.line.servicenow.httpUrl + asked.pathname + asked.search, { redirect: 'manual' })
  lab.control.servicenow.register('both')
  return await (await fetch(back.headers.get('location') ?? '')).text()
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise(resolve => server.close(resolve))
  return port
}

async function logIn(...flags: string[]) {
  const port = await freePort()
  const running = startSluice(['login', 'servicenow', '--port', String(port), ...flags], {
    env: { ...lab.env, XDG_STATE_HOME: work.path },
  })
  let stderr = ''
  running.child.stderr?.on('data', (text: string) => (stderr += text))
  await running.printed(`http://127.0.0.1:${port}/callback`)
  return { running, port, page: await browse(stderr) }
}

test('a login keeps the tokens in the state folder, for their owner alone, and shows none of them', async () => {
  lab.control.servicenow.forgetRequests()
  const { running, page } = await logIn()
  const { code, stdout, stderr } = await running.ended
  expect({ code, stderr }).toMatchObject({ code: 0 })
  const path = join(work.path, 'sluice', 'servicenow-tokens.json')
  expect(stdout).toContain(path)
  expect(stdout).toContain('SERVICENOW_GRANT=authorization_code')
  expect(page).toContain('You can close this window')
  expect((await stat(path)).mode & 0o777).toBe(0o600)
  const kept = await readFile(path, 'utf8')
  const tokens = [...kept.matchAll(/"(?:access|refresh)Token": "([^"]+)"/g)].map(([, token = '']) => token)
  expect(tokens).toHaveLength(2)
  for (const secret of [...tokens, lab.line.servicenow.clientSecret, lab.line.servicenow.password]) {
    expect(stdout + stderr).not.toContain(secret)
  }
  // The browser asked by itself; the exchange came through the proxy.
  const exchange = lab.control.servicenow.requests().filter(({ path: asked }) => asked === '/oauth_token.do')
  expect(exchange.map(({ from }) => lab.line.staticIps.includes(from))).toEqual([true])
})

test('with --json stdout has one object', async () => {
  const tokenFile = join(work.path, 'own.json')
  const { running } = await logIn('--json', '--token-file', tokenFile, '--no-browser')
  const { code, stdout } = await running.ended
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toEqual({ instance: lab.line.servicenow.url, tokenFile, isRenewable: true })
})

test('a user who does not consent ends it with the reason', async () => {
  lab.control.servicenow.setBrowser({ consents: false })
  const { running, page } = await logIn()
  const { code, stderr } = await running.ended
  expect(code).toBe(3)
  expect(stderr).toContain('access_denied')
  expect(stderr).toContain('SERVICENOW_LOGIN_FAILED')
  expect(page).toContain('The login failed')
})

test('SIGINT ends the wait', async () => {
  const port = await freePort()
  const running = startSluice(['login', 'servicenow', '--port', String(port)], { env: lab.env })
  await running.printed('/callback')
  running.child.kill('SIGINT')
  const { code, stderr } = await running.ended
  expect(code).toBe(5)
  expect(stderr).toContain('error: interrupted (SIGINT): Sluice stored no login\n')
  expect(stderr).toContain('more:  sluice explain COMMAND_INTERRUPTED\n')
})

test('a port that is taken, a missing client and an unknown place are named', async () => {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const taken = await sluice(['login', 'servicenow', '--port', String(port)], { env: lab.env })
  await new Promise(resolve => server.close(resolve))
  expect(taken).toMatchObject({ code: 2, stderr: expect.stringContaining(`${port} is in use`) })
  const { SERVICENOW_CLIENT_ID: _, ...without } = lab.env
  const missing = await sluice(['login', 'servicenow'], { env: without })
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('client') })
  const nowhere = await sluice(['login', 'elsewhere'], { env: lab.env })
  expect(nowhere).toMatchObject({ code: 2, stderr: expect.stringContaining('sluice login servicenow') })
  const unknown = await sluice(['login', 'servicenow'], { env: {} })
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('SERVICENOW_INSTANCE_URL') })
})
