import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { environmentOfCommand, runShellCommand } from '../../../../src/cli/application/shell-command.js'
import type { Terminal } from '../../../../src/cli/terminal/terminal.js'
import { folder } from '../../../support/command/sluice.js'

const { PATH } = process.env
const never = new AbortController().signal
const run = async (command: string, more: Partial<Parameters<typeof runShellCommand>[0]> = {}) =>
  await runShellCommand({
    command,
    env: { PATH },
    account: ['{}\n'],
    timeoutMs: 600_000,
    secrets: [],
    signal: never,
    ...more,
  })

test('the command gets the account on its stdin, and no more than its environment', async () => {
  await using work = await folder()
  await mkdir(join(work.path, 'out'))
  const env = { PATH, OUT: join(work.path, 'out/account') }
  expect(
    await run('cat > "$OUT"; env >> "$OUT"', { env, account: ['{"message":', '"$(touch no)"}\n'] }),
  ).toBeUndefined()
  const written = await readFile(env.OUT, 'utf8')
  expect(written.split('\n')[0]).toBe('{"message":"$(touch no)"}')
  expect(written).not.toContain('HOME=')
})

test('a command that fails, hangs, is stopped or reads nothing is a problem of its own', async () => {
  expect(await run('echo why >&2; exit 3')).toBe('ended with exit code 3. It printed: why')
  expect(await run('sleep 600 & sleep 600', { timeoutMs: 50 })).toMatch(/^took longer than its time limit/)
  expect(await run('sleep 600', { signal: AbortSignal.abort() })).toBe('was stopped by a signal')
  expect(await run('exec 0<&-; exit 0', { account: ['x'.repeat(1_000_000)] })).toBeUndefined()
})

test('a secret at the place where the output is cut is hidden as a whole', async () => {
  const secrets = ['the-secret-of-this-run']
  const said = await run(`printf '%0490d' 0; echo the-secret-of-this-run; exit 1`, { secrets })
  expect(said).not.toContain('the-sec')
})

test('the environment of a command holds no credential and no option of Sluice', () => {
  const env = {
    PATH: '/bin',
    SLUICE_ON_FAILURE: 'sluice ingest',
    SLUICE_STATE_DIR: '/var/lib/sluice',
    ELASTICSEARCH_URL: 'https://es.example:9243',
    SERVICENOW_INSTANCE_URL: 'https://user:pass-word@sn.example',
    ELASTICSEARCH_API_KEY: 'a2V5',
    SERVICENOW_PASSWORD: 'pass-word',
    STATIC_PROXY_URL: 'http://user:pass-word@proxy.example:9293',
    OF_MINE: 'the-key-of-this-run',
    RENAMED: 'http://user:pass%40word@proxy.example:9293',
    IN_TEXT: '--proxy http://user:pass%40word@proxy.example:9293',
    COPY_OF_UNUSED: 'a2V5',
    DATABASE_URL: 'postgres://me:mine@db.example/x',
  }
  const manner = { secrets: ['the-key-of-this-run', 'user:pass%40word'] } as unknown as Terminal['manner']
  expect(environmentOfCommand({ env, manner })).toEqual({
    PATH: '/bin',
    ELASTICSEARCH_URL: 'https://es.example:9243',
    DATABASE_URL: 'postgres://me:mine@db.example/x',
  })
})
