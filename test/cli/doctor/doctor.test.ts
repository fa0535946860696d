import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DoctorReport } from '../../../src/programs/doctor/report.js'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
beforeAll(async () => {
  lab = await startLab()
})
afterAll(async () => await lab.close())

test('a way that is open: every step with what was seen, and nothing to do', { tags: 'long' }, async () => {
  const { code, stdout, stderr } = await sluice(['doctor', '--index', 'logs'], { env: lab.env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('url from ELASTICSEARCH_URL, apiKey from ELASTICSEARCH_API_KEY, proxy from STATIC_PROXY_URL')
  expect(stdout).toMatch(/^ {2}ok +proxy protocol +[\d.]+ m?s +HTTP, as in the URL$/m)
  expect(stdout).toMatch(
    /^ {2}ok +IP filter +[\d.]+ m?s +16 of 16 connections accepted\. Elasticsearch 9\.4\.3\. Chance that one/m,
  )
  expect(stdout).toMatch(/^ {2}ok +cluster without the proxy +[\d.]+ m?s +refused, as it should be \(status 403\)$/m)
  expect(stdout).toMatch(/\nNo problem found\.\n\n\d+ requests sent, at most \d+ allowed\.\n$/)
})

test('an address that is missing: which, the rules that are needed, and what to do next', async () => {
  lab.control.register('first')
  const nodes = lab.line.proxy.nodes.join(',')
  const { code, stdout } = await sluice(['doctor'], { env: { ...lab.env, SLUICE_NODES: nodes } })
  lab.control.register('both')
  expect(code).toBe(3)
  expect(stdout).toContain('Blocked: 127.0.0.3.\n')
  expect(stdout).toContain('(the addresses in STATIC_IPS):\n  127.0.0.2/32\n  127.0.0.3/32\n')
  expect(stdout).toMatch(
    /\nNext: Add 127\.0\.0\.3\/32 to the policy that is attached to the deployment of \S+, and run/,
  )
  expect(stdout).not.toContain(new URL(lab.line.proxy.http).password)
})

test('options that contradict each other are a report too', async () => {
  const env = { ...lab.env, NO_PROXY: 'localhost' }
  const { code, stdout } = await sluice(['doctor', '--json'], { env })
  expect(code).toBe(3)
  expect(JSON.parse(stdout)).toMatchObject({ ok: false, findings: [{ code: 'PROXY_NOT_USED', severity: 'error' }] })
})

test(
  '--no-direct-check leaves the request past the proxy out, from wherever it is said',
  { tags: 'long' },
  async () => {
    for (const [flags, more] of [
      [['--no-direct-check'], {}],
      [[], { SLUICE_NO_DIRECT_CHECK: 'true' }],
    ] as const) {
      lab.control.forgetConnections()
      const { stdout } = await sluice(['doctor', '--json', ...flags], { env: { ...lab.env, ...more } })
      const { steps } = JSON.parse(stdout) as DoctorReport
      expect(steps.find(({ name }) => name === 'cluster without the proxy')?.detail).toContain('skipped')
      const direct = lab.control.connections().filter(({ at, from }) => at === 'cluster' && from === '127.0.0.1')
      expect(direct).toEqual([])
    }
  },
)

test(
  '--support-bundle writes a file for its owner, without the credentials and the names that the report has',
  { tags: 'long' },
  async () => {
    await using work = await folder()
    const path = join(work.path, 'bundle.json')
    const nodes = lab.line.proxy.nodes.join(',')
    const { code } = await sluice(['doctor', '--index', 'secret-index', '--support-bundle', path], {
      env: { ...lab.env, SLUICE_NODES: nodes },
    })
    expect(code).toBe(0)
    const text = await readFile(path, 'utf8')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect(JSON.parse(text)).toMatchObject({ ok: true, facts: { filter: { probes: 16, allowed: 16 } } })
    const { apiKey, username } = lab.line.cluster
    const { password } = new URL(lab.line.proxy.http)
    for (const secret of [apiKey, password, decodeURIComponent(password), `"${username}"`, 'secret-index']) {
      expect(text).not.toContain(secret)
    }
  },
)

test('a bundle that cannot be written says why', async () => {
  await using work = await folder()
  const path = join(work.path, 'missing', 'bundle.json')
  const { code, stderr } = await sluice(['doctor', '--support-bundle', path], { env: lab.env })
  expect(code).toBe(2)
  expect(stderr).toContain(`--support-bundle: cannot write ${path}: the folder does not exist`)
})

test('as many connections as there may be: nothing is said beside the result', { tags: 'long' }, async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'in.ndjson'), '{"a":1}\n')
  // A slow machine needs more than 10 s to open as many.
  const many = ['--preflight-connections', '64', '--timeout', '10m']
  const looked = await sluice(['doctor', ...many], { env: lab.env })
  const loaded = await sluice(['ingest', 'in.ndjson', '--index', 'many', '--quiet', ...many], {
    cwd: work.path,
    env: lab.env,
  })
  expect([looked, loaded].map(({ code, stderr }) => ({ code, stderr }))).toEqual([
    { code: 0, stderr: '' },
    { code: 0, stderr: '' },
  ])
  expect(looked.stdout).toContain('64 of 64 connections accepted')
})

