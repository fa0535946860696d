import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAccess } from '../../../../src/cli/settings/option-files.js'
import { type OptionSources, resolveOptions } from '../../../../src/cli/settings/resolve.js'

const path = 'sluice.config.json'
const key = { ELASTICSEARCH_API_KEY: 'key' }
const url = { ELASTICSEARCH_URL: 'https://es.example' }

const instance = { SERVICENOW_INSTANCE_URL: 'https://a.example' }
const instanceLogin = { SERVICENOW_USERNAME: 'u', SERVICENOW_PASSWORD: 'x' }
const alarmLogin = { SERVICENOW_ALARM_USERNAME: 'u', SERVICENOW_ALARM_PASSWORD: 'x' }

type Sources = Partial<Omit<OptionSources, 'file'>> & { file?: Record<string, unknown>; isNamed?: boolean }

function unsafe({ file, isNamed = false, env = {}, flags = {} }: Sources) {
  return resolveOptions({ flags, env, ...(file === undefined ? {} : { file: { path, values: file, isNamed } }) }).unsafe
}

test('a state folder outside of the folder of a file that Sluice found is refused, and one inside is not', () => {
  expect(unsafe({ file: { stateDir: '/var/lib/state' } }).written?.problem).toContain('leads out of its folder')
  expect(unsafe({ file: { stateDir: '../state' } }).written?.option).toBe('stateDir in sluice.config.json')
  expect(unsafe({ file: { stateDir: 'state' } }).written).toBeUndefined()
  expect(unsafe({ file: { stateDir: '/var/lib/state' }, isNamed: true }).written).toBeUndefined()
  expect(unsafe({ file: { stateDir: '/x' }, env: { SLUICE_STATE_DIR: '/var/lib/state' } }).written).toBeUndefined()
})

test('addresses of a file that Sluice found are not let through unseen', () => {
  const file = { staticIps: '192.0.2.66,192.0.2.67' }
  expect(unsafe({ file }).allowed?.problem).toContain('let its addresses through the IP filter')
  expect(unsafe({ file, isNamed: true }).allowed).toBeUndefined()
  expect(unsafe({ file, env: { STATIC_IPS: '192.0.2.1,192.0.2.2' } }).allowed).toBeUndefined()
})

