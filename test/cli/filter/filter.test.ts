import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Lab, type LabOptions, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

// Each test starts processes.
const filter = async (lab: Lab, args: readonly string[], env: Record<string, string> = {}) =>
  await sluice(['filter', ...args], { env: { ...lab.env, ...env } })

const start = async (register: NonNullable<LabOptions['register']>) => await startLab({ register })

describe('filter show', () => {
  test('tells what guards the deployment, and finds nothing where all is well', async () => {
    await using lab = await start('both')
    const { code, stdout, stderr } = await filter(lab, ['show'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [policy] = lab.control.policies()
    expect(stdout).toBe(`Deployment main, us-east-1: 1 policy

  static pair  ${policy?.id}  127.0.0.2/32
                                                 127.0.0.3/32

  127.0.0.2  allowed by static pair
  127.0.0.3  allowed by static pair
  127.0.0.1  this machine: blocked

`)
  })

  const rows: readonly [NonNullable<LabOptions['register']>, number, string[]][] = [
    ['both', 0, []],
    ['first', 3, ['FILTER_MISSES_ADDRESS']],
    ['none', 3, ['FILTER_MISSES_ADDRESS']],
    ['unattached', 3, ['FILTER_NOT_ATTACHED']],
    ['both+everyone', 3, ['FILTER_TOO_PERMISSIVE']],
    ['everyone', 3, ['FILTER_TOO_PERMISSIVE']],
  ]
  test.each(rows)('with %s registered: exit code %i, %j', async (register, exit, codes) => {
    await using lab = await start(register)
    const { code, stdout } = await filter(lab, ['show', '--json'])
    const report = JSON.parse(stdout) as { ok: boolean; findings: { code: string }[] }
    expect({ code, ok: report.ok, codes: report.findings.map(finding => finding.code) }).toEqual({
      code: exit,
      ok: exit === 0,
      codes,
    })
  })

  test('warns of a policy that lets in this machine itself', async () => {
    await using lab = await start('both')
    lab.control.attachPolicy(lab.control.createPolicy({ name: 'office', rules: ['127.0.0.0/30'] }).id)
    const { code, stdout } = await filter(lab, ['show'])
    expect(code).toBe(0)
    expect(stdout).toContain('127.0.0.1  this machine: allowed\n')
    expect(stdout).toContain('warning FILTER_COVERS_CLIENT: main ')
    expect(stdout).toContain('the attached policy office allows 127.0.0.1')
  })

  test('says what it cannot know', async () => {
    await using lab = await start('both')
    const { code, stdout } = await filter(lab, ['show'], { STATIC_IPS: '', IP_CHECK_URL: '' })
    expect(code).toBe(0)
    expect(stdout).toContain('note: set STATIC_IPS to check whether the static addresses are allowed')
    expect(stdout).toContain("note: this machine's own address is unknown: no address check is set (IP_CHECK_URL)")
  })
})

describe('from an open deployment to a guarded one and back', () => {
  test('create, create again, attach, attach again, load, detach', { tags: 'long' }, async () => {
    await using lab = await start('unattached')
    await using work = await folder()
    await writeFile(join(work.path, 'in.ndjson'), '{"a":1}\n')
    for (const { id } of lab.control.policies()) lab.control.deletePolicy(id)

    const created = JSON.parse((await filter(lab, ['create', '--json'])).stdout) as { policy: { id: string } }
    const { id } = created.policy
    expect(created).toMatchObject({
      ok: true,
      action: 'created',
      policy: { name: 'static addresses', region: 'us-east-1' },
    })
    const again = await filter(lab, ['create', '--policy', 'another name'])
    expect(again.code).toBe(0)
    expect(again.stdout).toContain(`The policy static addresses (${id}) already exists. Sluice changed nothing.\n`)
    expect(lab.control.policies()).toHaveLength(1)

    const attached = await filter(lab, ['attach'])
    expect({ code: attached.code, stderr: attached.stderr }).toEqual({ code: 0, stderr: '' })
    expect(attached.stdout).toContain(`The policy static addresses (${id}) is now attached.\n`)
    expect(attached.stdout).toMatch(/through the proxy {2}16 of 16 connections accepted\n/)
    expect(attached.stdout).toMatch(/without the proxy {2}refused \(status 403\)\n/)
    expect(JSON.parse((await filter(lab, ['attach', '--json'])).stdout)).toMatchObject({
      ok: true,
      action: 'unchanged',
    })

    const load = await sluice(['ingest', 'in.ndjson', '--index', 'i'], { cwd: work.path, env: lab.env })
    expect(load.code, load.stderr).toBe(0)

    const kept = await filter(lab, ['detach', '--policy', id])
    expect(kept.code).toBe(2)
    expect(kept.stderr).toContain('To detach the policy static addresses from main:\n  - static addresses\n')
    expect(kept.stderr).toContain('open to the whole internet')
    expect(lab.control.policies()).toMatchObject([{ deployments: ['main'] }])

    const detached = await filter(lab, ['detach', '--policy', 'static addresses', '--yes'])
    expect(detached.code, detached.stderr).toBe(0)
    expect(detached.stdout).toContain('note: the deployment is now open to the whole internet\n')
    expect(detached.stdout).toMatch(/without the proxy {2}the cluster answers \(status 401\)\n/)
  })

  test('a missing address is added to the policy that has the name, shown and only when that is confirmed', async () => {
    await using lab = await start('first')
    const create = ['create', '--policy', 'first address']
    const asked = await filter(lab, create)
    expect({ code: asked.code, stdout: asked.stdout }).toEqual({ code: 2, stdout: '' })
    expect(asked.stderr).toContain('    127.0.0.2/32\n  + 127.0.0.3/32  static address 2 of 2\n')
    expect(lab.control.policies()).toMatchObject([{ rules: ['127.0.0.2/32'] }])
    const done = await filter(lab, [...create, '--yes'])
    expect(done.code, done.stderr).toBe(0)
    expect(done.stdout).toContain('has new rules')
    expect(lab.control.policies()).toMatchObject([{ rules: ['127.0.0.2/32', '127.0.0.3/32'], deployments: ['main'] }])
  })

  test('a policy that shuts out an address is attached only with --yes, and the proof names it', async () => {
    await using lab = await start('unattached')
    const { id } = lab.control.createPolicy({ name: 'one', rules: ['127.0.0.2'] })
    expect((await filter(lab, ['attach', '--policy', 'one'])).code).toBe(2)
    const { code, stdout } = await filter(lab, ['attach', '--policy', id, '--yes', '--json'])
    expect(code).toBe(3)
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      action: 'attached',
      proof: { through: { verdict: 'refused', failure: { code: 'EGRESS_PARTLY_ALLOWED' } } },
      findings: [{ code: 'FILTER_MISSES_ADDRESS' }],
    })
  })

  test('without a cluster nothing is tried, and that is said', async () => {
    await using lab = await start('unattached')
    const { code, stdout } = await filter(lab, ['attach'], { ELASTICSEARCH_URL: '' })
    expect(code).toBe(0)
    expect(stdout).toContain('note: Sluice tried no connection, because no cluster is set (--url)\n')
    expect(lab.control.connections().filter(({ at }) => at === 'cluster' || at === 'proxy')).toEqual([])
  })

  test('options that contradict each other are said before anything is changed', async () => {
    await using lab = await start('unattached')
    const { code, stderr } = await filter(lab, ['attach'], { NO_PROXY: 'localhost' })
    expect(code, stderr).toBe(3)
    expect(stderr).toContain('sluice explain PROXY_NOT_USED')
    expect(lab.control.policies()).toMatchObject([{ deployments: [] }])
  })
})

