import { describe, expect, test } from 'vitest'
import { binary, shell, sluice, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
const print = (expression: string) => [process.execPath, '-e', `console.log(JSON.stringify(${expression}))`]

describe('lab -- COMMAND', () => {
  test('runs the command with the environment set to the lab', async () => {
    const { code, stdout } = await sluice(['lab', '--', ...print('process.env')], { env: { KEPT: 'yes' } })
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toMatchObject({
      KEPT: 'yes',
      STATIC_PROXY_URL: expect.stringMatching(/^http:\/\/.+:.+@127\.0\.0\.1:\d+$/),
      STATIC_IPS: expect.stringContaining(','),
      IP_CHECK_URL: expect.stringContaining('http'),
      ELASTICSEARCH_URL: expect.stringMatching(/^https:/),
      ELASTICSEARCH_API_KEY: expect.any(String),
      SLUICE_CA: expect.any(String),
    })
  })

  test('names the page of the lab, if it is asked for', async () => {
    const { code, stderr } = await sluice(['lab', '--console', '--', process.execPath, '-e', ''])
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^console: http:\/\/127\.0\.0\.1:\d+\/#[\w-]{32}\n$/)])
  })

  test('has another cluster with an index to move, if it is asked for', async () => {
    const from = ['--from', '$OTHER_CLUSTER_URL', '--mapping', 'copy']
    const move = ['ingest', 'elasticsearch:orders', ...from, '--index', 'orders', '--json']
    const line = [process.execPath, binary, ...move].map(word => `"${word}"`).join(' ')
    const { code, stdout, stderr } = await sluice(['lab', '--clusters', '2', '--', 'sh', '-c', line])
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) })
    expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', created: 1000, ids: { given: 1000 } })
    expect(stderr).toContain('Sluice creates orders like elasticsearch:orders: 3 fields')
  })

  test('with another cluster still loads files, which need no other cluster', async () => {
    const line = `echo '{"n":1}' | "${process.execPath}" "${binary}" ingest - --index logs --json`
    const { stdout } = await sluice(['lab', '--clusters', '2', '--', 'sh', '-c', line])
    expect(JSON.parse(stdout)).toMatchObject({ status: 'finished', created: 1 })
  })

  test('ends with its exit code', async () => {
    expect((await sluice(['lab', '--', process.execPath, '-e', 'process.exit(37)'])).code).toBe(37)
  })

  test('ends with 128+n when a signal ended it', async () => {
    expect((await sluice(['lab', '--', process.execPath, '-e', 'process.kill(process.pid, "SIGKILL")'])).code).toBe(137)
  })

  test("hands the command's own options over untouched, with and without --", async () => {
    for (const dashes of [['--'], []]) {
      const { stdout } = await sluice([
        'lab',
        ...dashes,
        ...print('process.argv.slice(1)'),
        '--',
        '--json',
        '--register',
        'x',
      ])
      expect(JSON.parse(stdout)).toEqual(['--json', '--register', 'x'])
    }
  })

  test('a command that does not exist is named, exit code 127', async () => {
    const { code, stderr } = await sluice(['lab', '--', 'no-such-command-here'])
    expect(code).toBe(127)
    expect(stderr).toContain('cannot run no-such-command-here: no such command')
  })

  test('forwards SIGTERM to the command and waits for it', async () => {
    const script =
      "process.on('SIGTERM', () => { console.log('asked to stop'); process.exit(9) }); setInterval(() => {}, 1000); console.log('ready')"
    const lab = startSluice(['lab', '--', process.execPath, '-e', script])
    await lab.printed('ready')
    lab.child.kill('SIGTERM')
    expect(await lab.ended).toMatchObject({ code: 9, stdout: 'ready\nasked to stop\n' })
  })
})

describe('lab', () => {
  test('--json prints one line with every address once all is ready, and stops on SIGTERM', async () => {
    const lab = startSluice(['lab', '--json'])
    await lab.printed('\n')
    lab.child.kill('SIGTERM')
    const { code, stdout } = await lab.ended
    expect(code).toBe(0)
    expect(stdout.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(stdout)).toMatchObject({
      proxy: {
        http: expect.any(String),
        https: expect.any(String),
        socks5: expect.any(String),
        socks5s: expect.any(String),
      },
      staticIps: [expect.any(String), expect.any(String)],
      cluster: { url: expect.any(String), apiKey: expect.any(String) },
    })
  })

  test('without --json it prints variables that a shell can take over', async () => {
    const lab = startSluice(['lab'])
    await lab.printed('Ctrl-C')
    lab.child.kill('SIGINT')
    const { code, stdout } = await lab.ended
    expect(code).toBe(0)
    const exports = stdout
      .split('\n')
      .filter(line => line.includes('export '))
      .join('\n')
    const { stdout: said } = await shell(`${exports}\necho "$STATIC_PROXY_URL"`)
    expect(said).toMatch(/^http:\/\/.+@127\.0\.0\.1:\d+\n$/)
  })
})

test('the doctor names what the lab was started with', { tags: 'long' }, async () => {
  const rows: readonly [string, number, string[]][] = [
    ['both', 0, []],
    ['first', 3, ['EGRESS_PARTLY_ALLOWED', 'SERVICENOW_PARTLY_ALLOWED']],
    ['none', 3, ['EGRESS_NOT_ALLOWED', 'SERVICENOW_ADDRESS_REFUSED']],
    ['unattached', 3, ['FILTER_NOT_ENFORCED', 'SERVICENOW_NOT_ENFORCED']],
    ['both+everyone', 3, ['FILTER_NOT_ENFORCED', 'SERVICENOW_NOT_ENFORCED']],
  ]
  for (const [register, exit, codes] of rows) {
    const doctor = ['--', process.execPath, binary, 'doctor', '--json']
    const { code, stdout } = await sluice(['lab', '--register', register, ...doctor])
    const report = JSON.parse(stdout) as { ok: boolean; findings: { code: string }[] }
    expect({ register, code, ok: report.ok, codes: report.findings.map(finding => finding.code) }).toEqual({
      register,
      code: exit,
      ok: exit === 0,
      codes,
    })
  }
})

test('demo does the main job on the lab, and shows what a missing address looks like', async () => {
  const { code, stdout, stderr } = await sluice(['demo'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toContain('5,000 read = 5,000 created, it balances')
  expect(stdout).toContain('The cluster counts 5,000 documents in demo-logs.')
  expect(stdout).toContain('sluice explain EGRESS_PARTLY_ALLOWED')
})
