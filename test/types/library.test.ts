/** The public surface, as an embedder's compiler sees it. `tsc` runs these checks; what can be run is run too. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { expect, expectTypeOf, test } from 'vitest'
import * as sluice from '../../src/index.js'
import {
  type Cause,
  type DoctorOptions,
  type DoctorReport,
  type FailureCode,
  type Finding,
  type IngestEvent,
  type IngestOptions,
  type Receipt,
  type Severity,
  SluiceError,
  connect,
  diagnose,
  diagnoseRefusal,
  explain,
  failureCodes,
  ingest,
  isSluiceError,
} from '../../src/index.js'
import type { Client } from '@elastic/elasticsearch'
import type { Client as Client8 } from 'elasticsearch-8'
import type { Client as Client9 } from 'elasticsearch-9'
import * as anyClient from '../../src/connection.js'
import { connectionThrough } from '../../src/connection.js'
import * as lab from '../../src/lab/index.js'
import * as platform from '../../src/servicenow.js'
import {
  type Row,
  type ServiceNow,
  type ServiceNowConnection,
  type ServiceNowOptions,
  connectServiceNow,
} from '../../src/servicenow.js'
import { built } from '../support/build.js'

test('the package exports what the docs say, and nothing else', () => {
  expect(Object.keys(sluice).toSorted()).toEqual(
    [
      'SluiceError',
      'connect',
      'diagnose',
      'diagnoseRefusal',
      'explain',
      'failureCodes',
      'inferMapping',
      'ingest',
      'isSluiceError',
      'replay',
      'reportRun',
      'restoreSettings',
      'rollback',
      'serve',
      'undo',
      'verify',
      'verifyDeep',
    ].toSorted(),
  )
  expect(Object.keys(lab).toSorted()).toEqual([
    'AddressRuleError',
    'PolicyError',
    'registers',
    'serviceNowRegisters',
    'startLab',
  ])
  expect(Object.keys(anyClient).toSorted()).toEqual(['SluiceError', 'connectionThrough', 'isSluiceError'])
  expect(Object.keys(platform).toSorted()).toEqual([
    'SluiceError',
    'connectServiceNow',
    'isSluiceError',
    'pull',
    'pullLines',
    'pullToFile',
  ])
})

test('importing the library loads nothing of the command line', () => {
  const packages = packagesOf(join(built, 'dist', 'index.js'))
  expect(packages).toContain('@elastic/elasticsearch')
  expect(packages.filter(name => ['commander', 'pino', 'zod', 'prom-client', '@peculiar/x509'].includes(name))).toEqual(
    [],
  )
})

test('the lab needs no package', () => {
  expect(packagesOf(join(built, 'dist', 'lab', 'index.js'))).toEqual([])
})

test('the package installs what its doors load, and nothing else', () => {
  const { dependencies, peerDependencies, exports } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
    peerDependencies: Record<string, string>
    exports: Record<string, { import?: string }>
  }
  const doors = Object.values(exports).flatMap(door => door.import ?? [])
  expect(doors.length).toBeGreaterThanOrEqual(3)
  const packages = new Set(doors.flatMap(door => packagesOf(join(built, door))))
  // Users who read from S3 or want spans install them.
  for (const optional of Object.keys(peerDependencies)) packages.delete(optional)
  expect([...packages].toSorted()).toEqual(Object.keys(dependencies).toSorted())
})

test('a door for CommonJS loads no module of the other kind, and exports the same names', async () => {
  const { exports } = JSON.parse(readFileSync(join(built, 'package.json'), 'utf8')) as {
    exports: Record<string, { import?: string; require?: string }>
  }
  const require = createRequire(import.meta.url)
  for (const { import: module, require: common } of Object.values(exports)) {
    if (module === undefined || common === undefined) continue
    const path = join(built, common)
    const loaded = require(path) as object
    expect(Object.keys(loaded).toSorted()).toEqual(
      Object.keys((await import(join(built, module))) as object).toSorted(),
    )
    const ours = new Set([path])
    for (const file of ours) {
      const text = readFileSync(file, 'utf8')
      for (const [, to = ''] of text.matchAll(/\brequire\("(\.[^"]+)"\)/g)) ours.add(join(dirname(file), to))
      expect(text).not.toMatch(/\bimport\(['"]/)
    }
    expect([...ours].filter(file => !file.endsWith('.cjs'))).toEqual([])
  }
})

test('both module systems have one SluiceError', async () => {
  const finding = { code: 'PROXY_TIMEOUT', message: 'late', evidence: {}, exit: 4, retry: 'later' } as const
  const { SluiceError: Common } = createRequire(import.meta.url)(join(built, 'dist', 'index.cjs')) as typeof sluice
  const { SluiceError: Module } = (await import(join(built, 'dist', 'index.js'))) as typeof sluice
  expect([new Common(finding) instanceof Module, new Module(finding) instanceof Common]).toEqual([true, true])
  class Own extends Module {}
  expect([new Own(finding) instanceof Module, new Module(finding) instanceof Own]).toEqual([true, false])
  expect(new Error('late') instanceof Module).toBe(false)
})

test('the service-management platform is reached without a client of Elasticsearch', () => {
  expect(packagesOf(join(built, 'dist', 'servicenow.js')).toSorted()).toEqual(['socks', 'undici'])
})

test('the connection for any client loads none', () => {
  expect(packagesOf(join(built, 'dist', 'connection.js')).toSorted()).toEqual(['socks', 'undici'])
})

test('clients of every version take the connection, and connect opens the version that it is given', () => {
  const Connection = connectionThrough({ proxy: 'http://127.0.0.1:9293' })
  type Takes<C extends abstract new (settings: never) => unknown> =
    { Connection: typeof Connection } extends Pick<ConstructorParameters<C>[0], 'Connection'> ? true : false
  expectTypeOf<Takes<typeof Client>>().toEqualTypeOf<true>()
  expectTypeOf<Takes<typeof Client8>>().toEqualTypeOf<true>()
  expectTypeOf<Takes<typeof Client9>>().toEqualTypeOf<true>()
  const open = {
    own: async () => (await connect(common)).client,
    eight: async (Given: typeof Client8) => (await connect({ ...common, Client: Given })).client,
    nine: async (Given: typeof Client9) => (await connect({ ...common, Client: Given })).client,
  }
  expectTypeOf(open.own).returns.resolves.toEqualTypeOf<Client>()
  expectTypeOf(open.eight).returns.resolves.toEqualTypeOf<Client8>()
  expectTypeOf(open.nine).returns.resolves.toEqualTypeOf<Client9>()
})

/** The packages that a module of the build loads, itself or through others. */
function packagesOf(entry: string): string[] {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const load = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    // One of them is without white space.
    for (const [, from, bare] of readFileSync(file, 'utf8').matchAll(
      /(?:^|;)(?:import|export)\b[^'";]*?\bfrom\s*['"]([^'"]+)['"]|(?:(?:^|;)import\s*|\bimport\s*\(\s*)['"]([^'"]+)['"]/gm,
    )) {
      const specifier = from ?? bare ?? ''
      if (specifier.startsWith('.')) load(join(dirname(file), specifier))
      else if (!specifier.startsWith('node:')) packages.add(/^(@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? specifier)
    }
  }
  load(entry)
  return [...packages]
}