test('a serverless project takes the place of the deployment, and --default asks first', async () => {
  await using lab = await start('both')
  const env = { SLUICE_DEPLOYMENT: '', SLUICE_PROJECT: 'main' }
  const { code, stdout, stderr } = await filter(lab, ['show'], env)
  expect(code, stderr).toBe(0)
  expect(stdout).toContain('Project main, us-east-1: 1 policy\n')
  const asked = await filter(lab, ['create', '--default'], env)
  expect(asked.code).toBe(2)
  expect(asked.stderr).toContain('every project that anybody in the organisation creates there later')
  const done = await filter(lab, ['create', '--default', '--yes'], env)
  expect(done.code, done.stderr).toBe(0)
  expect(lab.control.policies()).toMatchObject([{ name: 'static pair', includeByDefault: true, deployments: ['main'] }])
  expect((await filter(lab, ['show', '--deployment', 'main', '--project', 'main'])).code).toBe(2)
})

describe('a fault is named', () => {
  const rows: readonly [string, string[], Record<string, string>, number, string][] = [
    ['a wrong key', ['show'], { EC_API_KEY: 'wr0ng-organisation-key' }, 3, 'FILTER_API_KEY_REJECTED'],
    ['an unknown deployment', ['show', '--deployment', 'other'], {}, 3, 'FILTER_API_REFUSED'],
    ['an unknown deployment, to attach to', ['attach', '--deployment', 'other'], {}, 3, 'FILTER_API_REFUSED'],
    ['an API that is not there', ['show', '--admin-url', 'http://127.0.0.1:9'], {}, 4, 'FILTER_API_UNAVAILABLE'],
    ['a key in clear text', ['show', '--admin-url', 'http://api.example'], {}, 2, 'OPTION_INVALID'],
    ['no key', ['show'], { EC_API_KEY: '' }, 2, 'OPTION_INVALID'],
    ['no deployment', ['show'], { SLUICE_DEPLOYMENT: '' }, 2, 'OPTION_INVALID'],
    ['no addresses', ['create'], { STATIC_IPS: '' }, 2, 'OPTION_INVALID'],
    ['a DNS name as an address', ['create'], { STATIC_IPS: 'proxy.example.com,127.0.0.3' }, 2, 'OPTION_INVALID'],
    ['an unknown policy', ['attach', '--policy', 'pair'], {}, 2, 'FILTER_POLICY_UNKNOWN'],
    ['no policy to detach', ['detach'], {}, 2, 'FILTER_POLICY_UNKNOWN'],
  ]
  test.each(rows)('%s', async (_, args, env, exit, named) => {
    await using lab = await start('unattached')
    const before = lab.control.policies()
    const { code, stdout, stderr } = await filter(lab, [...args, '--json'], env)
    expect(code, stderr).toBe(exit)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', failure: { code: named } })
    expect(stderr).toContain(`sluice explain ${named}`)
    expect(stdout + stderr).not.toContain('wr0ng')
    expect(lab.control.policies()).toEqual(before)
  })

  test('a command that it does not have, and none at all', async () => {
    const { code, stderr } = await sluice(['filter', 'delete'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("cannot do 'delete'") as string })
    expect((await sluice(['filter'])).code).toBe(2)
  })
})

test('the key comes from a file too, and stands in no output', async () => {
  await using lab = await start('both')
  await using work = await folder()
  const file = join(work.path, 'key')
  const { apiKey } = lab.line.admin
  await writeFile(file, `${apiKey}\n`)
  const secrets = [apiKey, Buffer.from(apiKey, 'base64').toString().split(':')[1] ?? apiKey]
  for (const args of [['show'], ['show', '--json'], ['attach', '--json'], ['create']]) {
    const { code, stdout, stderr } = await filter(lab, [...args, '--admin-key-file', file], { EC_API_KEY: '' })
    expect(code, stderr).toBe(0)
    for (const secret of secrets) expect(stdout + stderr).not.toContain(secret)
  }
  const shown = await sluice(['config'], { env: lab.env })
  for (const secret of secrets) expect(shown.stdout + shown.stderr).not.toContain(secret)
})

test.each(['show', 'create', 'attach', 'detach'])('filter %s --help shows an example', async name => {
  const { code, stdout } = await sluice(['filter', name, '--help'])
  expect(code).toBe(0)
  expect(stdout).toContain(`sluice filter ${name} --`)
  expect(stdout).toContain('--deployment <id>')
})
