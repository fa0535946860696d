import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { type Ended, shell, startSluice } from '../../support/command/sluice.js'

let lab: Lab
let work: string
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())
beforeEach(async () => {
  work = await mkdtemp(join(tmpdir(), 'cause-'))
  await writeFile(join(work, 'a.ndjson'), Array.from({ length: 400 }, (_, n) => `{"n":${n}}\n`).join(''))
})
afterEach(async () => {
  lab.control.heal()
  lab.control.register('both')
  await rm(work, { recursive: true })
})

const small = ['--batch-docs', '20', '--concurrency', '1', '--preflight-connections', '1']
const intoCauses = ['--index', 'causes', '--json', ...small]

async function load(args: readonly string[] = [], env: Record<string, string> = {}): Promise<Ended> {
  return await sluice(['ingest', 'a.ndjson', ...intoCauses, ...args], { cwd: work, env: { ...lab.env, ...env } })
}

/** Loads in a process of its own: a budget of time begins with the process. */
async function loadWithin(timeBudget: string): Promise<Ended> {
  const args = ['ingest', 'a.ndjson', ...intoCauses, '--time-budget', timeBudget]
  return await startSluice(args, { cwd: work, env: lab.env }).ended
}

function failureIn({ stdout }: Ended) {
  const { failure, created } = JSON.parse(stdout) as {
    failure: { code: string; message: string; evidence: Record<string, unknown> }
    created?: number
  }
  return { ...failure, created }
}

test('advice names what set the URL of the proxy, and the usual variable only if that did', async () => {
  const wrong = new URL(lab.line.proxy.http)
  wrong.password = 'wrong'
  await writeFile(join(work, 'proxy-url'), wrong.href)
  await writeFile(join(work, 'of-init.json'), JSON.stringify({ proxyFile: 'proxy-url' }))
  await writeFile(join(work, 'own.json'), JSON.stringify({ proxy: wrong.href }))
  const { STATIC_PROXY_URL: _, ...env } = lab.env
  const ways: readonly (readonly [args: readonly string[], env: Record<string, string>, said: string])[] = [
    [['--proxy-file', 'proxy-url'], {}, 'the file proxy-url'],
    [['--proxy', wrong.href], {}, '--proxy'],
    [['--config', 'of-init.json'], {}, 'the file proxy-url'],
    [['--config', 'own.json'], {}, 'proxy in own.json'],
    [[], { FIXIE_URL: wrong.href }, 'FIXIE_URL'],
    [[], { STATIC_PROXY_URL: wrong.href }, 'STATIC_PROXY_URL'],
  ]
  for (const [args, more, said] of ways) {
    const surroundings = { cwd: work, env: { ...env, ...more } }
    const load = ['ingest', 'a.ndjson', '--index', 'causes', ...args, ...small]
    const advice = `from the dashboard of your proxy (QuotaGuard, Fixie) to ${said}.`
    const text = await sluice(load, surroundings)
    expect(text.stderr).toContain('PROXY_AUTH_REJECTED')
    expect(text.stderr).toContain(advice)
    const { failure } = JSON.parse((await sluice([...load, '--json'], surroundings)).stdout) as {
      failure: { fixes: readonly string[] }
    }
    expect(failure.fixes.join(' ')).toContain(advice)
    const doctor = await sluice(['doctor', ...args], surroundings)
    expect(doctor.stdout).toContain(advice)
    if (said === 'STATIC_PROXY_URL') continue
    // A warning about a secret on the command line names better places for it.
    const withoutWarnings = text.stderr.replaceAll(/^warning: .*$/gm, '')
    for (const shown of [withoutWarnings, doctor.stdout, failure.fixes.join(' ')])
      expect(shown).not.toContain('STATIC_PROXY_URL')
  }
})

test(
  'a load that the filter refuses in the middle names the addresses that are refused',
  { tags: 'long' },
  async () => {
    lab.control.plant({ latencyMs: 20 })
    await writeFile(join(work, 'a.ndjson'), Array.from({ length: 8000 }, (_, n) => `{"n":${n}}\n`).join(''))
    const running = startSluice(['ingest', 'a.ndjson', '--index', 'causes', '--json', ...small], {
      cwd: work,
      env: { ...lab.env, SLUICE_NODES: lab.line.proxy.nodes.join(',') },
    })
    await expect.poll(() => lab.control.count('causes')).toBeGreaterThan(0)
    lab.control.register('none')
    const ended = await running.ended
    expect(ended.code).toBe(3)
    expect(failureIn(ended)).toMatchObject({
      code: 'EGRESS_NOT_ALLOWED',
      evidence: { addresses: ['127.0.0.2', '127.0.0.3'], next: expect.stringContaining('127.0.0.3/32') as string },
    })
  },
)

