import { describe, expect, test } from 'vitest'
import { resolveOptions } from '../../../src/cli/settings/resolve.js'
import { type OptionName, optionNames, describeOption } from '../../../src/options/describe-option.js'
import { failureOf } from '../../support/command/options-failure.js'

const value = (name: OptionName, raw: unknown) =>
  resolveOptions({ flags: { [describeOption(name).flagKey]: raw }, env: {} }).values[name]

test('every option has a flag and SLUICE_… except what the system sets for all programs', () => {
  for (const name of optionNames) {
    const { flag, env, doc } = describeOption(name)
    expect(doc).not.toBe('')
    if (name === 'httpsProxy' || name === 'noProxy') expect(flag).toBeUndefined()
    else {
      expect(flag).toMatch(/^--[a-z]+(-[a-z]+)*$/)
      expect(env[0]).toBe(`SLUICE_${flag?.slice(2).replaceAll('-', '_').toUpperCase()}`)
    }
  }
})

describe('values are read as people write them', () => {
  const rows: readonly [OptionName, unknown, unknown][] = [
    ['batchBytes', '5mb', 5_000_000],
    ['batchBytes', '512kb', 512_000],
    ['batchBytes', '5_000_000', 5_000_000],
    ['batchBytes', '1.5 MB', 1_500_000],
    ['batchBytes', '8MiB', 8_388_608],
    ['batchBytes', 2_000_000, 2_000_000],
    ['batchMs', '250', 250],
    ['batchMs', '2s', 2000],
    ['maxElapsedMs', '90m', 5_400_000],
    ['timeoutMs', '1500ms', 1500],
    ['maxRejected', '100', 100],
    ['maxRejected', '0', 0],
    ['maxRejected', '1.50%', '1.5%'],
    ['staticIps', '203.0.113.7, 203.0.113.8', ['203.0.113.7', '203.0.113.8']],
    ['op', 'INDEX', 'index'],
    ['onBlock', 'Stop', 'stop'],
    ['onBlock', 'wait', { waitMs: 1_800_000 }],
    ['onBlock', 'wait=90s', { waitMs: 90_000 }],
    ['mapping', 'infer', 'infer'],
    ['mapping', 'copy,aliases', 'copy,aliases'],
    ['dryRun', 'yes', true],
    ['dryRun', '0', false],
    ['preflightConnections', '0', 0],
    ['caFingerprint', 'ab'.repeat(32), Array.from({ length: 32 }, () => 'AB').join(':')],
  ]
  test.each(rows)('%s takes %j', (name, raw, expected) => {
    expect(value(name, raw)).toEqual(expected)
  })
})

describe('a value that cannot be used is shown with what is wrong', () => {
  const rows: readonly [OptionName, unknown, string][] = [
    [
      'batchBytes',
      '5x',
      "--batch-bytes: '5x' is not a size. Write a number of bytes, or a number and a unit, as in 5mb, 512kb or 5_000_000",
    ],
    ['batchBytes', '999', "--batch-bytes: '999' is not between 1kb and 100mb"],
    ['batchBytes', '101mb', "--batch-bytes: '101mb' is not between 1kb and 100mb"],
    [
      'maxElapsedMs',
      '30',
      "--max-elapsed: '30' is not a duration. Write a number and a unit, as in 500ms, 30s, 15m or 2h",
    ],
    ['maxElapsedMs', '30d', "--max-elapsed: '30d' is not between 1ms and 24d"],
    ['concurrency', '0', "--concurrency: '0' is not between 1 and 256"],
    ['concurrency', 'four', "--concurrency: 'four' is not a whole number"],
    ['op', 'remove', "--op: 'remove' is not one of create, index, update, upsert, delete"],
    ['idField', 'a,,b', "--id-field: 'a,,b' has a field without a name"],
    ['idSeparator', '::', `--id-separator: '::' is not one visible ASCII character other than \\ and "`],
    ['idSeparator', '\\', `--id-separator: '\\' is not one visible ASCII character other than \\ and "`],
    ['maxRejected', '101%', "--max-rejected: '101%' is neither a count such as 100 nor a share such as 1%"],
    [
      'staticIps',
      '203.0.113.7',
      "--static-ips: '203.0.113.7' is not a pair of IPv4 addresses with a comma between them",
    ],
    [
      'staticIps',
      '203.0.113.7,a.example',
      "--static-ips: '203.0.113.7,a.example' contains 'a.example', which is not an IPv4 address",
    ],
    ['staticIps', '203.0.113.7,203.0.113.7', "--static-ips: '203.0.113.7,203.0.113.7' contains the same address twice"],
    ['ipCheckUrl', 'check.example', "--ip-check-url: '***' is not an http:// or https:// URL"],
    ['ipCheckUrl', 'https:///ip', "--ip-check-url: 'https://***' is not an http:// or https:// URL"],
    ['onBlock', 'retry', "--on-block: 'retry' is not stop, wait, or wait with a duration, as in wait=30m"],
    ['onBlock', 'wait=30', `--on-block: 'wait=30' has no duration after "wait=". Write wait=90s, wait=30m or wait=2h`],
    ['onBlock', 'wait=', `--on-block: 'wait=' has no duration after "wait=". Write wait=90s, wait=30m or wait=2h`],
    ['onBlock', 'wait=25d', "--on-block: 'wait=25d' is not between wait=1ms and wait=24d"],
    ['dryRun', 'maybe', "--dry-run: 'maybe' is neither true nor false"],
    ['index', '', "--index: '' is empty"],
    [
      'deadLetters',
      '-',
      "--dead-letters: '-' is not a file, and stdout is for the receipt. Pass a file (./- for a file of that name)",
    ],
    ['index', ['a', 'b'], '--index: ["a","b"] is not a single value'],
    ['set', ['tenant'], "--set: 'tenant' is not a field and its value, as in tenant=acme or n:=5"],
    ['caFingerprint', 'ab', "--ca-fingerprint: 'ab' is not a SHA-256 fingerprint (64 hexadecimal digits)"],
  ]
  test.each(rows)('%s: %j', (name, raw, message) => {
    expect(failureOf({ flags: { [describeOption(name).flagKey]: raw }, env: {} })).toMatchObject({
      code: 'OPTION_INVALID',
      message,
    })
  })
})
