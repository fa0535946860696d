import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import manifest from '../../../package.json' with { type: 'json' }
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { shell, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
test('--version prints the version of the package', async () => {
  expect(await startSluice(['--version']).ended).toMatchObject({ code: 0, stdout: `${manifest.version}\n`, stderr: '' })
})

test('--help lists every command, with examples and exit codes', async () => {
  const { code, stdout, stderr } = await sluice(['--help'])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  for (const verb of ['ingest', 'doctor', 'lab', 'demo', 'verify', 'undo', 'filter', 'explain', 'config']) {
    expect(stdout).toMatch(new RegExp(`^  ${verb}\\b`, 'm'))
  }
  expect(stdout).toContain('Example: ')
  expect(stdout).toContain('Exit codes: 0 every document stored')
})

test.each(['ingest', 'doctor', 'lab', 'demo', 'verify', 'undo', 'filter', 'explain', 'config'])(
  '%s --help explains the command by example',
  async verb => {
    const { code, stdout, stderr } = await sluice([verb, '--help'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain(`Usage: sluice ${verb}`)
    expect(stdout).toContain('Examples:')
    expect((await sluice(['help', verb])).stdout).toBe(stdout)
  },
)

describe('wrong usage ends with exit code 2 and a suggestion', () => {
  const rows: readonly [string[], string][] = [
    [['ingets', 'x'], "error: sluice: unknown command 'ingets'. Did you mean ingest?"],
    [['help', 'ingets'], "error: sluice: unknown command 'ingets'. Did you mean ingest?"],
    [['help', 'nosuch'], "error: sluice: unknown command 'nosuch'\n"],
    [['serve', '--url', 'https://es.example'], 'error: --index: no index is set. Use --index NAME or SLUICE_INDEX\n'],
    [['ingest', 'x', '--indx', 'logs'], 'error: sluice ingest: unknown option --indx. Did you mean --index?'],
    [['ingest', 'x', '--ca-file', 'ca.pem'], 'error: sluice ingest: unknown option --ca-file. Did you mean --ca?'],
    [['ingest', 'x', '--quiet=1'], 'error: sluice ingest: --quiet takes no value'],
    [['ingest'], "error: sluice ingest: missing required argument 'source'"],
    [['ingest', 'x', '--index'], "error: sluice ingest: option '--index <name>' argument missing"],
    [['ingest', 'x', '--batch-bytes', '5x'], "error: --batch-bytes: '5x' is not a size"],
    [
      ['ingest', 'x', '--index', 'logs'],
      'error: --url: the cluster URL is not set. Set --url https://HOST:PORT, ELASTICSEARCH_URL',
    ],
    [['ingest', 'x', '--url', 'https://es.example'], 'error: --index: no index is set'],
    [
      ['ingest', 'x', '--url', 'es.example:9243', '--index', 'logs'],
      "error: --url: 'es.example:9243' has no scheme. Write https://es.example:9243",
    ],
    [
      ['ingest', 'x', '--url', 'https://es.example', '--index', 'Logs'],
      'error: the index name "Logs" has upper-case letters. Write logs',
    ],
    [
      ['ingest', 'x', '--url', 'https://es.example', '--index', 'logs', '--run-id', 'nightly', '--ids', 'cluster'],
      'error: --run-id: promises that a repeated run stores nothing twice, which is impossible if the cluster makes ids',
    ],
    [
      ['ingest', 'x', '--url', 'https://es.example', '--index', 'logs', '--run-id', 'nightly', '--again'],
      'error: --again: makes no new ids for a run with a name',
    ],
    [
      ['ingest', 'x', '--url', 'https://es.example', '--index', 'logs', '--dead-letters', '-'],
      "error: --dead-letters: '-' is not a file, and stdout is for the receipt",
    ],
    [
      ['explain', 'egress-partly'],
      "error: sluice explain: 'egress-partly' is not a failure code. Did you mean EGRESS_PARTLY_ALLOWED?",
    ],
    [['lab', '--register', 'third'], "error: sluice lab: option '--register <which>' argument 'third' is invalid"],
    [['config', 'extra'], 'error: sluice config: too many arguments'],
  ]
  test.each(rows)('%j', async (args, message) => {
    const { code, stdout, stderr } = await sluice(args)
    expect(stderr).toContain(message)
    expect(stderr).toMatch(/^ {2}more: /m)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  })

  test('json in the configuration file holds for its own mistakes too', async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'sluice-usage-'))
    for (const wrong of [{ bogus: 1 }, { concurrency: 0 }]) {
      await writeFile(join(cwd, 'sluice.config.json'), JSON.stringify({ json: true, ...wrong }))
      const { code, stdout } = await sluice(['doctor'], { cwd })
      expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
        code: 2,
        failure: { code: 'OPTION_INVALID' },
      })
    }
    await rm(cwd, { recursive: true })
  })

  test('with --json stdout carries the failure, alone', async () => {
    for (const [args] of rows.filter((_, at) => at % 3 === 0)) {
      const { code, stdout } = await sluice([...args.slice(0, 1), '--json', ...args.slice(1)])
      expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', failure: { exit: 2, retry: 'no' } })
      expect(code).toBe(2)
    }
  })

  test('SLUICE_JSON asks for it too', async () => {
    const { stdout } = await sluice(['ingest', 'x'], {
      env: { SLUICE_JSON: '1', ELASTICSEARCH_URL: 'https://es.example' },
    })
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', failure: { code: 'OPTION_INVALID' } })
  })

  test('no command at all shows help on stderr', async () => {
    const { code, stdout, stderr } = await sluice([])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('Usage: sluice')
  })
})

describe('a reader that goes away is no failure', () => {
  test.each([
    '$SLUICE explain | head -1',
    '$SLUICE ingest --help | head -1',
    '$SLUICE config | true',
    '$SLUICE explain --json | true',
  ])('%s', async line => {
    const { code, stderr } = await shell(line)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  })
})

test.each([
  ['as a command', (url: string) => [url]],
  ['as an index', (url: string) => ['ingest', 'a.ndjson', '--index', url]],
  ['as a number', (url: string) => ['ingest', 'a.ndjson', '--index', 'i', '--concurrency', url]],
  ['as a failure', (url: string) => ['explain', url]],
  ['as a run', (url: string) => ['runs', 'rm', url]],
  ['as addresses', (url: string) => ['ingest', 'a.ndjson', '--index', 'i', '--static-ips', url]],
])('a proxy URL given %s is not repeated with its password', async (_, args) => {
  const url = 'http://customer:s3cr3t-word@proxy.example:9293'
  for (const json of [[], ['--json']]) {
    const { code, stdout, stderr } = await sluice([...args(url), ...json], { env: { STATIC_PROXY_URL: url } })
    expect(code).toBe(2)
    expect(stdout + stderr).not.toContain('s3cr3t-word')
  }
})
