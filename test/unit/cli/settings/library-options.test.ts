/** What a caller without a compiler, or with a wrong idea, hands to the library. */
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type IngestOptions, connect, ingest, isSluiceError } from '../../../../src/index.js'
import { proxySection } from '../../../../src/options/read-options.js'
import { resolveTarget } from '../../../../src/route/connect/open-target.js'
import { startHttpProxy } from '../../../support/servers/proxy-servers.js'

let asked = 0
const cluster = createServer((request, response) => {
  asked += 1
  request.resume().on('end', () => {
    response.setHeader('content-type', 'application/json').setHeader('x-elastic-product', 'Elasticsearch')
    const info = { cluster_name: 'c', name: 'n', version: { number: '9.0.0', build_flavor: 'default' } }
    const done = { took: 1, errors: false, items: [{ create: { status: 201, result: 'created' } }] }
    response.end(JSON.stringify(request.url?.includes('_bulk') === true ? done : info))
  })
})
let url: string
beforeAll(async () => {
  cluster.listen(0, '127.0.0.1')
  await once(cluster, 'listening')
  url = `http://127.0.0.1:${(cluster.address() as AddressInfo).port}`
})
afterAll(() => {
  cluster.closeAllConnections()
  cluster.close()
})

/** As it comes from JavaScript: nothing is known of its types. */
function options(more: Record<string, unknown> = {}): IngestOptions {
  const known = { source: [{ n: 1 }], target: { url }, index: 'logs', deadLetters: false, preflightConnections: 1 }
  return { ...known, ...more } as IngestOptions
}

async function refusal(run: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error: unknown = await run.then(
    () => 'resolved',
    (reason: unknown) => reason,
  )
  if (!isSluiceError(error)) throw new Error(`no SluiceError: ${String(error)}`)
  return { code: error.code, message: error.message }
}

test('a caller may change its options as soon as it has called', async () => {
  const before = asked
  const given = { target: { url }, csv: {}, source: [{ n: 1 }], staticIps: ['203.0.113.7'] } as Record<string, unknown>
  const changing = options(given) as unknown as Record<string, Record<string, unknown>> & { source: unknown[] }
  const running = ingest(changing as unknown as IngestOptions)
  changing['target'] = { url: 'http://127.0.0.1:1' }
  ;(given['target'] as { url: string }).url = 'http://127.0.0.1:1'
  ;(given['source'] as unknown[]).push({ n: 2 })
  ;(given['staticIps'] as unknown[]).push('nonsense')
  expect(await running).toMatchObject({ created: 1 })
  expect(asked).toBeGreaterThan(before)
})

const HALF = 'x\ud800'
test.each([
  { index: HALF },
  { pipeline: HALF },
  { idField: HALF, ids: 'field' },
  { stateDir: HALF },
  { target: { url: `http://127.0.0.1:1/${HALF}` } },
  { target: { url: 'http://127.0.0.1:1', username: HALF, password: 'p' } },
  { proxy: `http://u:${HALF}@127.0.0.1:1` },
  { source: 'servicenow:incident', servicenow: { url: 'https://x.test', username: 'u', password: HALF } },
  {
    source: 'servicenow:incident',
    servicenow: { url: 'https://x.test', username: 'u', password: 'p' },
    table: { query: HALF },
  },
])('half a character in an option is refused before anything is asked: %j', async more => {
  const { code, message } = await refusal(ingest(options(more)))
  expect(['OPTION_INVALID', 'INDEX_NAME_INVALID']).toContain(code)
  expect(message).toContain('half of a surrogate pair')
})

test('a source that is a plain object stays the iterable that it is', async () => {
  const source = {
    async *[Symbol.asyncIterator]() {
      await Promise.resolve()
      yield { n: 1 }
    },
  }
  expect(await ingest(options({ source }))).toMatchObject({ created: 1 })
})

describe('the proxy is never left out silently', () => {
  test('a URL object is a proxy URL', async () => {
    await using proxy = await startHttpProxy()
    const before = asked
    const given = new URL(`http://127.0.0.1:${proxy.port}`)
    const receipt = await ingest(options({ proxy: given, target: { url: new URL(url) } }))
    expect(receipt).toMatchObject({ created: 1 })
    expect(asked).toBeGreaterThan(before)
    expect(
      resolveTarget({ target: { url }, proxy: proxySection(new URL('http://u:p%40@127.0.0.1:9293')) }).proxy,
    ).toMatchObject({
      port: 9293,
      username: 'u',
      password: 'p@',
    })
  })

  const secret = 'http://user:hunter2@127.0.0.1:9293'
  for (const [proxy, message] of [
    [{ uri: secret }, 'proxy.uri: is not an option. Did you mean url?'],
    [{ [secret]: true }, 'proxy: contains an unknown option'],
    [[secret], 'proxy: is an array, not a plain object of options'],
    [5, 'proxy: is a number, not a plain object of options'],
    [null, 'proxy: is null, not a plain object of options'],
    [new Map([['url', secret]]), 'proxy: is an object of the kind Map, not a plain object of options'],
    [{ direct: 'false' }, 'proxy.direct: is a string, not true or false'],
  ] as const) {
    test(message, async () => {
      const before = asked
      for (const run of [ingest(options({ proxy })), connect(options({ proxy }))]) {
        expect(await refusal(run)).toEqual({ code: 'OPTION_INVALID', message })
      }
      expect(asked).toBe(before)
    })
  }
})