test('a bundle that cannot be written is told before anything is asked', async () => {
  lab.control.forgetConnections()
  const path = join(lab.line.cluster.caFile, 'bundle.json')
  const { code, stdout } = await sluice(['doctor', '--json', '--support-bundle', path], { env: lab.env })
  expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({ code: 2, failure: { code: 'OPTION_INVALID' } })
  expect(lab.control.connections()).toEqual([])
})

test('Ctrl-C ends it with a word that fits', { tags: 'long' }, async () => {
  lab.control.forgetConnections()
  lab.control.plant({ handshake: { kind: 'silence' } })
  const running = startSluice(['doctor', '--json'], { env: lab.env })
  await expect.poll(() => lab.control.connections().length).toBeGreaterThan(0)
  running.child.kill('SIGINT')
  const { code, stderr } = await running.ended
  lab.control.heal()
  expect(code).toBe(5)
  expect(stderr).toContain('error: interrupted (SIGINT): some checks were not made\n')
  expect(stderr).toContain('more:  sluice explain COMMAND_INTERRUPTED\n')
  expect(stderr).not.toContain('document')
})

test('a path that the cluster does not know, and an authority that is none, are told as such', async () => {
  const wrong = await sluice(['doctor', '--url', `${lab.line.cluster.url}/es/path`], { env: lab.env })
  expect(wrong.code).toBe(3)
  expect(wrong.stdout).toContain('error CLUSTER_NOT_ELASTICSEARCH: ')
  expect(wrong.stdout).toContain('GET / of this URL is refused with status 400: no handler found')
  await using work = await folder()
  const path = join(work.path, 'ca.pem')
  await writeFile(path, 'no certificate')
  const none = await sluice(['doctor', '--ca', path], { env: lab.env })
  expect(none.code).toBe(2)
  expect(none.stdout).toContain('contains no certificate in PEM form')
})

test('advice is shown as it is written, whatever the secrets are', async () => {
  const env = { ...lab.env, STATIC_PROXY_URL: 'http://user:pass@127.0.0.1:9:9' }
  const { stdout } = await sluice(['doctor'], { env })
  expect(stdout).toContain('http://USERNAME:PASSWORD@HOST:9293')
  expect(stdout).toContain('fix:  Encode the password: node -p')
  expect(stdout.split('\n')[0]).not.toContain('no proxy')
})

test('an option that cannot be used is named as it was set', async () => {
  await using work = await folder()
  const path = join(work.path, 'key')
  await writeFile(path, 'not a\tkey')
  const { ELASTICSEARCH_API_KEY: _, ...env } = lab.env
  const { code, stdout } = await sluice(['doctor', '--api-key-file', path], { env })
  expect(code).toBe(2)
  expect(stdout).toMatch(/^ {2}FAIL +options +--api-key-file: contains/m)
  expect(stdout).toContain('error OPTION_INVALID: --api-key-file: contains')
  expect(stdout).not.toContain('target.apiKey')
})
