/** An inbound REST API key: sent in a header of its own, for loads, the doctor, tunnels and from a file. */
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { afterEach, beforeAll, expect, test } from 'vitest'
import { ingest } from '../../../src/index.js'
import { diagnose } from '../../support/lab/patient-doctor.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { ask } from '../../support/lab/lab-clients.js'
import { codeOf } from '../../support/lab/run-world.js'
import { index, lab, path, shareLab, way } from '../../support/lab/shared-lab.js'
import { tunnelTo } from '../../support/lab/tunnel-world.js'

shareLab()
beforeAll(() => lab.control.servicenow.seed('incident', 20))
afterEach(() => {
  lab.control.servicenow.allowBasic(true)
  lab.control.servicenow.setAccessPolicy('table', undefined)
})

const wrong = 'wr0ng-key-of-nobody'

function byKey(apiKey = lab.control.servicenow.apiKey()) {
  const ca = readFileSync(lab.line.cluster.caFile)
  return { servicenow: { url: lab.line.servicenow.url, apiKey, ca } }
}

const load = async (apiKey?: string, more = {}) =>
  await ingest({ ...way(), ...byKey(apiKey), source: 'servicenow:incident', index, deadLetters: false, ...more })

test('a load needs no other credentials', async () => {
  lab.control.servicenow.allowBasic(false)
  lab.control.servicenow.forgetRequests()
  expect(await load()).toMatchObject({ created: 20 })
  expect(new Set(lab.control.servicenow.requests().map(({ username }) => username))).toEqual(
    new Set([lab.line.servicenow.username]),
  )
})

test('a wrong key is named as a key, and stands in no message', async () => {
  expect(await codeOf(load(wrong))).toMatch(/^SERVICENOW_AUTH_REJECTED.*Sluice sent an API key/)
  const report = await diagnose({ ...way(), target: {}, ...byKey(wrong) })
  expect(report.findings).toMatchObject([{ code: 'SERVICENOW_AUTH_REJECTED', severity: 'error' }])
  const { advice, message } = report.findings[0] ?? {}
  expect(JSON.stringify(advice)).toContain('SERVICENOW_API_KEY')
  expect(JSON.stringify(advice)).not.toContain('SERVICENOW_USERNAME')
  expect(message).not.toContain(wrong)
  expect(JSON.stringify(report)).not.toContain(wrong)
})

test('the doctor takes the key', async () => {
  const { ok, facts } = await diagnose({ ...way(), target: {}, ...byKey() })
  expect(ok).toBe(true)
  expect(facts).toMatchObject({ instanceLogin: { isTaken: true }, instanceTable: { total: 20 } })
})

test('one of the two addresses that a policy refuses is not taken for a wrong key', async () => {
  const [address] = lab.line.staticIps
  lab.control.servicenow.setAccessPolicy('table', [{ from: address, to: address }])
  expect(await codeOf(load(undefined, { preflightConnections: 16 }))).toMatch(/^SERVICENOW_PARTLY_ALLOWED/)
})

test('a command reads the key from the environment or a file, and refuses a key with quotes', async () => {
  const { SERVICENOW_INSTANCE_URL = '', STATIC_PROXY_URL = '', SLUICE_SERVICENOW_CA: ca = '' } = lab.env
  const env = { SERVICENOW_INSTANCE_URL, STATIC_PROXY_URL, SLUICE_SERVICENOW_CA: ca, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
  const pull = ['pull', 'servicenow:incident', '--fields', 'number', '--quiet']
  const key = lab.control.servicenow.apiKey()
  const given = await sluice(pull, { env: { ...env, SERVICENOW_API_KEY: key } })
  expect({ code: given.code, rows: given.stdout.trim().split('\n').length }).toEqual({ code: 0, rows: 20 })
  await writeFile(path('key'), `${key}\n`)
  expect(await sluice([...pull, '--servicenow-api-key-file', path('key')], { env })).toMatchObject({ code: 0 })
  await writeFile(path('key'), `"${key}"\n`)
  const quoted = await sluice([...pull, '--servicenow-api-key-file', path('key')], { env })
  expect(quoted).toMatchObject({ code: 2, stderr: expect.stringContaining('has quotes around it') as string })
  const refused = await sluice(pull, { env: { ...env, SERVICENOW_API_KEY: wrong } })
  expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('REST API key (Active') as string })
  expect(refused.stderr).not.toContain(wrong)
})

test('a tunnel adds the key for callers with its token', async () => {
  await using tunnel = await tunnelTo(['0:servicenow'], { withLogin: true, instance: byKey() })
  const url = `${tunnel.url}/api/now/table/incident?sysparm_limit=1`
  const headers = { authorization: `Bearer ${tunnel.token}`, 'x-sn-apikey': wrong }
  expect((await ask(url, { headers })).status).toBe(200)
})