const common = { target: { url: 'https://localhost:9200' }, index: 'logs' } satisfies Partial<IngestOptions>

test('ingest takes paths, streams and iterables, and nothing that it could not read', () => {
  const sources: IngestOptions['source'][] = [
    'logs/*.ndjson.gz',
    ['a.ndjson', '-'],
    Readable.from([]),
    new Blob([]).stream(),
    new Set([{ a: 1 }, '{"a":1}', Buffer.from('{"a":1}')]),
    (async function* () {
      yield { a: 1 }
    })(),
    Buffer.from('{"a":1}\n'),
  ]
  for (const source of sources) expectTypeOf({ ...common, source }).toExtend<IngestOptions>()
  // @ts-expect-error a number is no source
  const wrong: IngestOptions = { ...common, source: 7 }
  // @ts-expect-error a target is needed
  const unfinished: IngestOptions = { source: 'a', index: 'logs' }
  // @ts-expect-error no such operation
  const operation: IngestOptions = { ...common, source: 'a', op: 'remove' }
  expect([wrong, unfinished, operation]).toHaveLength(3)
  expectTypeOf(ingest).returns.resolves.toEqualTypeOf<Receipt>()
  expectTypeOf(connect).returns.resolves.toHaveProperty('client')
})

test('every count of the receipt is a number, and what may be missing says so', () => {
  type Count =
    | 'read'
    | 'created'
    | 'accepted'
    | 'updated'
    | 'deleted'
    | 'noop'
    | 'notFound'
    | 'older'
    | 'dropped'
    | 'duplicate'
    | 'rejected'
    | 'skipped'
    | 'unsent'
    | 'unknown'
  expectTypeOf<Pick<Receipt, Count>>().toEqualTypeOf<Readonly<Record<Count, number>>>()
  expectTypeOf<Receipt['thisProcess']>().toEqualTypeOf<Readonly<Record<Count, number>>>()
  expectTypeOf<Receipt['status']>().toEqualTypeOf<'finished' | 'failed' | 'interrupted'>()
  expectTypeOf<Receipt['deadLetters']>().toEqualTypeOf<string | undefined>()
})

test('codes narrow by switch, and every code explains itself', () => {
  const hint = (code: FailureCode): string => {
    switch (code) {
      case 'EGRESS_PARTLY_ALLOWED':
        expectTypeOf(code).toEqualTypeOf<'EGRESS_PARTLY_ALLOWED'>()
        return 'add the other address'
      default:
        expectTypeOf(code).not.toExtend<'EGRESS_PARTLY_ALLOWED'>()
        // @ts-expect-error no such code is left
        if (code === 'NO_SUCH_CODE') return ''
        return explain(code).title
    }
  }
  expect(failureCodes.map(hint)).not.toContain('')
})

