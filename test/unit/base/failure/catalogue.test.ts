import { describe, expect, test } from 'vitest'
import {
  causesFor,
  exampleOf,
  explain,
  type FailureCode,
  failureCodes,
  fixesFor,
  stages,
} from '../../../../src/base/failure/failure.js'
import { symptoms } from '../../../../src/base/failure/symptoms.js'
import { describeOption, optionNames } from '../../../../src/options/describe-option.js'

const entries = failureCodes.map(code => ({ code, ...explain(code) }))
/** All that a person may read. */
const texts = [
  ...entries.flatMap(({ code, title, observed, causes, fixes }) =>
    [title, observed, ...causes, ...fixes].map(text => ({ of: code as string, text })),
  ),
  ...symptoms.flatMap(({ symptom, when, note }) => [symptom, when, note].map(text => ({ of: symptom, text }))),
]

describe('the catalogue', () => {
  test('has every failure once, by part of the path', () => {
    const parts = Object.keys(stages)
    const order = entries.map(({ stage }) => parts.indexOf(stage))
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    expect(new Set(order).size).toBe(parts.length)
  })

  test.each(['NOPE', 'toString'])('has nothing on %s', code => {
    expect(explain(code as FailureCode)).toBeUndefined()
  })

  test('has the causes and fixes of the scheme in the message', () => {
    const message = 'the proxy socks5://proxy.example:9294: its port expects TLS, but the URL says socks5://'
    expect(causesFor('PROXY_TLS_MISMATCH', message)).toEqual(['A socks5:// proxy URL has a port with TLS.'])
    expect(fixesFor('PROXY_TLS_MISMATCH', message)).toEqual([expect.stringContaining('Use socks5s://') as string])
  })

  test.each([
    ['OPTION_INVALID', "--batch-bytes: 'foo' is not a size", [], ['Correct the command.']],
    ['OPTION_INVALID', '--url: the cluster URL is not set. Set --url', [], ['Copy the Elasticsearch', 'To try Sluice']],
    [
      'OPTION_INVALID',
      'STATE_DIR: is a file',
      ['An environment variable'],
      ['Correct the environment variable or the file'],
    ],
    [
      'OPTION_INVALID',
      '--url: cannot be combined with --cloud-id',
      ['The option contradicts'],
      ['Correct the command.'],
    ],
    [
      'SERVICENOW_LOGIN_FAILED',
      'the login to the ServiceNow instance https://i failed: the browser did not return within 300 s',
      ['The entry in', 'The browser and', 'The user did'],
      ['Enter the printed', 'If this machine'],
    ],
    ['OPTION_INVALID', "sluice explain: 'x' is not a failure code", [], ['Run `sluice explain`']],
    ['OPTION_INVALID', "sluice runs: there is no run 'x' in state", [], ['Run `sluice runs`']],
    ['INPUT_UNREADABLE', 'cannot read /data/x: permission denied', ['The user that runs'], ['Grant read']],
    ['INPUT_UNREADABLE', 'cannot read x: it is a directory. Pass', ['The path is a'], ['To load the files']],
    [
      'INPUT_UNREADABLE',
      'cannot read x: it is compressed with xz. To read it, install the program xz',
      ['Sluice needs a program'],
      ['Install the program'],
    ],
    ['INPUT_UNREADABLE', 'cannot read x: its gzip data is corrupt (y)', ['The compressed data'], ['Fetch the file']],
    ['INPUT_UNREADABLE', 'cannot read x: too many files are open', [], ['Correct what']],
    ['ROLLBACK_IMPOSSIBLE', 'cannot roll back the alias a: there is no such alias', ['The name'], ['Correct the name']],
    ['ROLLBACK_IMPOSSIBLE', 'cannot roll back the alias a: it is already on b', ['An earlier'], ['Name the index']],
    ['ROLLBACK_IMPOSSIBLE', 'x: b has no record of the previous index', ['No load with'], ['Name the index']],
    ['LOAD_CHECK_FAILED', 'x: 1 document was rejected, and', ['Documents were'], ['Correct the dead', 'Correct', 'To']],
    ['LOAD_CHECK_FAILED', 'x: the run stored 2 documents, but', ['The index holds'], ['Correct the limit', 'To use']],
    ['ALIAS_CONFLICT', 'cannot switch the alias a: an index has this name', ['An index or'], ['Copy', 'Pass another']],
    ['ALIAS_CONFLICT', 'cannot switch the alias a: it was on b but is now on c', ['Another load, a'], ['If two loads']],
    ['ALIAS_CONFLICT', 'cannot switch the alias a: it is on 2 indices: b, c', ['Somebody put'], ['Remove the alias']],
    [
      'RUN_INTERRUPTED',
      'interrupted after 7 documents: SIGINT',
      ['Somebody pressed Ctrl-C'],
      ['Run the same command again. Files'],
    ],
    [
      'RUN_INTERRUPTED',
      'interrupted after 7 documents: SIGTERM. Sluice keeps no position in this input',
      ['The system'],
      ['Run the same command again. It starts from the beginning.', 'A load of files'],
    ],
    ['INDEX_REPLACED', 'a was replaced during run b (--ids hash). x', ['Somebody'], ['Make sure']],
    ['INDEX_REPLACED', 'a was replaced during run b (a replay). x', ['Somebody'], ['Make sure']],
    ['INDEX_REPLACED', 'a was replaced during run b (--ids cluster). x', ['Somebody'], ['Sluice cannot']],
    ['INPUT_MALFORMED', 'a.json has no `hits`: its top level is an array', ['The path of --pick'], ['To load', 'Pass']],
    [
      'INPUT_MALFORMED',
      'a.csv is not valid csv: no column is called A, which --types names',
      ['A name in'],
      ['In --types'],
    ],
    ['RUN_IDS_UNKNOWN', 'it was loaded with the ids of dead letters', ['The run was a replay'], ['Verify or undo']],
    [
      'CLUSTER_AUTH_REJECTED',
      'https://es requires credentials, but none are set (401): x',
      ['No credentials'],
      ['Set'],
    ],
  ] as const)('prints only what fits: %s, %s', (code, message, causes, fixes) => {
    const starts = (texts: readonly string[], expected: readonly string[]) => {
      expect(texts.map((text, at) => text.slice(0, expected[at]?.length))).toEqual(expected)
    }
    starts(causesFor(code, message), causes)
    starts(fixesFor(code, message), fixes)
  })

  test('does not advise to repeat a load whose stdin never ended', () => {
    const fixes = fixesFor('RUN_INTERRUPTED', 'interrupted after 7 documents: stdin never ended')
    expect(fixes).toEqual(explain('INPUT_UNENDED').fixes)
    expect(fixesFor('RUN_INTERRUPTED', 'interrupted after 7 documents: SIGTERM')[0]).toMatch(/^Run the same command/)
  })

  test.each(failureCodes.filter(code => /^(cluster|egress|index)$/.test(explain(code).stage)))(
    'advises with what the cluster that is read has, if %s is about it',
    code => {
      const message = `https://old.example:9200 (--from): ${explain(code).observed}`
      const fixes = fixesFor(code, message)
      expect(fixes).not.toEqual([])
      expect([...causesFor(code, message), ...fixes].join('\n')).not.toMatch(
        /ELASTICSEARCH_[A-Z]|--(url|ca|cert|key|batch-bytes|direct|index|tune|op|pipeline|mapping)\b(?!-)|SLUICE_CA|sluice doctor/,
      )
      const plain = explain(code).observed
      expect(fixesFor(code, plain).join('\n')).not.toMatch(/--from\b/)
    },
  )

  test.each(entries)('says of $code what is seen, why, and what to do, in sentences', ({ observed, causes, fixes }) => {
    for (const list of [[observed], causes, fixes]) {
      expect(list).not.toEqual([])
      expect(new Set(list).size).toBe(list.length)
      for (const text of list) expect(text).toMatch(/^(\p{Lu}|--|`|"|[a-z]+_[a-z_]+|[a-z]+\.[a-z]|gzip).*\.$/su)
    }
  })

  test.each(entries)('has an example of $code, made from all that its message names', ({ code, message, example }) => {
    const named = [...message.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
    expect(Object.keys(example).toSorted()).toEqual([...new Set(named)].toSorted())
    expect(exampleOf(code)).not.toMatch(/[{}]|undefined$|undefined:/)
  })

  test('says where to change what stands in the way', () => {
    const place =
      /dashboard|console|support|firewall|this machine|--[a-z]+|\b(STATIC|ELASTICSEARCH|SERVICENOW)_[A-Z]+|`[^`]+`|(GET|PUT|POST) \/|administered|administrator|developer site/
    const way = entries.filter(
      ({ stage }) => stage === 'proxy' || stage === 'egress' || stage === 'cluster' || stage === 'servicenow',
    )
    const vague = way.filter(({ fixes }) => !fixes.some(fix => place.test(fix))).map(({ code }) => code)
    expect(vague).toEqual([])
  })

  test('names only options and variables that exist', () => {
    const all = optionNames.map(describeOption)
    // Of single commands: rollback, undo, verify, filter, jobs.
    const own = [
      '--deep',
      '--cancel',
      '--remove',
      '--retry',
      '--to',
      // Miller's, in a pipe before Sluice.
      '--icsv',
      '--itsv',
      '--ifs',
      '--ojsonl',
      '--yes',
      '--dry-run',
      '--help',
      '--help-all',
      '--policy',
      '--deployment',
      '--region',
      '--admin-url',
      '--admin-key-file',
    ]
    const known = new Set([...own, ...all.flatMap(({ flag, env }) => [flag ?? '', ...env])])
    const named = texts.flatMap(({ of, text }) =>
      [
        ...text.matchAll(
          /(?<![\w-])--[a-z][a-z-]*|\b(?:SLUICE|STATIC|ELASTICSEARCH|IP|NO)_[A-Z_]+|\bSERVICENOW_(?:INSTANCE_URL|USERNAME|PASSWORD|CLIENT_ID|CLIENT_SECRET|REFRESH_TOKEN|GRANT)\b/g,
        ),
      ].map(([name]) => ({
        of,
        name,
      })),
    )
    expect(named.length).toBeGreaterThan(50)
    expect(named.filter(({ name }) => !known.has(name))).toEqual([])
  })

  test('names no real host and no address outside the ranges for documentation', () => {
    const shown = [...failureCodes.map(exampleOf), ...texts.map(({ text }) => text)].join('\n')
    for (const [, host = ''] of shown.matchAll(/:\/\/(\w[^\s/:),]*)/g)) expect(host).toMatch(/\.example$|^USERNAME$/)
    for (const [address] of shown.matchAll(/\b\d{1,3}(\.\d{1,3}){3}\b/g))
      expect(address).toMatch(/^(203\.0\.113\.\d+|198\.51\.100\.\d+|0\.0\.0\.0|255\.255\.255\.255|127\.0\.0\.1)$/)
  })
})