describe('options are checked when the compiler was not asked', () => {
  const wrong: readonly (readonly [Record<string, unknown>, string])[] = [
    [{ proxi: 'http://u:p@h:1' }, 'proxi: is not an option. Did you mean proxy?'],
    [{ target: { ulr: 'x' } }, 'target.ulr: '],
    [{ target: undefined }, 'target: is not set'],
    [{ target: { url: 'http://h', apiKey: '' } }, 'target.apiKey: is empty'],
    [{ target: { url: 'http://h', apiKey: 5 } }, 'target.apiKey: is a number, not a string'],
    [{ target: { url: 'http://h', apiKey: 'hunter2\n' } }, 'target.apiKey: contains a line break'],
    [{ target: { url: 'http://h', username: 'u', password: 'hunter2\r' } }, 'target.password: contains a line break'],
    [{ op: 'remove' }, "op: is not one of 'create', 'index', 'update', 'upsert', 'delete'"],
    [{ ids: null }, 'ids: is not one of'],
    [{ ids: 'content' }, 'ids: is not one of'],
    [{ format: 'xml' }, 'format: is not one of'],
    [{ compress: true }, 'compress: is not one of'],
    [{ onConflict: 'overwrite' }, 'onConflict: is not one of'],
    [{ onBlock: 'retry' }, "onBlock: is not one of 'stop', 'wait'"],
    [{ onBlock: {} }, 'onBlock: has no waitMs'],
    [{ onBlock: { waitMs: 0 } }, 'onBlock: waitMs 0 is not a whole number from 1 to'],
    [{ onBlock: { waitMs: 1, forever: true } }, 'onBlock: forever is not an option'],
    [{ refreshCredentials: 'key' }, 'refreshCredentials: is a string, not a function'],
    [{ maxRejected: '101%' }, 'maxRejected: '],
    [{ maxRejected: -1 }, 'maxRejected: '],
    [{ maxRejected: 'many' }, 'maxRejected: '],
    [{ deadLetters: true }, 'deadLetters: is a boolean, not a path or false'],
    [{ deadLetters: '-' }, "deadLetters: is '-', which is not a file"],
    [{ runId: 'nightly', ids: 'cluster' }, 'runId: promises that a repeated run stores nothing twice'],
    [{ pick: '' }, 'pick: is empty'],
    [{ pipeline: 5 }, 'pipeline: is a number'],
    [{ routingField: '' }, 'routingField: is empty'],
    [{ signal: {} }, 'signal: is a plain object, not an AbortSignal'],
    [{ onEvent: 'log' }, 'onEvent: is a string, not a function'],
    [{ staticIps: ['::1'] }, 'staticIps: '],
    [{ concurrency: '4' }, 'concurrency: a string is not a whole number'],
  ]
  for (const [more, message] of wrong) {
    test(message, async () => {
      const refused = await refusal(ingest(options(more)))
      expect(refused).toMatchObject({ code: 'OPTION_INVALID' })
      expect(refused.message.startsWith(message)).toBe(true)
      expect(refused.message).not.toContain('hunter2')
    })
  }

  test('no options at all', async () => {
    const bare: readonly (() => Promise<unknown>)[] = [ingest, connect] as never
    for (const run of bare) expect(await refusal(run())).toMatchObject({ code: 'OPTION_INVALID' })
  })
})

test("credentials of the cluster's URL stay where none of their own are given", () => {
  const way = resolveTarget({
    target: { url: 'https://u:p@localhost', username: undefined, password: undefined },
    proxy: proxySection(undefined),
  })
  expect(way.credentials).toEqual({ username: 'u', password: 'p' })
})

test('an iterable that cannot even begin is an input that cannot be read', async () => {
  const source = {
    [Symbol.iterator]() {
      throw new TypeError('not today')
    },
  }
  expect(await refusal(ingest(options({ source })))).toMatchObject({
    code: 'INPUT_UNREADABLE',
    message: 'cannot read (iterable): not today',
  })
})

for (const [how, fail] of [
  [
    'throws',
    () => {
      throw new Error('listener')
    },
  ],
  ['rejects', async () => await Promise.reject(new Error('listener'))],
] as const) {
  test(`a listener that ${how} is not called again, and the run is finished`, async () => {
    let told = 0
    const onEvent = () => {
      told += 1
      return fail()
    }
    expect(await ingest(options({ onEvent }))).toMatchObject({ created: 1, status: 'finished' })
    if (how === 'throws') expect(told).toBe(1)
  })
}