describe('a file of the working folder', () => {
  test.each<[string, Sources, string]>([
    ['the cluster', { file: { url: 'https://other.example' }, env: key }, 'url in sluice.config.json'],
    [
      'a cloud id',
      { file: { cloudId: `a:${Buffer.from('other.example$es').toString('base64')}` }, env: key },
      'cloudId in sluice.config.json',
    ],
    [
      'the cluster, for a key in a file that the environment names',
      { file: { url: 'https://other.example' }, env: { SLUICE_API_KEY_FILE: 'key.txt' } },
      'url in sluice.config.json',
    ],
    [
      'a proxy and whom to trust',
      { file: { proxy: 'http://other.example:9293', ca: 'ca.pem' }, env: { ...key, ...url } },
      'proxy in sluice.config.json',
    ],
    [
      'a proxy to a cluster that the environment reaches over plain http',
      {
        file: { proxy: 'http://other.example:9293' },
        env: { ...key, ELASTICSEARCH_URL: 'http://es.example:9200', SLUICE_ALLOW_PLAINTEXT: 'true' },
      },
      'proxy in sluice.config.json',
    ],
    [
      'a proxy to a cluster on this machine',
      { file: { proxy: 'http://127.0.0.1:3128' }, env: { ...key, ELASTICSEARCH_URL: 'http://localhost:9200' } },
      'proxy in sluice.config.json',
    ],
  ])('names %s, and credentials of the environment do not go there', async (_, sources, option) => {
    expect(unsafe(sources).cluster?.option).toBe(option)
    const { file = {}, env = {} } = sources
    const effective = resolveOptions({ flags: {}, env, file: { path, values: file } })
    await expect(readAccess(effective, async () => await Promise.resolve('secret'))).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      message: expect.stringContaining(
        `${option}: is in a configuration file that the command does not name`,
      ) as string,
    })
    expect(unsafe({ ...sources, isNamed: true })).toEqual({})
  })

  test.each<[string, Sources, string]>([
    [
      'ServiceNow',
      { file: { servicenowUrl: 'https://a.example' }, env: { SERVICENOW_PASSWORD: 'x', SERVICENOW_USERNAME: 'u' } },
      'servicenow',
    ],
    ['Elastic Cloud', { file: { adminUrl: 'https://a.example' }, env: { EC_API_KEY: 'x' } }, 'admin'],
    [
      'ServiceNow, as a proxy and whom to trust',
      { file: { proxy: 'http://other.example:9293', servicenowCa: 'ca.pem' }, env: { ...instance, ...instanceLogin } },
      'servicenow',
    ],
    [
      'ServiceNow, as a node of the proxy and whom to trust',
      { file: { nodes: 'http://other.example:9293', servicenowCa: 'ca.pem' }, env: { ...instance, ...instanceLogin } },
      'servicenow',
    ],
    [
      'ServiceNow, whose tokens an earlier login kept',
      {
        file: {
          servicenowUrl: 'https://a.example',
          servicenowClientId: 'c',
          proxy: 'http://other.example:9293',
          servicenowCa: 'ca.pem',
        },
      },
      'servicenow',
    ],
    [
      'the alarm, as the instance that it shares',
      { file: { servicenowUrl: 'https://a.example' }, env: alarmLogin },
      'alarm',
    ],
    [
      'the alarm, as a proxy and whom to trust',
      { file: { proxy: 'http://other.example:9293', servicenowCa: 'ca.pem' }, env: { ...instance, ...alarmLogin } },
      'alarm',
    ],
  ])('does not say where credentials for %s go', (_, sources, receiver) => {
    expect(Object.keys(unsafe(sources))).toContain(receiver)
    expect(unsafe({ ...sources, isNamed: true })).toEqual({})
  })

  test.each<[string, Sources]>([
    ['no credentials', { file: { url: 'https://other.example' } }],
    ['its own credentials', { file: { url: 'https://other.example', username: 'u', password: 'p' } }],
    ['credentials of the command line', { file: { url: 'https://other.example' }, flags: { apiKey: 'key' } }],
    ['a URL that the environment replaces', { file: { url: 'https://other.example' }, env: { ...key, ...url } }],
    ['an index', { file: { index: 'logs', ca: 'ca.pem' }, env: { ...key, ...url } }],
    ['an instance and its client', { file: { servicenowUrl: 'https://a.example', servicenowClientId: 'c' } }],
    ['a CA for the instance', { file: { servicenowCa: 'ca.pem' }, env: { ...instance, ...instanceLogin } }],
    [
      "the alarm's instance, if the environment names another",
      {
        file: { servicenowUrl: 'https://a.example' },
        env: { ...alarmLogin, SERVICENOW_ALARM_INSTANCE_URL: 'https://b.example' },
      },
    ],
    ['a proxy that reads nothing', { file: { proxy: 'http://other.example:9293' }, env: { ...key, ...url } }],
  ])('may have %s', (_, sources) => {
    expect(unsafe(sources)).toEqual({})
  })
})

