// @module-tag long
/** Secrets of the service-management platform, planted where they do not work: what is said of that holds none of them. */
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

let lab: Lab
beforeAll(async () => {
  lab = await startLab()
  lab.control.servicenow.seed('incident', 30)
})
afterAll(async () => await lab.close())

const secret = 'pl4nted:p@ss/w%rd'
const forms = [
  'pl4nted',
  'w%rd',
  encodeURIComponent(secret),
  ...['admin', 'sluice', 'nobody'].map(user => Buffer.from(`${user}:${secret}`).toString('base64')),
]

const rows: readonly [string, () => Readonly<Record<string, string>>][] = [
  ['a password of a grant', () => ({ SERVICENOW_PASSWORD: secret })],
  ['a password of Basic authentication', () => ({ SERVICENOW_PASSWORD: secret, SERVICENOW_GRANT: 'basic' })],
  ['a client secret', () => ({ SERVICENOW_CLIENT_SECRET: secret })],
  ['a refresh token', () => ({ SERVICENOW_REFRESH_TOKEN: secret, SERVICENOW_GRANT: 'refresh_token' })],
  [
    'a password in the URL of the instance',
    () => ({
      SERVICENOW_INSTANCE_URL: lab.line.servicenow.url.replace('//', `//admin:${encodeURIComponent(secret)}@`),
    }),
  ],
  [
    'an unencoded password in the URL of the instance',
    () => ({ SERVICENOW_INSTANCE_URL: lab.line.servicenow.url.replace('//', `//admin:${secret}@`) }),
  ],
  [
    'the credentials of an alarm',
    () => ({
      SERVICENOW_CLIENT_ID: 'nobody',
      SERVICENOW_ALARM_USERNAME: 'nobody',
      SERVICENOW_ALARM_PASSWORD: secret,
      SLUICE_ON_FAILURE: 'incident',
    }),
  ],
  ['the token of a receiver', () => ({ SLUICE_SERVE_TOKEN: `${secret}-and-more`, SERVICENOW_CLIENT_ID: 'nobody' })],
  [
    'a proxy password',
    () => ({ STATIC_PROXY_URL: lab.line.proxy.http.replace(/\/\/[^@]*@/, `//user:${encodeURIComponent(secret)}@`) }),
  ],
]

const commands = [
  ['ingest', 'servicenow:incident', '--index', 'secrets', '--preflight-connections', '2'],
  ['ingest', 'servicenow:incident', '--index', 'secrets', '--preflight-connections', '2', '--json', '--quiet'],
  ['pull', 'servicenow:incident', '--preflight-connections', '2', '--fields', 'number'],
  ['doctor', '--json', '--preflight-connections', '2'],
  ['serve', '--index', 'secrets', '--listen', '127.0.0.1:99999'],
  ['config'],
]

test.each(rows)('%s stands in no output and no file', async (_, env) => {
  await using work = await folder()
  const surroundings = {
    cwd: work.path,
    env: {
      ...lab.env,
      SLUICE_SERVICENOW_CA: lab.line.cluster.caFile,
      SLUICE_STATE_DIR: join(work.path, 'state'),
      SLUICE_MAX_ELAPSED: '3s',
      ...env(),
    },
  }
  for (const command of commands) {
    const { code, stdout, stderr } = await sluice(command, surroundings)
    expect(code, `${command.join(' ')}: ${stderr}`).not.toBe(70)
    for (const form of forms) {
      expect(stdout, command.join(' ')).not.toContain(form)
      expect(stderr, command.join(' ')).not.toContain(form)
    }
  }
  for (const one of await readdir(work.path, { recursive: true, withFileTypes: true })) {
    if (!one.isFile()) continue
    const kept = await readFile(join(one.parentPath, one.name), 'utf8')
    for (const form of forms) expect(kept, one.name).not.toContain(form)
  }
})
