import { expect, test } from 'vitest'
import { asTyped, sayingOf } from '../../../../src/cli/application/as-typed.js'
import { failure } from '../../../../src/base/failure/failure.js'
import { resolveOptions } from '../../../../src/cli/settings/resolve.js'

const said = sayingOf(
  resolveOptions({
    flags: { runId: 'nightly', apiKeyFile: 'key' },
    env: { SLUICE_DEAD_LETTERS: 'd', HTTPS_PROXY: 'http://p.example:1', SLUICE_INDEX: 'logs' },
    file: { path: 'sluice.config.json', values: { maxElapsedMs: '5m' } },
  }),
)

const rows: readonly [string, string, string][] = [
  ['runId', 'is odd', '--run-id: is odd'],
  ['idField', 'is odd', '--id-field: is odd'],
  ['graceMs', 'is odd', '--grace: is odd'],
  ['maxElapsedMs', 'is odd', 'maxElapsedMs in sluice.config.json: is odd'],
  ['deadLetters', 'is odd', 'SLUICE_DEAD_LETTERS: is odd'],
  ['target.apiKey', 'is odd', '--api-key-file: is odd'],
  ['target.caFingerprint', 'is odd', '--ca-fingerprint: is odd'],
  ['proxy.environmentProxy', 'is odd', 'HTTPS_PROXY: is odd'],
  ['proxy.ca', 'is odd', '--proxy-ca: is odd'],
  // What is not set is not where it could be.
  ['index', 'is not set', '--index: is not set'],
  ['run', 'names 2 runs', 'RUN: names 2 runs'],
  ['source', 'is odd', 'the inputs: is odd'],
  ['--ports contract', 'is odd', '--ports contract: is odd'],
  ['sluice runs', 'is odd', 'sluice runs: is odd'],
]
test.each(rows)('%s: %s', (option, problem, message) => {
  expect(asTyped(failure('OPTION_INVALID', { option, problem }), said).message).toBe(message)
})

test('options that changed since a run was begun are named by their flags', () => {
  const differences = ['idField was sku but is now not set', 'op was create but is now index']
  const { message } = asTyped(failure('RUN_OPTIONS_CHANGED', { what: 'the unfinished run R began', differences }), said)
  expect(message).toMatch(/--id-field was sku but is now not set, --op was create but is now index$/)
})

test('the proxy of the cluster that is read is set by an option of its own', () => {
  const closed = failure('PROXY_UNREACHABLE', { proxy: 'http://127.0.0.1:1', problem: 'ECONNREFUSED' })
  const ofOrigin = { ...closed, evidence: { ...closed.evidence, side: 'from' } }
  expect(asTyped(ofOrigin, said, 'the file p').evidence['proxySetBy']).toBe('--from-proxy')
  expect(asTyped(closed, said, 'the file p').evidence['proxySetBy']).toBe('the file p')
})

test('other failures are left as they are', () => {
  const other = failure('INPUT_NOT_FOUND', { input: 'runId' })
  expect(asTyped(other, said)).toBe(other)
})
