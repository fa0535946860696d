import { describe, expect, test } from 'vitest'
import { readAccess } from '../../../src/cli/settings/option-files.js'
import { type OptionSources, resolveOptions } from '../../../src/cli/settings/resolve.js'
import { optionNames, describeOption } from '../../../src/options/describe-option.js'
import { withoutCredentials, queueSecrets, withoutSecrets } from '../../../src/base/secrets.js'
import { failureOf } from '../../support/command/options-failure.js'

const secret = 'pl4nted-S3cret'

describe('no message repeats a secret', () => {
  const wrong: readonly OptionSources['flags'][] = [
    { apiKey: `${secret} with blanks` },
    { apiKey: [secret, secret] },
    { apiKey: { key: secret } },
    { password: secret },
    { password: [secret] },
    { url: `elastic:${secret}@es.example` },
    { url: `elastic:${secret}` },
    { url: `elastic:p@w:${secret}` },
    { url: `ftp://elastic:${secret}@es.example` },
    { url: `https://elastic:${secret}%@es.example` },
    { url: `https://elastic:${secret}/@:es.example:x` },
    { url: [`https://elastic:${secret}@es.example`] },
    { proxy: `http://u:${secret}@p.example:9293`, requireProxy: true, direct: true },
    { proxy: [`http://u:${secret}@p.example:9293`] },
    { proxy: `http://u:${secret}@p.example:9293`, proxyFile: 'f' },
    { ipCheckUrl: [`http://u:${secret}@p.example`] },
  ]
  test.each(wrong)('%j', flags => {
    for (const sources of [
      { flags, env: {} },
      { flags: {}, env: {}, file: { path: 'f.json', values: flags } },
    ]) {
      expect(JSON.stringify(failureOf(sources))).not.toContain(secret)
    }
  })

  test('nor does a warning', () => {
    const flags = { apiKey: secret, proxy: `http://u:${secret}@p.example:9293`, url: `https://u:${secret}@es.example` }
    for (const sources of [
      { flags, env: {} },
      { flags: {}, env: {}, file: { path: 'f.json', values: flags } },
    ]) {
      const { warnings } = resolveOptions(sources)
      expect(warnings.join('\n')).not.toContain(secret)
      expect(warnings.join('\n')).toMatch(/apiKey|--api-key/)
      expect(warnings.join('\n')).toMatch(/proxy/)
    }
  })
})

test('a secret on the command line is warned about, in the environment it is not', () => {
  expect(resolveOptions({ flags: { apiKey: secret }, env: {} }).warnings).toEqual([
    '--api-key: secrets on the command line are visible in process lists and shell history. Instead, ' +
      'use the environment (ELASTICSEARCH_API_KEY) or a separate file',
  ])
  expect(resolveOptions({ flags: {}, env: { ELASTICSEARCH_API_KEY: secret } }).warnings).toEqual([])
  expect(resolveOptions({ flags: { proxy: 'http://localhost:8080' }, env: {} }).warnings).toEqual([])
})

test('everything before the last @ of a URL is hidden, encoded or not', () => {
  expect(withoutCredentials('http://u:p@ss/w@p.example:9293')).toBe('http://***@p.example:9293')
  expect(withoutCredentials('u:p@p.example:9293')).toBe('***@p.example:9293')
  expect(withoutCredentials('http://p.example:9293')).toBe('http://p.example:9293')
})

test.each([
  ['http://u:SECR', 'http://***'],
  ['http://u:SECR%40h:9293', 'http://***'],
  ['u:SECR', '***'],
  ['SECR', '***'],
  ['u:12345', '***'],
  ['http://u:SECR@h:port', 'http://***'],
  ['http://u:SECR/w', 'http://***'],
  ['socks5://[::1]:1080', 'socks5://[::1]:1080'],
  ['https://ip.example/mine?token=SECR', 'https://ip.example/mine?***'],
  ['https://ip.example?token=SECR#SECR', 'https://ip.example?***'],
  ['https://ip.example/#SECR', 'https://***'],
])('%s is shown as %s', (text, expected) => {
  expect(withoutCredentials(text)).toBe(expected)
})