test('a connection that breaks turns out to be a password that was changed, and the symptom is kept', async () => {
  const { env } = lab
  lab.control.plant({ handshake: { kind: 'rst', times: 16 } })
  lab.control.rotateCredentials()
  const ended = await load([], { ...env, SLUICE_MAX_ELAPSED: '1ms' })
  expect(ended.code).toBe(3)
  const { code, evidence } = failureIn(ended)
  expect(code).toBe('PROXY_AUTH_REJECTED')
  expect(evidence['stoppedBy']).toMatch(/^PROXY_UNREACHABLE: /)
  expect(ended.stderr).toContain('seen:  PROXY_UNREACHABLE')
})

test('with a limit of bytes nothing more is sent, and the symptom is told', async () => {
  lab.control.register('none')
  lab.control.forgetConnections()
  const ended = await load(['--byte-budget', '50MB'])
  expect(failureIn(ended)).toMatchObject({ code: 'EGRESS_NOT_ALLOWED' })
  expect(failureIn(ended).evidence).not.toHaveProperty('next')
})

test('with a short time budget the cause is told as well', { tags: 'long' }, async () => {
  lab.control.register('none')
  const ended = await loadWithin('1m')
  expect({ code: ended.code, cause: failureIn(ended).code }).toEqual({ code: 3, cause: 'EGRESS_NOT_ALLOWED' })
  expect(failureIn(ended).evidence).toHaveProperty('next')
})

test('no connection goes past the proxy when a load looks for its cause', async () => {
  lab.control.register('none')
  lab.control.forgetConnections()
  expect((await load()).code).toBe(3)
  const from = new Set(lab.control.connections().flatMap(one => (one.at === 'cluster' ? [one.from] : [])))
  expect([...from].toSorted()).toEqual(['127.0.0.2', '127.0.0.3'])
})

test('the doctor does not look for a cause that lies in the documents', async () => {
  lab.control.plant({
    bulk: { status: 400, body: '{"error":{"type":"illegal_argument_exception","reason":"no"},"status":400}' },
  })
  lab.control.forgetConnections()
  const ended = await load()
  expect(failureIn(ended)).toMatchObject({ code: 'REQUEST_REFUSED', created: 0 })
  expect(failureIn(ended).evidence).not.toHaveProperty('stoppedBy')
})

test('a cause is found in what is left of a limit of time, too', { tags: 'long' }, async () => {
  lab.control.register('none')
  const ended = await loadWithin('1m')
  expect(ended.code, ended.stderr).toBe(3)
  expect(failureIn(ended)).toMatchObject({
    code: 'EGRESS_NOT_ALLOWED',
    evidence: { probes: 16, next: expect.stringContaining('127.0.0.3/32') as string },
  })
})

test('credentials that were renewed since the load began are not taken for the cause', { tags: 'long' }, async () => {
  const { STATIC_PROXY_URL: url = '', ...env } = lab.env
  const file = join(work, 'proxy-url')
  await writeFile(file, url)
  lab.control.plant({ latencyMs: 20 })
  await writeFile(join(work, 'a.ndjson'), Array.from({ length: 8000 }, (_, n) => `{"n":${n}}\n`).join(''))
  const running = startSluice(['ingest', 'a.ndjson', '--index', 'renewed', '--json', ...small], {
    cwd: work,
    env: { ...env, SLUICE_PROXY_FILE: file },
  })
  await expect.poll(() => lab.control.count('renewed')).toBeGreaterThan(0)
  lab.control.rotateCredentials()
  await writeFile(file, lab.line.proxy.http)
  lab.control.register('none')
  const ended = await running.ended
  expect(failureIn(ended)).toMatchObject({ code: 'EGRESS_NOT_ALLOWED', evidence: { probes: 16 } })
})

test('an option that is set for loads in general does not refuse a replay', { tags: 'long' }, async () => {
  const letter = { operation: 'create', origin: { input: 'x', document: 1, line: 1, offset: 0 }, id: 'x-1' }
  await writeFile(join(work, 'dead.ndjson'), `${JSON.stringify({ ...letter, index: 'least-logs', document: {} })}\n`)
  lab.control.plant({ bulk: { status: 503, body: '{"ok":false,"message":"away"}' } })
  const ended = await sluice(['replay', 'dead.ndjson', '--json', '--max-elapsed', '1s'], {
    cwd: work,
    env: { ...lab.env, ELASTICSEARCH_API_KEY: lab.line.cluster.leastPrivilegeApiKey, SLUICE_INDEX: 'other-logs' },
  })
  expect(failureIn(ended)).toMatchObject({ code: 'CLUSTER_UNAVAILABLE' })
})

test('a key that came out of a pipe is not waited for once more', async () => {
  lab.control.register('none')
  const { ELASTICSEARCH_API_KEY: key = '', ...env } = lab.env
  const ended = await shell(
    `mkfifo key && { printf %s "$KEY" > key & } && $SLUICE ingest a.ndjson --index piped --json --api-key-file key ${small.join(' ')}`,
    { cwd: work, env: { ...env, KEY: key } },
  )
  expect(ended.code, ended.stderr).toBe(3)
  expect(failureIn(ended)).toMatchObject({ code: 'EGRESS_NOT_ALLOWED', evidence: { probes: 16 } })
})
