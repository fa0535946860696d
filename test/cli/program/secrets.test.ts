import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Lab, startLab } from '../../../src/lab/index.js'
import { longUnless } from '../../support/long.js'
import { sluiceHere as sluice } from '../../support/command/in-process.js'
import { type Folder, type Surroundings, folder, startSluice } from '../../support/command/sluice.js'

// Each test starts processes.
const apiKey = Buffer.from('key-id:pl4nted-api-key').toString('base64')
const password = 'pl4nted:p@ss/w%rd'
const longKey = Buffer.from('VuaCfGcBCdbkQm-e5aOx:pl4nted-key-of-usual-length').toString('base64')
const login = (username: string, secret: string) => ({
  ELASTICSEARCH_USERNAME: username,
  ELASTICSEARCH_PASSWORD: secret,
})
const proxyPassword = 'pl4nted#proxy@p%ss'
const proxyAt = (address: string) => `http://proxy-user:${encodeURIComponent(proxyPassword)}@${address}`
const clusterAt = (address: string) => `https://elastic:${encodeURIComponent(password)}@${address}`

/** Every form in which a secret could slip out: a part of it, as given, encoded for a URL, as sent in a header, in JSON. */
const forms = [
  apiKey,
  longKey,
  'pl4nted',
  'ss/w',
  'w%rd',
  'p%ss',
  ...[password, proxyPassword].flatMap(one => [
    one,
    encodeURIComponent(one),
    encodeURI(one),
    JSON.stringify(one).slice(1, -1),
    Buffer.from(`elastic:${one}`).toString('base64'),
    Buffer.from(`proxy-user:${one}`).toString('base64'),
  ]),
]

let lab: Lab
let work: Folder
beforeAll(async () => {
  lab = await startLab({ register: 'both', ports: 'random' })
  work = await folder()
  await writeFile(join(work.path, 'in.ndjson'), '{"a":1}\nnot json\n')
})
afterAll(async () => {
  await work[Symbol.asyncDispose]()
  await lab.close()
})

/** Options that work but for the credentials planted over them. */
const inLab = () => {
  const { SLUICE_CA: ca = '' } = lab.env
  return { ELASTICSEARCH_URL: lab.line.cluster.url, SLUICE_CA: ca, IP_CHECK_URL: lab.line.ipCheckUrl }
}
const proxyHost = () => new URL(lab.line.proxy.http).host
const clusterHost = () => new URL(lab.line.cluster.url).host

type Row = () => { readonly flags?: string[]; readonly env?: Record<string, string>; readonly file?: unknown }

