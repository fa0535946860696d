import { describe, expect, test } from 'vitest'
import { resolveOptions } from '../../../../src/cli/settings/resolve.js'
import { failureOf } from '../../../support/command/options-failure.js'

describe('the flag beats the environment beats the file beats the default, and the origin is kept', () => {
  const flags = { index: 'from-flag' }
  const env = { SLUICE_INDEX: 'from-environment' }
  const file = { path: 'sluice.config.json', values: { index: 'from-file' } }
  const rows = [
    { sources: { flags, env, file }, value: 'from-flag', origin: '--index' },
    { sources: { flags: {}, env, file }, value: 'from-environment', origin: 'SLUICE_INDEX' },
    { sources: { flags: {}, env: { SLUICE_INDEX: '' }, file }, value: 'from-file', origin: 'sluice.config.json' },
    { sources: { flags: {}, env: {} }, value: undefined, origin: 'default' },
  ]
  test.each(rows)('$origin', ({ sources, value, origin }) => {
    const { values, origins } = resolveOptions(sources)
    expect(values.index).toBe(value)
    expect(origins.index).toBe(origin)
  })

  test('a switch set in the environment stays set where no flag is given', () => {
    expect(resolveOptions({ flags: {}, env: { SLUICE_DRY_RUN: '1' } }).values.dryRun).toBe(true)
  })
})

describe('the proxy is the first of the names that is set', () => {
  const names = [
    'SLUICE_PROXY',
    'STATIC_PROXY_URL',
    'QUOTAGUARDSTATIC_URL',
    'QUOTAGUARDSHIELD_URL',
    'FIXIE_URL',
    'PROXIMO_URL',
  ]
  test.each(names.map((name, index) => [name, names.slice(index)] as const))('%s', (name, set) => {
    const env = Object.fromEntries(
      set.map(one => [one, `http://u:p@${one.toLowerCase().replaceAll('_', '-')}.example:9293`]),
    )
    const { values, origins, warnings } = resolveOptions({ flags: {}, env })
    expect(values.proxy).toContain(name.toLowerCase().replaceAll('_', '-'))
    expect(origins.proxy).toBe(name)
    expect(warnings).toEqual([])
  })

  test('HTTPS_PROXY and NO_PROXY stay options of their own, in either case', () => {
    const { values, origins } = resolveOptions({
      flags: {},
      env: { https_proxy: 'http://p.example:3128', NO_PROXY: 'a.example' },
    })
    expect(values).toMatchObject({ proxy: undefined, httpsProxy: 'http://p.example:3128', noProxy: 'a.example' })
    expect(origins.httpsProxy).toBe('https_proxy')
  })
})

test('a duration has its name in the library as a key of the file, and the key that it had before', () => {
  const from = (values: object) => resolveOptions({ flags: {}, env: {}, file: { path: 'f.json', values } })
  expect(from({ timeoutMs: 1500, graceMs: '5s' }).values).toMatchObject({ timeoutMs: 1500, graceMs: 5000 })
  expect(from({ timeout: '3s', maxElapsed: '90m' }).values).toMatchObject({ timeoutMs: 3000, maxElapsedMs: 5_400_000 })
  expect(failureOf({ flags: {}, env: {}, file: { path: 'f.json', values: { timeout: 1500 } } }).message).toMatch(
    /^timeout in f\.json: 1500 is not a duration/,
  )
})

describe('unknown names', () => {
  test('a key of the file that is no option is an error that names the nearest one', () => {
    const file = { path: 'sluice.config.json', values: { batchByte: '1mb' } }
    expect(failureOf({ flags: {}, env: {}, file }).message).toBe(
      'sluice.config.json: unknown key batchByte. Did you mean batchBytes?',
    )
  })

  test('both spellings of one option are an error', () => {
    const file = { path: 'sluice.config.json', values: { timeout: '5s', timeoutMs: 5000 } }
    expect(failureOf({ flags: {}, env: {}, file }).message).toBe(
      'sluice.config.json: timeout and timeoutMs are the same option. Keep only timeoutMs',
    )
  })

  test('flag spelling in the file is an error that names the key', () => {
    const file = { path: 'sluice.config.json', values: { 'dead-letters': 'x' } }
    expect(failureOf({ flags: {}, env: {}, file }).message).toContain('Did you mean deadLetters?')
  })

  test('a file that is not an object is an error', () => {
    expect(failureOf({ flags: {}, env: {}, file: { path: 'f.json', values: [1] } }).message).toBe(
      'f.json: is not a JSON object of options',
    )
  })

  test('an option that only the system sets has no place in the file', () => {
    expect(failureOf({ flags: {}, env: {}, file: { path: 'f.json', values: { noProxy: '*' } } }).code).toBe(
      'OPTION_INVALID',
    )
  })

  test('a misspelled SLUICE_ variable is warned about', () => {
    expect(resolveOptions({ flags: {}, env: { SLUICE_BATCH_BYTE: '1mb' } }).warnings).toEqual([
      'SLUICE_BATCH_BYTE is not an option, so Sluice ignores it. Did you mean SLUICE_BATCH_BYTES?',
    ])
  })
})
