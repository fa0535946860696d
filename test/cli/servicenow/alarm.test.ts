// @module-tag long
/** `--on-failure incident` at the lab's service-management platform. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { type Ended, type Folder, folder, startSluice } from '../../support/command/sluice.js'

let lab: Lab
let work: Folder
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
beforeEach(async () => {
  work = await folder()
  await writeFile(join(work.path, 'a.ndjson'), '{"n":1}\n{"n":2}\n')
  for (const { sys_id } of incidents()) lab.control.servicenow.delete('incident', sys_id)
})
afterEach(async () => {
  lab.control.heal()
  lab.control.register('both')
  const { servicenow } = lab.control
  servicenow.heal()
  servicenow.register('both')
  servicenow.clearRules()
  await work[Symbol.asyncDispose]()
})

const incidents = () => lab.control.servicenow.rows('incident')
const alarm = ['--on-failure', 'incident', '--job', 'nightly']
const few = ['--preflight-connections', '2', '--again']

async function ingest(more: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return await sluice(['ingest', 'a.ndjson', '--index', 'alarms', ...few, ...more], {
    cwd: work.path,
    env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile, ...env },
  })
}

describe('a run that fails', () => {
  test('opens an incident with the finding and what to do, through the proxy', async () => {
    lab.control.register('none')
    lab.control.forgetConnections()
    const { code, stderr } = await ingest([...alarm, '--alarm-host', 'loader-1', '--incident-fields', 'urgency=1'])
    expect({ code, stderr }).toMatchObject({ code: 3 })
    const [incident, ...more] = incidents()
    expect(more).toEqual([])
    expect(incident).toMatchObject({
      short_description: expect.stringMatching(/^Sluice: nightly: EGRESS_NOT_ALLOWED: /) as string,
      correlation_id: 'sluice:nightly',
      correlation_display: 'sluice',
      state: '1',
      impact: '2',
      urgency: '1',
    })
    for (const said of ['127.0.0.3/32', 'Host: loader-1', 'sluice explain', 'sluice ingest a.ndjson --index alarms'])
      expect(incident?.['description']).toContain(said)
    expect(stderr.trimEnd().split('\n').at(-1)).toBe(
      `alarm: ${incident?.['number']} opened at ${lab.line.servicenow.url}`,
    )
    const from = lab.control.connections().flatMap(one => (one.at === 'servicenow' ? [one.from] : []))
    expect(from.filter(address => !lab.line.staticIps.includes(address))).toEqual([])
    expect(from).not.toEqual([])
  })

  test('says the same as without an alarm, and what it says of that stands behind', async () => {
    lab.control.plant({ bulk: { status: 400, body: '{"error":{"type":"illegal","reason":"no"},"status":400}' } })
    const plain = await ingest(['--json', '--quiet'])
    const alarmed = await ingest(['--json', '--quiet', ...alarm])
    expect(alarmed.code).toBe(plain.code)
    expect(alarmed.stderr).toBe(plain.stderr)
    expect(Object.keys(JSON.parse(alarmed.stdout) as object)).toEqual(Object.keys(JSON.parse(plain.stdout) as object))
    expect(incidents()[0]?.['description']).toMatch(/^Documents: 2 read = /m)
  })

  test('notes itself in the open incident, and a good run resolves that; those of other jobs stay', async () => {
    const other = lab.control.servicenow.insert('incident', {
      short_description: 'theirs',
      correlation_id: 'sluice:weekly',
    })
    lab.control.register('none')
    await ingest(alarm)
    const again = await ingest(alarm)
    expect(again.stderr).toMatch(/^alarm: INC\d+ updated at /m)
    const [, open, ...more] = incidents()
    expect(more).toEqual([])
    expect(open?.['work_notes']).toContain('Occurrence 2 of this incident.')
    lab.control.register('both')
    const good = await ingest(alarm)
    expect({ code: good.code, stderr: good.stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(`alarm: ${open?.['number']} resolved at `) as string,
    })
    expect(incidents()[1]).toMatchObject({
      state: '6',
      close_code: 'Solution provided',
      close_notes: expect.stringContaining('2 read = 2 created') as string,
    })
    expect(incidents()[0]).toEqual(other)
  })

  test('is told of inputs that are not there', async () => {
    const { code } = await sluice(['ingest', 'none.ndjson', '--index', 'alarms', '--on-failure', 'incident'], {
      cwd: work.path,
      env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile },
    })
    expect(code).toBe(2)
    expect(incidents()[0]).toMatchObject({
      short_description: expect.stringMatching(/^Sluice: alarms: INPUT_NOT_FOUND: /) as string,
      correlation_id: expect.stringMatching(/^sluice:alarms-[0-9a-f]{16}$/) as string,
    })
  })

  test('with rejected documents is one, unless its user allows them', async () => {
    await writeFile(join(work.path, 'a.ndjson'), '{"n":1}\nnot json\n')
    expect((await ingest([...alarm, '--max-rejected', '5'])).code).toBe(1)
    expect(incidents()).toEqual([])
    expect((await ingest(alarm)).code).toBe(1)
    expect(incidents()[0]?.['short_description']).toBe('Sluice: nightly: finished with 1 document rejected')
    await ingest([...alarm, '--max-rejected', '5'])
    expect(incidents()[0]?.['state']).toBe('6')
  })

  test('may be a replay', async () => {
    const letter = { operation: 'create', origin: { input: 'x', document: 1, line: 1, offset: 0 }, id: 'x-1' }
    await writeFile(join(work.path, 'dead.ndjson'), `${JSON.stringify({ ...letter, index: 'alarms', document: {} })}\n`)
    lab.control.register('none')
    const { code } = await sluice(['replay', 'dead.ndjson', ...alarm, '--preflight-connections', '2'], {
      cwd: work.path,
      env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile },
    })
    expect(code).toBe(3)
    expect(incidents()[0]?.['description']).toContain('Command: sluice replay dead.ndjson')
  })

  test('may be a pull', async () => {
    const pull = async (table: string) =>
      await sluice(['pull', table, ...alarm, '--preflight-connections', '1'], {
        cwd: work.path,
        env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile },
      })
    const refused = await pull('servicenow:incidents')
    expect({ code: refused.code, stdout: refused.stdout }).toEqual({ code: 2, stdout: '' })
    expect(incidents()).toMatchObject([
      { state: '1', short_description: expect.stringMatching(/SERVICENOW_TABLE_UNKNOWN/) as string },
    ])
    expect((await pull('servicenow:sys_user')).code).toBe(0)
    expect(incidents()[0]).toMatchObject({ state: '6', close_notes: 'A run of nightly was good.' })
  })

  test('tells no secret, whoever repeats it', async () => {
    const { cluster, proxy, servicenow } = lab.line
    const proxyPassword = new URL(proxy.http).password
    const secrets = [
      cluster.apiKey,
      proxyPassword,
      decodeURIComponent(proxyPassword),
      servicenow.password,
      servicenow.clientSecret,
    ]
    const reason = `repeats ${secrets.join(' | ')} and http://user:pl4nted@proxy.example`
    lab.control.plant({
      bulk: { status: 400, body: JSON.stringify({ error: { type: 'illegal', reason }, status: 400 }) },
    })
    const { stderr } = await ingest(alarm)
    const kept = JSON.stringify(incidents())
    expect(kept).toContain('repeats ***')
    for (const secret of [...secrets, 'pl4nted']) {
      expect(kept).not.toContain(secret)
      expect(stderr).not.toContain(secret)
    }
  })

  test('opens one incident where the answer to that was lost', async () => {
    lab.control.register('none')
    lab.control.servicenow.plant({ drop: { api: 'table', method: 'POST', times: 1, done: true } })
    const { stderr } = await ingest(alarm)
    expect(stderr).toMatch(/^alarm: INC\d+ opened at /m)
    expect(incidents()).toHaveLength(1)
    expect(lab.control.servicenow.struck('drop')).toBe(1)
  })
})

describe('no incident is made', () => {
  test('of a dry run', async () => {
    lab.control.servicenow.insert('incident', { correlation_id: 'sluice:nightly' })
    lab.control.servicenow.forgetRequests()
    expect((await ingest([...alarm, '--dry-run'])).code).toBe(0)
    expect(lab.control.servicenow.requests()).toEqual([])
    expect(incidents()[0]?.['state']).toBe('1')
  })

  test('of a run that was interrupted: it neither opens nor resolves', async () => {
    lab.control.servicenow.insert('incident', { correlation_id: 'sluice:nightly' })
    lab.control.servicenow.forgetRequests()
    lab.control.plant({ latencyMs: 50 })
    const run = startSluice(['ingest', '-', '--index', 'alarms', '--batch-docs', '10', '--quiet', ...alarm], {
      cwd: work.path,
      env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile },
      endless: '{"n":1}\n',
    })
    await expect.poll(() => lab.control.count('alarms')).toBeGreaterThan(50)
    run.child.kill('SIGTERM')
    const { code, stderr } = await run.ended
    expect({ code, stderr }).toMatchObject({ code: 5 })
    expect(lab.control.servicenow.requests()).toEqual([])
  })
})

test('an instance that lets in one of the two addresses is told all the same, and that is said', async () => {
  await using half = await startLab({ register: 'none', pick: 'random' })
  half.control.servicenow.register('second')
  const run = async () =>
    await sluice(['ingest', 'a.ndjson', '--index', 'alarms', ...few, ...alarm, '--quiet'], {
      cwd: work.path,
      env: { ...half.env, SLUICE_SERVICENOW_CA: half.line.cluster.caFile },
    })
  const partly = /^warning: INC\d+: SERVICENOW_PARTLY_ALLOWED: /m
  let said = ''
  // Which address the alarm begins with is chance.
  for (let runs = 0; runs < 2 || (runs < 30 && !partly.test(said)); runs += 1) said += (await run()).stderr
  expect(half.control.servicenow.rows('incident')).toMatchObject([
    { work_notes: expect.stringMatching(/Occurrence \d+/) as string },
  ])
  expect(said).toMatch(partly)
})

describe('an alarm that fails', () => {
  const causes: readonly [string, string, () => void, Readonly<Record<string, string>>?][] = [
    ['an instance that hibernates', 'SERVICENOW_HIBERNATING', () => lab.control.servicenow.hibernate('page')],
    ['addresses that are not let in', 'SERVICENOW_ADDRESS_REFUSED', () => lab.control.servicenow.register('none')],
    ['a connection that breaks', 'SERVICENOW_UNREACHABLE', () => lab.control.servicenow.plant({ drop: {} })],
    ['an instance that does not answer', 'SERVICENOW_UNREACHABLE', () => lab.control.servicenow.plant({ stall: {} })],
    [
      'a password that was changed',
      'SERVICENOW_AUTH_REJECTED',
      () => undefined,
      { SERVICENOW_ALARM_USERNAME: 'nobody', SERVICENOW_ALARM_PASSWORD: 'pl4nted-password' },
    ],
    [
      'a user who may not open incidents',
      'SERVICENOW_ACCESS_DENIED',
      () => lab.control.servicenow.addAcl({ table: 'incident', operations: ['insert'] }),
    ],
  ]
  test.each(causes)('is one line: %s', async (cause, code, plant, env = {}) => {
    lab.control.register('none')
    plant()
    // Only silence waits for the limit. On a busy machine, the other causes may take seconds.
    const limit = cause === 'an instance that does not answer' ? '2s' : '2m'
    const ended = await ingest([...alarm, '--alarm-timeout', limit, '--quiet'], env)
    expect(ended.code).toBe(3)
    const lines = ended.stderr.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^error: the IP filter of /)
    expect(lines.at(-1)).toMatch(new RegExp(`^warning: the alarm failed: ${code}: `))
    expect(lines.filter(line => line.startsWith('warning: '))).toHaveLength(1)
    expect(ended.stderr).not.toContain('pl4nted-password')
  })

  test('does not show credentials again that the run found refused: that would lock the user out', async () => {
    lab.control.servicenow.forgetRequests()
    const { code, stderr } = await sluice(['ingest', 'servicenow:incident', '--index', 'alarms', ...few, ...alarm], {
      cwd: work.path,
      env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile, SERVICENOW_PASSWORD: 'pl4nted-password' },
    })
    const refused = lab.control.servicenow
      .requests()
      .filter(({ path, status }) => path === '/oauth_token.do' && status === 401)
    expect(refused.length).toBeLessThan(4)
    expect(stderr.trimEnd().split('\n').at(-1)).toMatch(
      /^warning: the alarm failed: SERVICENOW_TOKEN_REFUSED: .*again$/,
    )
    expect(stderr).not.toContain('pl4nted')
    expect(code).toBe(3)
  })

  test('takes no longer than a limit of time allows', async () => {
    lab.control.register('none')
    lab.control.servicenow.plant({ stall: {} })
    // The budget counts from the start of the process, so this one has its own.
    const limits = ['--alarm-timeout', '10m', '--time-budget', '20s', '--quiet']
    const { code, stderr } = await startSluice(
      ['ingest', 'a.ndjson', '--index', 'alarms', ...few, ...alarm, ...limits],
      {
        cwd: work.path,
        env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile },
      },
    ).ended
    expect(code).toBe(3)
    expect(stderr).toMatch(/^warning: the alarm failed: SERVICENOW_UNREACHABLE: .* no answer within 1?\d(\.\d+)? s/m)
  })

  test('is given up at a signal, and the run ends as it would have', async () => {
    lab.control.register('none')
    lab.control.servicenow.plant({ stall: {} })
    const run = startSluice(['ingest', 'a.ndjson', '--index', 'alarms', ...few, ...alarm], {
      cwd: work.path,
      env: { ...lab.env, SLUICE_SERVICENOW_CA: lab.line.cluster.caFile },
    })
    await expect.poll(() => lab.control.servicenow.struck('stall')).toBe(1)
    run.child.kill('SIGTERM')
    const { code, stderr } = await run.ended
    expect({ code, stderr }).toMatchObject({ code: 3 })
    expect(stderr).toMatch(/^warning: the alarm failed: SERVICENOW_UNREACHABLE: .*: Sluice gave up$/m)
  })

  test('leaves a good run what it is', async () => {
    lab.control.servicenow.hibernate('redirect')
    const { code, stdout, stderr } = await ingest([...alarm, '--json', '--quiet'])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', read: 2 })
    expect(stderr).toMatch(/^warning: the alarm failed: SERVICENOW_HIBERNATING: .*\n$/)
  })

  test('says that there is no other way where the proxy is what is broken', async () => {
    const { code, stderr } = await ingest([...alarm, '--quiet'], {
      STATIC_PROXY_URL: lab.line.proxy.http.replace(/:[^:@/]+@/, ':wrong-password@'),
    })
    expect(code).toBe(3)
    expect(stderr).toContain('sluice explain PROXY_AUTH_REJECTED')
    expect(stderr).toMatch(
      /^warning: the alarm failed: PROXY_AUTH_REJECTED: .*\. The alarm reaches the instance only through the proxy$/m,
    )
    expect(lab.control.servicenow.rows('incident')).toEqual([])
  })
})

describe('credentials', () => {
  test('of the alarm’s own are used for it alone', async () => {
    lab.control.servicenow.setUser('alarm', 'alarm-password')
    lab.control.register('none')
    const { stderr } = await ingest(alarm, {
      SERVICENOW_PASSWORD: 'wrong',
      SERVICENOW_ALARM_USERNAME: 'alarm',
      SERVICENOW_ALARM_PASSWORD: 'alarm-password',
    })
    expect(stderr).toMatch(/^alarm: INC\d+ opened at /m)
    expect(incidents()[0]?.sys_created_by).toBe('alarm')
  })

  test.each<[string, Record<string, string>, readonly string[], RegExp]>([
    ['an instance', { SERVICENOW_INSTANCE_URL: '' }, [], /SERVICENOW_INSTANCE_URL/],
    [
      'a password',
      { SERVICENOW_ALARM_USERNAME: 'alarm' },
      [],
      /SERVICENOW_ALARM_USERNAME: also needs --alarm-password/,
    ],
    [
      'credentials of its own for an instance of its own',
      {},
      ['--alarm-url', 'https://other.example'],
      /--alarm-url: also needs --alarm-username/,
    ],
    ['a name that a query can hold', {}, ['--job', 'a^b'], /--job: 'a\^b' must have 1 to/],
    ['fields that are not its own', {}, ['--incident-fields', 'state=6'], /--incident-fields: .* contains state/],
  ])('and options are asked for before the run: %s', async (_, env, more, message) => {
    const { code, stderr } = await ingest([...alarm, ...more], env)
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(message) as string })
    expect(incidents()).toEqual([])
  })
})