const rows: readonly [string, Row][] = [
  ['an API key in the environment', () => ({ env: { ...lab.env, ELASTICSEARCH_API_KEY: apiKey } })],
  ['an API key on the command line', () => ({ flags: ['--api-key', apiKey], env: lab.env })],
  [
    'a password in the place of the user name',
    () => ({ env: { ...inLab(), STATIC_PROXY_URL: lab.line.proxy.http, ...login(password, 'elastic') } }),
  ],
  [
    'an API key in the place of the user name',
    () => ({ env: { ...inLab(), STATIC_PROXY_URL: lab.line.proxy.http, ...login(longKey, 'elastic') } }),
  ],
  [
    'an API key in the place of the password',
    () => ({ env: { ...inLab(), STATIC_PROXY_URL: lab.line.proxy.http, ...login('elastic', longKey) } }),
  ],
  [
    'an API key in the file of options',
    () => ({ env: { ...inLab(), STATIC_PROXY_URL: lab.line.proxy.http }, file: { apiKey } }),
  ],
  ['an API key with a blank', () => ({ env: { ...lab.env, ELASTICSEARCH_API_KEY: `${apiKey} ` } })],
  [
    'a password in the environment',
    () => ({
      env: {
        ...inLab(),
        STATIC_PROXY_URL: lab.line.proxy.http,
        ELASTICSEARCH_USERNAME: 'elastic',
        ELASTICSEARCH_PASSWORD: password,
      },
    }),
  ],
  [
    'a password on the command line',
    () => ({ flags: ['--username', 'elastic', '--password', password], env: lab.env }),
  ],
  ['a password without a user name', () => ({ env: { ...inLab(), ELASTICSEARCH_PASSWORD: password } })],
  [
    'a password in the cluster URL',
    () => ({ flags: ['--url', clusterAt(clusterHost())], env: { ...inLab(), STATIC_PROXY_URL: lab.line.proxy.http } }),
  ],
  [
    'a password in a cluster URL without scheme',
    () => ({ flags: ['--url', clusterAt(clusterHost()).slice(8)], env: lab.env }),
  ],
  [
    'an unencoded password in the cluster URL',
    () => ({ flags: ['--url', `https://elastic:${password}@${clusterHost()}`], env: lab.env }),
  ],
  ['a wrong proxy password', () => ({ env: { ...lab.env, STATIC_PROXY_URL: proxyAt(proxyHost()) } })],
  ['a proxy password on the command line', () => ({ flags: ['--proxy', proxyAt(proxyHost())], env: lab.env })],
  [
    'an unencoded proxy password',
    () => ({ env: { ...lab.env, STATIC_PROXY_URL: `http://proxy-user:${proxyPassword}@${proxyHost()}` } }),
  ],
  ['a proxy URL without port', () => ({ env: { ...lab.env, STATIC_PROXY_URL: proxyAt('127.0.0.1') } })],
  ['a proxy URL with the SOCKS port', () => ({ env: { ...lab.env, STATIC_PROXY_URL: proxyAt('127.0.0.1:1080') } })],
  ['a proxy URL that is the cluster', () => ({ env: { ...lab.env, STATIC_PROXY_URL: proxyAt(clusterHost()) } })],
  [
    'a proxy that is not there',
    () => ({ env: { ...lab.env, STATIC_PROXY_URL: proxyAt('127.0.0.1:9'), SLUICE_MAX_ELAPSED: '1ms' } }),
  ],
  [
    'a proxy URL in HTTPS_PROXY',
    () => ({ env: { ...inLab(), ELASTICSEARCH_API_KEY: apiKey, HTTPS_PROXY: proxyAt(proxyHost()) } }),
  ],
  [
    'a proxy URL that NO_PROXY contradicts',
    () => ({ env: { ...lab.env, STATIC_PROXY_URL: proxyAt(proxyHost()), NO_PROXY: '127.0.0.1' } }),
  ],
  ['a misspelled flag with a value', () => ({ flags: [`--api-kye=${apiKey}`], env: lab.env })],
  [
    'a flag where it does not belong',
    () => ({ flags: ['--ids', apiKey.slice(0, 3), '--proxy', proxyAt(proxyHost())], env: lab.env }),
  ],
]

const commands = [
  ['ingest', 'in.ndjson', '--index', 'secrets'],
  ['doctor', '--json'],
  ['ingest', 'in.ndjson', '--index', 'secrets', '--json', '--quiet'],
  ['config'],
]

for (const [at, [name, row]] of rows.entries())
  test(`${name} stands in no output and no file`, longUnless(at % 3 === 0), async () => {
    await standsNowhere(row, commands.slice(0, 2))
  })

test.each(rows)('%s stands nowhere else', { tags: 'long' }, async (_, row) => {
  await standsNowhere(row, commands.slice(2))
})

async function standsNowhere(row: Row, some: typeof commands): Promise<void> {
  const { flags = [], env = {}, file } = row()
  const config = join(work.path, 'sluice.config.json')
  await writeFile(config, JSON.stringify(file ?? {}))
  const surroundings: Surroundings = { cwd: work.path, env: { ...env, SLUICE_TIMEOUT: '5s' } }
  const ended = await Promise.all(some.map(async command => await sluice([...command, ...flags], surroundings)))
  for (const [at, { code, stdout, stderr }] of ended.entries()) {
    expect(code, `${some[at]?.join(' ')}: ${stderr}`).not.toBe(70)
    expectNone(stdout)
    expectNone(stderr)
  }
  for (const name of await readdir(work.path)) {
    if (name !== 'sluice.config.json') expectNone(await readFile(join(work.path, name), 'utf8'))
  }
}

test('secrets in files of their own stand nowhere else', { tags: 'long' }, async () => {
  await using own = await folder()
  await using run = await folder()
  const paths = { key: join(own.path, 'key'), proxy: join(own.path, 'proxy') }
  await writeFile(paths.key, `${apiKey}\n`)
  await writeFile(paths.proxy, `${proxyAt(proxyHost())}\n`)
  await writeFile(join(run.path, 'in.ndjson'), '{"a":1}\n')
  for (const command of commands) {
    const flags = ['--api-key-file', paths.key, '--proxy-file', paths.proxy]
    const { code, stdout, stderr } = await startSluice([...command, ...flags], { cwd: run.path, env: inLab() }).ended
    expect(code, stderr).toBe(command[0] === 'config' ? 0 : 3)
    expectNone(stdout)
    expectNone(stderr)
  }
  expect(await readdir(run.path)).toEqual(['in.ndjson'])
})

function expectNone(text: string): void {
  for (const form of forms) expect(text).not.toContain(form)
}
