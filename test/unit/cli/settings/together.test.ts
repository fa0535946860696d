import { describe, expect, test } from 'vitest'
import { cloudUrl } from '../../../../src/base/addresses.js'
import { requireOptions, resolveOptions } from '../../../../src/cli/settings/resolve.js'
import { failureOf } from '../../../support/command/options-failure.js'

const cloudId =
  'cluster:dXMtZWFzdC0xLmF3cy5mb3VuZC5pbyQ0ZmE4ODIxZTc1NjM0MDMyYmVkMWNmMjIxMTBlMmY5NyQ0ZmE4ODIxZTc1NjM0MDMyYmVkMWNmMjIxMTBlMmY5Ng=='
const deployment = 'https://4fa8821e75634032bed1cf22110e2f97.us-east-1.aws.found.io'

describe('options that contradict each other', () => {
  const rows: readonly [Record<string, unknown>, string][] = [
    [{ url: 'https://es.example', cloudId }, '--url: cannot be combined with --cloud-id'],
    [{ apiKey: 'k', apiKeyFile: 'f' }, '--api-key: cannot be combined with --api-key-file'],
    [{ username: 'u', password: 'p', passwordFile: 'f' }, '--password: cannot be combined with --password-file'],
    [{ proxy: 'http://p.example:1', proxyFile: 'f' }, '--proxy: cannot be combined with --proxy-file'],
    [{ proxy: 'http://p.example:1', direct: true }, '--direct: cannot be combined with --proxy'],
    [{ requireProxy: true, direct: true }, '--direct: cannot be combined with --require-proxy'],
    [{ username: 'u' }, '--username: also needs --password or --password-file'],
    [{ password: 'p' }, '--password: also needs --username'],
    [{ passwordFile: 'f' }, '--password-file: also needs --username'],
    [{ cert: 'c.pem' }, '--cert: also needs --key'],
    [{ key: 'k.pem' }, '--key: also needs --cert'],
    [{ ids: 'field' }, "--ids: is 'field' and needs --id-field"],
    [{ idField: 'sku' }, "--id-field: needs --ids 'field' or 'hash', not 'run'"],
    [{ ids: 'hash' }, "--ids: is 'hash' and needs --id-field"],
    [{ ids: 'field', idField: 'sku', idSeparator: '-' }, '--id-separator: needs several fields in --id-field'],
    [{ op: 'update' }, "--op: is 'update', so each line must name a document. Set --ids to 'field' or 'hash'"],
    [
      { op: 'delete', ids: 'field', idField: 'id', swapAlias: 'a' },
      "--op: is 'delete', but --swap-alias fills a new, empty index",
    ],
    [
      { op: 'upsert', ids: 'field', idField: 'id', pipeline: 'p' },
      "--pipeline: processes only whole documents, so it does not work with --op 'upsert'",
    ],
    [{ pick: 'a.b', format: 'ndjson' }, '--pick: selects an array inside a JSON document, but the format is ndjson'],
    [{ apiKey: 'a b' }, '--api-key: contains a space or another character that no API key has. Copy the encoded form'],
  ]
  test.each(rows)('%j', (flags, message) => {
    expect(failureOf({ flags, env: {} })).toMatchObject({ code: 'OPTION_INVALID', message })
  })
})

