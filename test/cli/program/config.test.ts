import { execFileSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { listen } from '../../diagnosis/listeners.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { folder } from '../../support/command/sluice.js'

// Each test starts processes.
const env = {
  STATIC_PROXY_URL: 'http://user:pl4nted-proxy@proxy.example:9293',
  ELASTICSEARCH_URL: 'https://es.example:9243',
  ELASTICSEARCH_API_KEY: 'pl4nted-key',
  SLUICE_CONCURRENCY: '8',
}

test('config shows each option, its value and where it came from, and hides secrets', async () => {
  await using work = await folder()
  await writeFile(join(work.path, 'sluice.config.json'), '{"index": "logs-app", "batchBytes": "1mb", "concurrency": 2}')
  const { code, stdout, stderr } = await sluice(['config', '--op', 'index'], { cwd: work.path, env })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const rows = Object.fromEntries(stdout.split('\n').map(line => [line.split(/ +/)[0], line.split(/ {2,}/).slice(1)]))
  expect(rows).toMatchObject({
    url: ['https://es.example:9243', 'ELASTICSEARCH_URL'],
    apiKey: ['***', 'ELASTICSEARCH_API_KEY'],
    proxy: ['http://***@proxy.example:9293', 'STATIC_PROXY_URL'],
    index: ['logs-app', 'sluice.config.json'],
    op: ['index', '--op'],
    batchBytes: ['1000000', 'sluice.config.json'],
    concurrency: ['8', 'SLUICE_CONCURRENCY'],
    maxElapsedMs: ['900000', 'default'],
    cloudId: ['-', 'default'],
  })
  expect(stdout).not.toContain('pl4nted')
})

test('config --json holds the same facts', async () => {
  await using work = await folder()
  const { stdout } = await sluice(['config', '--json'], { cwd: work.path, env })
  expect(JSON.parse(stdout)).toMatchObject({
    options: {
      proxy: { value: 'http://***@proxy.example:9293', from: 'STATIC_PROXY_URL' },
      concurrency: { value: 8, from: 'SLUICE_CONCURRENCY' },
      index: { value: null, from: 'default' },
    },
    warnings: [],
  })
  expect(stdout).not.toContain('pl4nted')
})

describe('a file of options that cannot be used', () => {
  const rows: readonly [string, string][] = [
    ['{"batchByte": 1}', 'error: sluice.config.json: unknown key batchByte. Did you mean batchBytes?'],
    ['{"index": "a",\n "apiKey": "pl4nted" oops}', 'error: sluice.config.json: is not valid JSON (line 2)'],
    ['[]', 'error: sluice.config.json: is not a JSON object of options'],
    ['{"concurrency": "many"}', "error: concurrency in sluice.config.json: 'many' is not a whole number"],
  ]
  test.each(rows)('%s', async (content, message) => {
    await using work = await folder()
    await writeFile(join(work.path, 'sluice.config.json'), content)
    const { code, stdout, stderr } = await sluice(['config'], { cwd: work.path })
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain('pl4nted')
  })
})

test('a secret on the command line is warned about, and not repeated', async () => {
  const { code, stderr } = await sluice(['config', '--api-key', 'pl4nted-key'])
  expect(code).toBe(0)
  expect(stderr).toContain('warning: --api-key: secrets on the command line')
  expect(stderr).not.toContain('pl4nted')
})

test(
  'a URL of the working folder gets no credentials of the environment, unless the file is named',
  { tags: 'long' },
  async () => {
    await using work = await folder()
    let met = 0
    await using other = await listen(socket => {
      met += 1
      socket.destroy()
    })
    await writeFile(join(work.path, 'sluice.config.json'), JSON.stringify({ url: `http://127.0.0.1:${other.port}` }))
    const load = ['ingest', '-', '--index', 'logs', '--direct']
    const options = { cwd: work.path, env: { ELASTICSEARCH_API_KEY: 'pl4nted-key', SLUICE_MAX_ELAPSED: '1ms' } }
    const refused = await sluice(load, options)
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('pass --config sluice.config.json or set SLUICE_CONFIG')
    expect(met).toBe(0)
    const named = await sluice([...load, '--config', 'sluice.config.json'], options)
    expect(named.code).toBe(4)
    expect(met).toBeGreaterThan(0)
    expect((await sluice(['config', '--config', 'no.json'], options)).stderr).toContain(
      'no.json: cannot be read (ENOENT)',
    )
  },
)

test('a configuration file that Sluice finds must be a file of a usual size: a pipe would keep it waiting forever', async () => {
  await using work = await folder()
  const file = join(work.path, 'sluice.config.json')
  execFileSync('mkfifo', [file])
  const waiting = await sluice(['config'], { cwd: work.path })
  expect([waiting.code, waiting.stderr]).toEqual([2, expect.stringContaining('sluice.config.json: is no file')])
  await rm(file)
  await writeFile(file, `{"index":"${'x'.repeat(1 << 20)}"}`)
  const large = await sluice(['config'], { cwd: work.path })
  expect([large.code, large.stderr]).toEqual([2, expect.stringContaining('has more than 1,048,576 bytes')])
})

test('a configuration file that Sluice finds chooses no state folder elsewhere, and lets no addresses through', async () => {
  await using work = await folder()
  const file = join(work.path, 'sluice.config.json')
  const env = { ELASTICSEARCH_URL: 'http://127.0.0.1:1', EC_API_KEY: 'pl4nted-key', SLUICE_DIRECT: 'true' }
  await writeFile(file, JSON.stringify({ stateDir: '../elsewhere' }))
  const elsewhere = await sluice(['runs'], { cwd: work.path, env })
  expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringContaining('leads out of its folder')])
  await writeFile(file, JSON.stringify({ staticIps: '192.0.2.66,192.0.2.67', deployment: 'main' }))
  const opened = await sluice(['filter', 'create', '--yes'], { cwd: work.path, env })
  expect([opened.code, opened.stderr]).toEqual([2, expect.stringContaining('would let its addresses through')])
})
