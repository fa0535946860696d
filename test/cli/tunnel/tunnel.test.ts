// @module-tag long
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { ask } from '../../support/lab/lab-clients.js'
import { sluice, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
let lab: Lab
let env: Record<string, string>
beforeAll(async () => {
  lab = await startLab()
  const { SERVICENOW_INSTANCE_URL: _, ...rest } = lab.env
  env = { ...rest, SLUICE_PREFLIGHT_CONNECTIONS: '1' }
})
afterAll(async () => await lab.close())

const node = (script: string) => [process.execPath, '-e', script]

describe('sluice run', () => {
  test("gives the command the tunnel's proxy and not the real one, and ends as the command ends", async () => {
    const show = node('console.log(JSON.stringify(process.env)); console.error("own"); process.exit(7)')
    const { code, stdout, stderr } = await sluice(['run', '--', ...show], { env })
    expect(code).toBe(7)
    const given = JSON.parse(stdout) as Record<string, string>
    expect(given['HTTPS_PROXY']).toMatch(/^http:\/\/sluice:[\w-]{32}@127\.0\.0\.1:\d+$/)
    expect(given).toMatchObject({ ELASTICSEARCH_API_KEY: env['ELASTICSEARCH_API_KEY'] })
    expect(given).not.toHaveProperty('STATIC_PROXY_URL')
    expect(stdout).not.toContain(new URL(lab.line.proxy.http).password)
    expect(stderr).toMatch(/^own$/m)
    expect(stderr).toContain('opened no connection through Sluice')
    expect(stderr).toMatch(/^cluster: \d+ connections?, .* sent, .* received$/m)
  })

  test('leads curl to the cluster and nowhere else, and names what it refused', async () => {
    const curl = 'curl -s --cacert $SLUICE_CA -H "Authorization: ApiKey $ELASTICSEARCH_API_KEY"'
    const script = `${curl} $ELASTICSEARCH_URL/ && ${curl} https://elsewhere.example/`
    const { code, stdout, stderr } = await sluice(['run', '--', 'sh', '-c', script], { env })
    expect(code).not.toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({ cluster_name: expect.any(String) })
    expect(stderr).toContain('--to elsewhere.example:443')
  })

  test('names lost access if the command fails', async () => {
    const script = `setTimeout(() => {}, 60_000_000); process.on('SIGTERM', () => require('http').get(process.env.HTTPS_PROXY.replace(/\\/\\/.*@/, '//'), () => process.exit(3)).on('error', () => process.exit(4))); console.log('ready')`
    const running = startSluice(['run', '--', ...node(script)], { env })
    await running.printed('ready')
    lab.control.register('none')
    running.child.kill('SIGTERM')
    const { code, stderr } = await running.ended
    lab.control.register('both')
    // The command got the signal, and its end is that of sluice.
    expect(code).toBe(3)
    expect(stderr).toContain('EGRESS_NOT_ALLOWED')
  })

  test('starts no command if the way is closed, and says why', async () => {
    const wrong = { ...env, STATIC_PROXY_URL: env['STATIC_PROXY_URL']?.replace(/:[^:@]+@/, ':wrong@') ?? '' }
    const { code, stdout, stderr } = await sluice(['run', '--', ...node('console.log("ran")')], { env: wrong })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toContain('PROXY_AUTH_REJECTED')
    const { STATIC_PROXY_URL: _, STATIC_IPS: __, ...none } = env
    const without = await sluice(['run', '--', 'true'], { env: none })
    expect(without.stderr).toContain('a tunnel leads through the proxy, but no proxy is set')
  })
})

describe('sluice tunnel', () => {
  test('opens a port for the cluster, prints its address and its traffic, and ends on SIGTERM', async () => {
    const running = startSluice(['tunnel', '--to', '0:cluster', '--with-login', '--json'], { env })
    let line = ''
    running.child.stdout?.on('data', (chunk: string) => (line += chunk))
    await running.printed('"token"')
    const { tunnels, token } = JSON.parse(line) as { tunnels: { local: string }[]; token: string }
    const { status } = await ask(`${tunnels[0]?.local}/`, { headers: { authorization: `Bearer ${token}` } })
    expect(status).toBe(200)
    running.child.kill('SIGTERM')
    const { code, stderr } = await running.ended
    expect(code).toBe(0)
    expect(stderr).toMatch(/^cluster: \d+ connections?, .* sent, .* received$/m)
  })

  test('names a port that is in use', async () => {
    const port = new URL(lab.line.cluster.url).port
    const { code, stderr } = await sluice(['tunnel', '--to', `${port}:cluster`], { env })
    expect(code).toBe(2)
    expect(stderr).toContain(`port ${port} of this machine is in use by another program`)
  })
})