describe('a stronger source replaces its rival', () => {
  test('--cloud-id replaces ELASTICSEARCH_URL', () => {
    const { values, origins } = resolveOptions({ flags: { cloudId }, env: { ELASTICSEARCH_URL: 'https://es.example' } })
    expect(values.url).toBe(deployment)
    expect(origins.url).toBe('--cloud-id')
  })

  test('--username with a password file replaces ELASTICSEARCH_API_KEY', () => {
    const { values, warnings } = resolveOptions({
      flags: { username: 'u', passwordFile: 'f' },
      env: { ELASTICSEARCH_API_KEY: 'k' },
    })
    expect(values).toMatchObject({ username: 'u', passwordFile: 'f', apiKey: undefined })
    expect(warnings).toEqual([])
  })

  test('an API key wins over a user name from the same source, and says so', () => {
    const { values, warnings } = resolveOptions({
      flags: {},
      env: { ELASTICSEARCH_API_KEY: 'k', ELASTICSEARCH_USERNAME: 'u', ELASTICSEARCH_PASSWORD: 'p' },
    })
    expect(values).toMatchObject({ username: undefined, password: undefined, apiKey: 'k' })
    expect(warnings).toEqual([
      'both an API key and a user name or password are set. Sluice uses the API key and ignores user name and password',
    ])
  })

  test('--proxy replaces SLUICE_DIRECT', () => {
    const { values } = resolveOptions({ flags: { proxy: 'http://p.example:9293' }, env: { SLUICE_DIRECT: '1' } })
    expect(values).toMatchObject({ direct: false, proxy: 'http://p.example:9293' })
  })
})

describe('the cluster URL', () => {
  const rows: readonly [string, string][] = [
    ['es.example:9243', "--url: 'es.example:9243' has no scheme. Write https://es.example:9243"],
    ['localhost:9200', "--url: 'localhost:9200' has no scheme. Write https://localhost:9200"],
    ['ftp://es.example', '--url: the scheme is ftp://, not https:// or http://'],
    ['https://', '--url: is not a URL. Write https://HOST:PORT'],
    [
      'https://elastic:p@ss/word@es.example',
      '--url: has an @ after its host. In credentials, write / as %2F and @ as %40',
    ],
    ['https://es.example/?pretty', '--url: has a query or fragment. Write only https://HOST:PORT'],
    ['https://es.example/#', '--url: has a query or fragment. Write only https://HOST:PORT'],
    ['https:///es.example', '--url: has no host after its two slashes. Write https://HOST:PORT'],
    ['https://\\es.example', '--url: has no host after its two slashes. Write https://HOST:PORT'],
    ['https:/es.example', '--url: has no scheme. Write https://HOST:PORT'],
    ['http:es.example', '--url: has no scheme. Write https://HOST:PORT'],
    ['"https://es.example"', `--url: '***' has quotes around it. Remove the quotes`],
    ['“https://es.example”', `--url: '***' has quotes around it. Remove the quotes`],
    [cloudId, '--url: is a cloud id. Pass it with --cloud-id (ELASTICSEARCH_CLOUD_ID)'],
    [
      'https://cloud.elastic.co/deployments/4fa8',
      '--url: leads to the console of Elastic Cloud. Copy the Elasticsearch endpoint from the Elastic Cloud console',
    ],
    [
      'https://kibana.example/s/ops/app/home',
      '--url: leads to a page of Kibana. Copy the Elasticsearch endpoint from the Elastic Cloud console',
    ],
    ['https://es.exam\nple', '--url: contains whitespace. Write https://HOST:PORT, and a space in credentials as %20'],
    [
      'https://elastic:pass\\word@es.example',
      '--url: has a backslash. Write https://HOST:PORT, and \\ in credentials as %5C',
    ],
  ]
  test.each(rows)('%s is refused', (url, message) => {
    expect(failureOf({ flags: { url }, env: {} })).toMatchObject({ code: 'OPTION_INVALID', message })
  })

  test('credentials inside it become user name and password, with a warning', () => {
    const { values, origins, warnings } = resolveOptions({
      flags: {},
      env: { ELASTICSEARCH_URL: 'https://elastic:p%40ss@es.example:9243/' },
    })
    expect(values).toMatchObject({ url: 'https://es.example:9243', username: 'elastic', password: 'p@ss' })
    expect(origins.password).toBe('ELASTICSEARCH_URL')
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).not.toContain('p@ss')
  })

  test('a path in front of the cluster is kept', () => {
    expect(resolveOptions({ flags: { url: 'http://es.example/search/' }, env: {} }).values.url).toBe(
      'http://es.example/search',
    )
  })
})