describe('a file of the working folder and files elsewhere', () => {
  let home: string
  let cwd: string
  beforeAll(async () => {
    home = await realpath(await mkdtemp(join(tmpdir(), 'sluice-unsafe-')))
    cwd = join(home, 'unpacked')
    await mkdir(cwd)
    await writeFile(join(home, 'secret'), 'secret')
    await writeFile(join(cwd, 'key'), 'key')
    await symlink(join(home, 'secret'), join(cwd, 'link'))
    await symlink(join(home, '.profile'), join(cwd, 'dangling'))
  })
  afterAll(async () => await rm(home, { recursive: true }))

  const resolved = (file: Record<string, unknown>, isNamed = false) =>
    resolveOptions({ flags: {}, env: {}, file: { path: join(cwd, path), values: file, isNamed } }).unsafe

  test.each<[string, (at: string) => Record<string, unknown>, string]>([
    ['cluster', at => ({ url: 'https://a.example', username: 'u', passwordFile: at }), 'secret'],
    ['cluster', at => ({ url: 'https://a.example', apiKeyFile: at }), 'unpacked/link'],
    ['cluster', at => ({ url: 'https://a.example', swapAlias: 'a', indexBody: at }), 'secret'],
    ['servicenow', at => ({ servicenowUrl: 'https://a.example', servicenowPasswordFile: at }), 'secret'],
    ['admin', at => ({ adminUrl: 'https://a.example', adminKeyFile: at }), 'unpacked/../secret'],
  ])('does not send to %s what it finds outside its folder', (receiver, file, at) => {
    expect(resolved(file(join(home, at)))).toHaveProperty(receiver)
    expect(resolved(file(join(home, at)), true)).toEqual({})
    expect(resolved(file(join(cwd, 'key')))).toEqual({})
  })

  test.each(['.profile', 'unpacked/dangling', 'unpacked/link', 'none/x'])('writes no dead letters to %s', async at => {
    const values = { deadLetters: join(home, at) }
    expect(resolved(values).written?.option).toContain('deadLetters in')
    expect(resolved(values, true)).toEqual({})
    const effective = resolveOptions({ flags: {}, env: {}, file: { path: join(cwd, path), values } })
    await expect(readAccess(effective, async () => await Promise.resolve(''))).rejects.toMatchObject({
      code: 'OPTION_INVALID',
    })
  })

  test.each(['output', 'supportBundle', 'tokenFile', 'lettersFolder'])(
    'does not write as %s outside its folder',
    name => {
      expect(resolved({ [name]: join(home, '.profile') })).toHaveProperty('written')
      expect(resolved({ [name]: join(cwd, 'none', 'x') })).toEqual({})
    },
  )

  test.each(['onFailure', 'onSuccess', 'onChange', 'transform'])('runs nothing as %s', name => {
    const { written } = resolved({ [name]: join(cwd, 'run.mjs') })
    expect(written?.problem).toMatch(/would run (code|a command)\. If the file is yours, pass --config/)
    expect(resolved({ [name]: join(cwd, 'run.mjs') }, true)).toEqual({})
  })

  test.each([
    ['filesFrom', 'list.txt'],
    ['queue', 'redis://queue.example:6379'],
  ])('chooses no files to read by %s', (name, value) => {
    const { written } = resolved({ [name]: value })
    expect(written?.problem).toContain('would choose the files that Sluice reads. If the file is yours, pass --config')
    expect(resolved({ [name]: value }, true)).toEqual({})
    const values = { [name]: value, index: 'x' }
    const env = { SLUICE_QUEUE: 'redis://mine.example:6379', SLUICE_FILES_FROM: 'mine.txt' }
    // The environment is stronger.
    expect(resolveOptions({ flags: {}, env, file: { path: join(cwd, path), values } }).unsafe).toEqual({})
  })

  test('may hold the body of an index', () => {
    expect(resolved({ url: 'https://a.example', swapAlias: 'a', indexBody: '{"mappings":{}}' })).toEqual({})
  })

  test('may name a key elsewhere for a cluster that it does not name', () => {
    const file = { path: join(cwd, path), values: { apiKeyFile: join(home, 'secret') } }
    expect(resolveOptions({ flags: {}, env: url, file }).unsafe).toEqual({})
  })
})

describe('an empty variable for the proxy', () => {
  test.each(['STATIC_PROXY_URL', 'QUOTAGUARDSTATIC_URL', 'SLUICE_PROXY', 'SLUICE_PROXY_FILE'])(
    '%s is an error',
    async name => {
      const effective = resolveOptions({
        flags: {},
        env: { ...url, [name]: '', HTTPS_PROXY: 'http://office.example:3128' },
      })
      await expect(readAccess(effective, async () => await Promise.resolve(''))).rejects.toMatchObject({
        code: 'OPTION_INVALID',
        message: expect.stringContaining(`${name}: is empty`) as string,
      })
    },
  )

  test.each<[string, Sources]>([
    ['--direct is set', { flags: { direct: true }, env: { STATIC_PROXY_URL: '' } }],
    ['a flag names a proxy', { flags: { proxy: 'http://proxy.example:9293' }, env: { STATIC_PROXY_URL: '' } }],
    ['another variable names one', { env: { STATIC_PROXY_URL: '', FIXIE_URL: 'http://proxy.example:80' } }],
    ['it is not set', { env: {} }],
  ])('is none if %s', (_, sources) => {
    expect(unsafe(sources)).toEqual({})
  })
})
