import { expect, test } from 'vitest'
import { knownSecrets, masked } from '../../../src/base/secrets.js'
import { follow } from '../../../src/cli/terminal/progress.js'
import { showProgress } from '../../../src/cli/terminal/show-progress.js'
import { sayError } from '../../../src/cli/show/say-error.js'
import type { Terminal } from '../../../src/cli/terminal/terminal.js'
import { failure, SluiceError } from '../../../src/base/failure/failure.js'

const base64 = (text: string) => Buffer.from(text).toString('base64')
const apiKey = base64('key-id:pl4nted-key')
const forms = [
  apiKey,
  'pl4nted-key',
  'pl4nted p@ss',
  'pl4nted%20p%40ss',
  base64('elastic:pl4nted p@ss'),
  'pr0xy:p@ss',
  'pr0xy%3Ap%40ss',
  base64('user@corp:pr0xy:p@ss'),
]
const secrets = knownSecrets(
  { apiKey, username: 'elastic', password: 'pl4nted p@ss', proxy: { url: proxyUrl() } },
  undefined,
)
const repeating = new SluiceError(
  failure('REQUEST_REFUSED', { cluster: 'https://es.example', status: 400, reason: `answered ${forms.join(' | ')}` }),
)

function proxyUrl(): string {
  return 'http://user%40corp:pr0xy%3Ap%40ss@proxy.example:9293'
}

function terminal(json: boolean) {
  const printed = { out: '', err: '' }
  const fake = {
    manner: { json, secrets },
    stderr: { isTTY: false, columns: 80 },
    out: (text: string) => (printed.out += text),
    err: (text: string) => (printed.err += text),
  }
  return { printed, terminal: fake as unknown as Terminal }
}

test.each(forms)('%s is masked in the message and the evidence of any failure', form => {
  const { printed, terminal: json } = terminal(true)
  sayError(json, repeating)
  expect(JSON.parse(printed.out)).toMatchObject({ failure: { code: 'REQUEST_REFUSED' } })
  expect(printed.out).toContain('answered *** | ***')
  expect(`${printed.out}${printed.err}`).not.toContain(form)
})

test('notes of a run are masked, and waits are rounded', async () => {
  const { printed, terminal: shown } = terminal(false)
  using progress = showProgress(shown, { quiet: false })
  follow(progress)({ type: 'retry', failure: repeating.failure, documents: 2, waitMs: 226.952_122 })
  expect(printed.err).toContain('. Retrying 2 documents in 227 ms')
  for (const form of forms) expect(printed.err).not.toContain(form)
})

test('one full stop stands between a message and what follows it while access is lost', async () => {
  const { printed, terminal: shown } = terminal(false)
  using progress = showProgress(shown, { quiet: true })
  const message = 'blocked. Run `sluice doctor`.'
  const blocked = { code: 'EGRESS_NOT_ALLOWED', message, evidence: {}, exit: 3, retry: 'no' } as const
  const event = { failure: blocked, since: 'noon', waitedMs: 0 } as const
  follow(progress)({ type: 'blocked', ...event, leftMs: 60_000, nextProbeMs: 1000 })
  expect(printed.err).toContain('waiting for access since noon: blocked. Run `sluice doctor`. Next test in 1.0 s')
})

test('everything but text stays as it is', () => {
  const value = { list: ['a', 'secret'], count: 4711, none: undefined, yes: true }
  expect(masked(value, ['secret', '4711'])).toEqual({ list: ['a', '***'], count: 4711, none: undefined, yes: true })
})