describe('a cloud id', () => {
  const encode = (text: string) => `name:${Buffer.from(text).toString('base64')}`

  test('holds the URL of the deployment', () => {
    expect(cloudUrl(cloudId)).toBe(`${deployment}:443`)
  })

  test('may hold a port of its own', () => {
    expect(cloudUrl(encode('eu.example:9243$abc'))).toBe('https://abc.eu.example:9243')
  })

  test.each([
    ['no colon'],
    ['name:'],
    ['name:%%'],
    [encode('eu.example$')],
    [encode('eu.example$$kibana')],
    [encode('a:b:c$d')],
  ])('%s is none', text => {
    expect(cloudUrl(text)).toBeUndefined()
    expect(failureOf({ flags: { cloudId: text }, env: {} }).code).toBe('OPTION_INVALID')
  })
})

describe('values that were pasted into the wrong place, or with their quotes', () => {
  const secret = 's3cret'
  test.each([
    [{ ELASTICSEARCH_API_KEY: `"${secret}=="` }, 'ELASTICSEARCH_API_KEY: has quotes around it'],
    [{ ELASTICSEARCH_USERNAME: `elastic:${secret}` }, 'ELASTICSEARCH_USERNAME: contains a ":"'],
    [{ ELASTICSEARCH_CLOUD_ID: `https://elastic:${secret}@es.example` }, 'ELASTICSEARCH_CLOUD_ID: is a URL'],
    [{ ELASTICSEARCH_CLOUD_ID: secret }, 'ELASTICSEARCH_CLOUD_ID: is not a cloud id'],
    [{ SERVICENOW_INSTANCE_URL: `'https://x:${secret}@dev.example'` }, 'SERVICENOW_INSTANCE_URL: '],
  ])('%j is refused, and not repeated', (env, says) => {
    const { code, message } = failureOf({ flags: {}, env: { ELASTICSEARCH_PASSWORD: 'p', ...env } })
    expect(code).toBe('OPTION_INVALID')
    expect(message).toContain(says)
    expect(message).not.toContain(secret)
  })

  test('a password may have quotes, but that is said', () => {
    const env = { ELASTICSEARCH_USERNAME: 'elastic', ELASTICSEARCH_PASSWORD: '"p"' }
    const { values, warnings } = resolveOptions({ flags: {}, env })
    expect(values.password).toBe('"p"')
    expect(warnings.join()).toContain('ELASTICSEARCH_PASSWORD: the value has quotes around it')
  })
})

describe('an index name that Elasticsearch refuses', () => {
  const rows: readonly [string, string][] = [
    ['Logs', 'has upper-case letters. Write logs'],
    ['_logs', 'starts with _'],
    ['-logs', 'starts with -'],
    ['+logs', 'starts with +'],
    ['logs*', 'contains *'],
    ['my logs', 'contains a space'],
    ['a:b', 'contains :'],
    ['..', 'is not a name'],
    ['é'.repeat(128), 'has 256 bytes, 255 are allowed'],
  ]
  test.each(rows)('%s', (index, problem) => {
    expect(failureOf({ flags: { index }, env: {} })).toMatchObject({
      code: 'INDEX_NAME_INVALID',
      evidence: { index, problem },
    })
  })

  test.each([['logs-app-default'], ['.hidden'], ['日本'], ['a'.repeat(255)]])('%s is accepted', index => {
    expect(resolveOptions({ flags: { index }, env: {} }).values.index).toBe(index)
  })
})

test('a missing option that a command needs is named', () => {
  const effective = resolveOptions({ flags: { url: 'https://es.example' }, env: {} })
  expect(() => requireOptions(effective, ['url'])).not.toThrow()
  expect(() => requireOptions(effective, ['url', 'index'])).toThrow(
    '--index: no index is set. Use --index NAME or SLUICE_INDEX',
  )
})
