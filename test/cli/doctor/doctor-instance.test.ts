// @module-tag long
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import type { DoctorReport } from '../../../src/programs/doctor/report.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { mechanisms, mendInstance } from '../../contracts/instance-world.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
  lab.control.servicenow.seed('incident', 40)
})
afterAll(async () => await lab.close())
afterEach(() => mendInstance(lab))

/** Where no cluster is set. */
function withoutCluster(more: Record<string, string> = {}): Record<string, string> {
  const { ELASTICSEARCH_URL: _, ELASTICSEARCH_API_KEY: __, ...env } = lab.env
  return { ...env, ...more }
}

test('with the cluster, both ways are walked', async () => {
  const { code, stdout, stderr } = await sluice(['doctor'], { env: lab.env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { cluster, servicenow } = lab.line
  expect(stdout).toContain(`${cluster.url} and ${servicenow.url} through `)
  expect(stdout).toMatch(/^ {2}ok +IP filter +[\d.]+ m?s +16 of 16 connections accepted/m)
  expect(stdout).toMatch(/^ {2}ok +addresses at the instance +[\d.]+ m?s +16 of 16 connections accepted/m)
  expect(stdout).toMatch(/^ {2}ok +table of the instance +[\d.]+ m?s +incident: 40 rows$/m)
})

test('alone, the instance is all that is looked at, and a table can be named', async () => {
  const { code, stdout, stderr } = await sluice(['doctor', 'servicenow:sys_user', '--json'], { env: withoutCluster() })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const { facts, steps, findings } = JSON.parse(stdout) as DoctorReport
  expect(findings).toEqual([])
  expect(facts.instanceTable).toMatchObject({ table: 'sys_user', total: 21 })
  expect(steps.map(({ name }) => name)).not.toContain('IP filter')
})

test('an address that is missing at the platform: which, and what to do next', async () => {
  mechanisms['IP Address Access Control'](lab, 'first')
  const nodes = lab.line.proxy.nodes.join(',')
  const { code, stdout } = await sluice(['doctor'], { env: withoutCluster({ SLUICE_NODES: nodes }) })
  expect(code).toBe(3)
  expect(stdout).toContain('error SERVICENOW_PARTLY_ALLOWED: ')
  expect(stdout).toContain('Blocked: 127.0.0.3')
  expect(stdout).toMatch(/\nNext: Ask an administrator of \S+ to allow 127\.0\.0\.3 like the other/)
})

test('wrong credentials of the platform stand nowhere in the report', async () => {
  for (const name of ['SERVICENOW_PASSWORD', 'SERVICENOW_CLIENT_SECRET']) {
    const { code, stdout } = await sluice(['doctor', '--json'], { env: withoutCluster({ [name]: 'wr0ng-s3cret' }) })
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({ findings: [{ code: 'SERVICENOW_TOKEN_REFUSED' }] })
    for (const secret of ['wr0ng-s3cret', lab.line.servicenow.password, lab.line.servicenow.clientSecret])
      expect(stdout).not.toContain(secret)
  }
})

test('a source that is no table is refused by the doctor', async () => {
  const { code, stderr } = await sluice(['doctor', 'a.ndjson'], { env: lab.env })
  expect(code).toBe(2)
  expect(stderr).toContain("'a.ndjson' is not a table. Pass a table, as in servicenow:incident")
})

test.each([
  ['IP Address Access Control', 'second', 'SERVICENOW_PARTLY_ALLOWED', ['127.0.0.2']],
  ['a REST API access policy', 'first', 'SERVICENOW_PARTLY_ALLOWED', ['127.0.0.3']],
  ['adaptive authentication (401)', 'none', 'SERVICENOW_ADDRESS_REFUSED', ['127.0.0.2', '127.0.0.3']],
] as const)(
  'a load of a table that %s refuses, with %s listed, tells %s',
  async (mechanism, which, code, addresses) => {
    mechanisms[mechanism](lab, which)
    await using work = await folder()
    const ended = await sluice(['ingest', 'servicenow:incident', '--index', 'incidents', '--json'], {
      cwd: work.path,
      env: { ...lab.env, SLUICE_NODES: lab.line.proxy.nodes.join(','), SLUICE_PREFLIGHT_CONNECTIONS: '16' },
    })
    expect(ended.code).toBe(3)
    expect(JSON.parse(ended.stdout)).toMatchObject({
      failure: { code, evidence: { addresses, next: expect.stringContaining('Ask an administrator') as string } },
    })
    expect(lab.control.count('incidents')).toBe(0)
  },
)

test('a load that the platform refuses for its password shows it no more often than it must', async () => {
  await using work = await folder()
  const ended = await sluice(['ingest', 'servicenow:incident', '--index', 'incidents', '--json'], {
    cwd: work.path,
    env: { ...lab.env, SERVICENOW_PASSWORD: 'wr0ng-s3cret' },
  })
  expect(ended.code).toBe(3)
  expect(JSON.parse(ended.stdout)).toMatchObject({ failure: { code: 'SERVICENOW_TOKEN_REFUSED' } })
  expect(ended.stdout + ended.stderr).not.toContain('wr0ng-s3cret')
  const calls = lab.control.servicenow.requests().filter(({ path }) => path === '/oauth_token.do')
  expect(calls.length).toBeLessThanOrEqual(3)
})