test('whatever holds credentials is marked as a secret', () => {
  const secrets = optionNames.filter(name => describeOption(name).secret !== undefined)
  const cluster = ['url', 'apiKey', 'password', 'proxy', 'ipCheckUrl', 'httpsProxy']
  const instance = [
    'servicenowUrl',
    'servicenowApiKey',
    'servicenowPassword',
    'servicenowClientSecret',
    'servicenowRefreshToken',
  ]
  const others = [
    'serveToken',
    'tunnelToken',
    'alarmUrl',
    'alarmPassword',
    'alarmClientSecret',
    'nodes',
    'queue',
    'adminUrl',
    'adminKey',
  ]
  const other = ['sourceToken', 'from', 'fromApiKey', 'fromPassword', 'fromProxy']
  expect(secrets).toEqual([...cluster, ...other, ...instance, ...others])
})

describe('files of secrets', () => {
  const files: Record<string, string> = {
    key: `${secret}\n`,
    empty: ' \n',
    proxy: `http://u:${secret}@p.example:9293\r\n`,
    'ca.pem': 'PEM\n',
  }
  const readFile = async (path: string) => {
    const content = files[path]
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' })
    return content
  }

  test('are read without their last line end', async () => {
    const effective = resolveOptions({ flags: { apiKeyFile: 'key', proxyFile: 'proxy', ca: 'ca.pem' }, env: {} })
    expect(await readAccess(effective, readFile)).toEqual({
      apiKey: secret,
      ca: 'PEM',
      proxy: { url: `http://u:${secret}@p.example:9293`, origin: 'the file proxy' },
    })
  })

  test.each([
    ['missing', '--api-key-file: cannot read missing: no such file'],
    ['empty', '--api-key-file: empty is empty'],
  ])('%s: the path and the reason are named', async (path, message) => {
    const effective = resolveOptions({ flags: { apiKeyFile: path }, env: {} })
    await expect(readAccess(effective, readFile)).rejects.toMatchObject({ code: 'OPTION_INVALID', message })
  })

  test.each([
    ['PROXIMO_URL', 'u:p@h.example', 'http://u:p@h.example:80'],
    ['PROXIMO_URL', 'u:p@h.example:80', 'http://u:p@h.example:80'],
    ['PROXIMO_URL', 'https://u:p@h.example:443', 'https://u:p@h.example:443'],
    ['FIXIE_URL', 'u:p@h.example:80', 'u:p@h.example:80'],
  ])('%s: %s is read as %s', async (origin, said, url) => {
    const effective = resolveOptions({ flags: {}, env: { [origin]: said } })
    expect((await readAccess(effective, readFile)).proxy).toEqual({ url, origin })
  })

  test('the proxy keeps the name of who said it', async () => {
    const effective = resolveOptions({ flags: {}, env: { FIXIE_URL: 'http://u:p@fixie.example:80' } })
    expect((await readAccess(effective, readFile)).proxy).toEqual({
      url: 'http://u:p@fixie.example:80',
      origin: 'FIXIE_URL',
    })
  })
})

const queues = [
  `redis://user:${secret}@queue.example:6379`,
  `redis://queue.example:6379?password=${secret}`,
  `rediss://queue.example/0?family=6&sentinelPassword=${secret}`,
  `postgres://queue.example/sluice?user=sluice&password=${secret}&sslmode=require`,
]

test.each(queues)('the password of a queue is hidden, wherever it stands in its URL: %s', url => {
  expect(withoutCredentials(url)).not.toContain(secret)
  expect(withoutSecrets(`cannot use ${url}: no answer`, [])).toMatch(/\*\*\*.* no answer$/)
  expect(withoutSecrets(`cannot use ${url}: no answer`, [])).not.toContain(secret)
  expect(withoutSecrets(`WRONGPASS ${secret}`, queueSecrets(url))).toBe('WRONGPASS ***')
  expect(resolveOptions({ flags: { queue: url }, env: {} }).warnings.join()).toContain('SLUICE_QUEUE')
})

test('the encoded password of a queue is hidden in both forms, and a URL without one stays readable', () => {
  const secrets = queueSecrets('redis://queue.example?password=pl4nted%2Fword')
  expect(withoutSecrets('pl4nted/word or pl4nted%2Fword', secrets)).toBe('*** or ***')
  expect(queueSecrets('redis://queue.example:6379?family=6')).toEqual([])
  expect(resolveOptions({ flags: { queue: 'redis://queue.example:6379?family=6' }, env: {} }).warnings).toEqual([])
})