test('an error of another copy of the package is recognised', () => {
  const failure = { code: 'PROXY_TIMEOUT', message: 'late', evidence: {}, exit: 4, retry: 'later' } as const
  const ours: unknown = new SluiceError(failure, { receipt: { read: 1 } })
  const other: unknown = Object.assign(new Error('late'), { [Symbol.for('sluice.error')]: true, failure })
  for (const error of [ours, other]) {
    expect(isSluiceError(error)).toBe(true)
    if (!isSluiceError(error)) continue
    expectTypeOf(error.code).toEqualTypeOf<FailureCode>()
    expectTypeOf(error.receipt).toEqualTypeOf<Receipt | undefined>()
  }
  expect(isSluiceError(new Error('late'))).toBe(false)
})

test('events are told apart by their type', () => {
  const told = (event: IngestEvent): number => {
    switch (event.type) {
      case 'standing':
        return event.underWay
      case 'progress':
        return event.counts.read
      case 'rejected':
        return event.documents.length
      case 'retry':
        return event.waitMs
      case 'sent':
        return event.bytes
      case 'answered':
        return event.status ?? event.ms
      case 'preflight':
        return event.probes
      case 'blocked':
      case 'unblocked':
        return event.waitedMs
      case 'input':
      case 'loaded':
      case 'format':
        return event.name.length
      case 'deletions':
        return event.index.length
      case 'planning':
        return event.inputs
      case 'begun':
        return event.run.length
      case 'followed':
      case 'mapping':
      case 'warning':
        return event.message.length
    }
  }
  expect(told({ type: 'warning', message: 'two' })).toBe(3)
})

test('the doctor takes the options of connect and its own, and its findings narrow by their severity and code', () => {
  expectTypeOf(diagnose).parameter(0).toEqualTypeOf<DoctorOptions>()
  expectTypeOf<Parameters<typeof connect>[0]>().toExtend<DoctorOptions>()
  expectTypeOf(diagnose).returns.resolves.toEqualTypeOf<DoctorReport>()
  expectTypeOf(diagnoseRefusal).returns.resolves.toEqualTypeOf<Cause | undefined>()
  expectTypeOf<Finding['severity']>().toEqualTypeOf<Severity>()
  expectTypeOf<Cause['finding']['code']>().toEqualTypeOf<FailureCode>()
  // @ts-expect-error a list, and no text with commas
  const wrong: DoctorOptions = { target: common.target, nodes: 'http://one.example:9293' }
  expect(wrong.nodes).toBeTypeOf('string')
})

test('a wrong option of the doctor is a finding, like every other fault', async () => {
  const target = { url: 'https://localhost:9200' }
  const given = [{ nodes: 'http://one.example:9293' }, { directCheck: 'no' }, { writeChekc: true }, { index: 'A,b' }]
  const reports = await Promise.all(given.map(async more => await diagnose({ target, ...more } as DoctorOptions)))
  expect(reports.map(({ findings: [first], requests }) => [first?.code, requests.sent])).toEqual([
    ['OPTION_INVALID', 0],
    ['OPTION_INVALID', 0],
    ['OPTION_INVALID', 0],
    ['INDEX_NAME_INVALID', 0],
  ])
})

test('the service-management platform takes what it needs, and its records are what the caller says', async () => {
  expectTypeOf(connectServiceNow).returns.resolves.toEqualTypeOf<ServiceNow>()
  expectTypeOf<IngestOptions['servicenow']>().toEqualTypeOf<ServiceNowOptions | undefined>()
  interface Incident extends Row {
    readonly number: string
  }
  const numberOf = async (from: ServiceNow) => (await from.table<Incident>('incident').get('a'))?.number
  expectTypeOf(numberOf).returns.resolves.toEqualTypeOf<string | undefined>()
  // @ts-expect-error a platform is needed
  const unfinished: ServiceNowConnection = { proxy: 'http://proxy.example:9293' }
  const url = 'https://instance.example'
  const given: [object, string][] = [
    [unfinished, 'servicenow'],
    [{ servicenow: { url: 'instance.example', username: 'u', password: 'p' } }, 'servicenow.url'],
    [{ servicenow: { url, username: 'u' } }, 'servicenow.password'],
    [{ servicenow: { url, clientId: 'id', grant: 'client_credentials' } }, 'servicenow.clientSecret'],
    [{ servicenow: { url, grant: 'refresh_token', refreshToken: 'r' } }, 'servicenow.clientId'],
    [{ servicenow: { url, grant: 'implicit' } }, 'servicenow.grant'],
    [{ servicenow: { url, user: 'u' } }, 'servicenow.user'],
    [{ servicenow: { url, username: 'u', password: 'p' }, proxi: 'http://proxy.example:9293' }, 'proxi'],
    [{ servicenow: { url, username: 'u', password: 'p' }, concurrency: 0 }, 'concurrency'],
  ]
  for (const [options, option] of given) {
    await expect(connectServiceNow(options as ServiceNowConnection)).rejects.toMatchObject({
      code: 'OPTION_INVALID',
      failure: { evidence: { option } },
    })
  }
})
