/** Every option of the command reaches the library, and every option of the library that a person may set is one of the command's. */
import { expect, expectTypeOf, test } from 'vitest'
import type {
  ConnectOptions,
  IngestOptions,
  ProxyOptions,
  ServiceNowOptions,
  TableOptions,
  TargetOptions,
} from '../../src/index.js'
import { type Settings, optionNames } from '../../src/options/table.js'
import { checksAt, optionAs } from '../../src/options/describe-option.js'

type Behind<T> = { readonly [K in keyof T]-?: keyof Settings }

/** What the command makes itself. */
type OfThePipeline = 'source' | 'stdin' | 'signal' | 'startedAt' | 'onEvent' | 'refreshCredentials'

/** Options of the same value on both sides. */
const same = {
  index: 'index',
  deletions: 'deletions',
  maxDeleted: 'maxDeleted',
  reconcileEveryMs: 'reconcileEveryMs',
  swapAlias: 'swapAlias',
  checkHits: 'checkHits',
  tune: 'tune',
  againstIndex: 'againstIndex',
  op: 'op',
  ids: 'ids',
  idField: 'idField',
  idSeparator: 'idSeparator',
  resendUnknown: 'resendUnknown',
  routingField: 'routingField',
  versionField: 'versionField',
  ifSeqNoField: 'ifSeqNoField',
  ifPrimaryTermField: 'ifPrimaryTermField',
  script: 'script',
  scriptId: 'scriptId',
  retryOnConflict: 'retryOnConflict',
  pipeline: 'pipeline',
  format: 'format',
  pick: 'pick',
  batchBytes: 'batchBytes',
  batchDocs: 'batchDocs',
  batchMs: 'batchMs',
  compress: 'compress',
  deadLetters: 'deadLetters',
  maxRejected: 'maxRejected',
  maxElapsedMs: 'maxElapsedMs',
  timeBudgetMs: 'timeBudgetMs',
  byteBudget: 'byteBudget',
  maxRate: 'maxRate',
  plan: 'plan',
  planDay: 'planDay',
  planLimit: 'planLimit',
  graceMs: 'graceMs',
  onBlock: 'onBlock',
  onConflict: 'onConflict',
  stateDir: 'stateDir',
  spool: 'spool',
  spoolLimit: 'spoolLimit',
  runId: 'runId',
  keepRuns: 'keepRuns',
  keepDays: 'keepDays',
  again: 'again',
  dryRun: 'dryRun',
  follow: 'follow',
  pollMs: 'pollMs',
  concurrency: 'concurrency',
  preflightConnections: 'preflightConnections',
  timeoutMs: 'timeoutMs',
  staticIps: 'staticIps',
  maxIndices: 'maxIndices',
  ipCheckUrl: 'ipCheckUrl',
  transform: 'transform',
  transformTimeoutMs: 'transformTimeoutMs',
} as const satisfies Behind<
  Omit<
    IngestOptions,
    OfThePipeline | 'target' | 'proxy' | 'servicenow' | 'table' | 'csv' | 'remote' | 'edits' | keyof typeof contents
  >
>

/** JSON, or files of it, on the command line; what it says in the library. */
const contents = { indexBody: 'indexBody', checkQuery: 'checkQuery', mapping: 'mapping', template: 'template' } as const

/** `ca`, `cert` and `key` name files on the command line, and are their contents in the library. */
const target = {
  url: 'url',
  cloudId: 'cloudId',
  apiKey: 'apiKey',
  username: 'username',
  password: 'password',
  ca: 'ca',
  caFingerprint: 'caFingerprint',
  cert: 'cert',
  key: 'key',
  allowPlaintext: 'allowPlaintext',
} as const satisfies Behind<TargetOptions>

const proxy = {
  url: 'proxy',
  ca: 'proxyCa',
  direct: 'direct',
  requireProxy: 'requireProxy',
  environmentProxy: 'httpsProxy',
  noProxy: 'noProxy',
} as const satisfies Behind<Omit<ProxyOptions, 'origin' | 'environmentOrigin'>>

/** Secrets may stand in files, as `ca` does. */
const servicenow = {
  url: 'servicenowUrl',
  apiKey: 'servicenowApiKey',
  username: 'servicenowUsername',
  password: 'servicenowPassword',
  clientId: 'servicenowClientId',
  clientSecret: 'servicenowClientSecret',
  refreshToken: 'servicenowRefreshToken',
  grant: 'servicenowGrant',
  tokenFile: 'tokenFile',
  ca: 'servicenowCa',
} as const satisfies Behind<ServiceNowOptions>

/** `fields` is text with commas on the command line. */
const table = {
  query: 'query',
  displayValue: 'displayValue',
  pageSize: 'pageSize',
  fields: 'fields',
} as const satisfies Behind<TableOptions>

const remote = {
  throughProxy: 'sourceThroughProxy',
  ca: 'sourceCa',
  token: 'sourceToken',
} as const satisfies Behind<NonNullable<IngestOptions['remote']>>

const csv = {
  columns: 'columns',
  skipHeader: 'skipHeader',
  delimiter: 'delimiter',
  quote: 'quote',
  encoding: 'encoding',
  inferTypes: 'inferTypes',
  types: 'types',
  empty: 'empty',
} as const satisfies Behind<NonNullable<IngestOptions['csv']>>

const edits = {
  set: 'set',
  drop: 'drop',
  keep: 'keep',
  rename: 'rename',
} as const satisfies Behind<NonNullable<IngestOptions['edits']>>

/** What concerns the command alone: where secrets are read, and how it prints. */
const ofTheCommand = [
  'config',
  'filesFrom',
  'null',
  'apiKeyFile',
  'sourceTokenFile',
  'passwordFile',
  'proxyFile',
  'servicenowApiKeyFile',
  'attachments',
  'servicenowPasswordFile',
  'servicenowClientSecretFile',
  'servicenowRefreshTokenFile',
  'json',
  'quiet',
  'logFormat',
  'report',
  'supportBundle',
  'sample',
  'output',
] as const satisfies (keyof Settings)[]

/** What the doctor alone takes. */
const ofTheDoctor = [
  'nodes',
  'noDirectCheck',
  'writeCheck',
  'watchMs',
  'onChange',
] as const satisfies (keyof Settings)[]

/** The filter administration has no part in a load. */
const ofTheFilter = [
  'adminUrl',
  'adminKey',
  'adminKeyFile',
  'deployment',
  'includeByDefault',
  'policy',
  'project',
  'projectType',
  'region',
] as const satisfies (keyof Settings)[]

/** What a receiver alone takes: `serve` has them among its own options. */
const ofServe = [
  'listen',
  'serveCert',
  'serveKey',
  'servePath',
  'serveToken',
  'serveTokenFile',
  'noToken',
  'maxBody',
  'maxDocuments',
  'metrics',
  'acceptAnyway',
] as const satisfies (keyof Settings)[]

/** Workers share a queue, which the library does not reach. */
const ofTheQueue = [
  'queue',
  'queueKeyFile',
  'jobs',
  'onlyInputs',
  'onlyIndex',
  'lettersFolder',
  'rangeBytes',
  'leaseMs',
] as const satisfies (keyof Settings)[]

/** What others read of a run. */
const ofTheMetrics = ['metricsTextfile', 'metricsPort'] as const satisfies (keyof Settings)[]

/** Other tools have no part in a load. */
const ofTheTunnel = [
  'to',
  'withLogin',
  'tunnelToken',
  'tunnelTokenFile',
  'idleMs',
] as const satisfies (keyof Settings)[]

/** What is done once a run is over. */
const ofTheAlarm = [
  'onFailure',
  'onSuccess',
  'job',
  'incidentFields',
  'alarmHost',
  'alarmTimeoutMs',
  'alarmUrl',
  'alarmUsername',
  'alarmPassword',
  'alarmPasswordFile',
  'alarmClientId',
  'alarmClientSecret',
  'alarmClientSecretFile',
] as const satisfies (keyof Settings)[]

test('every option of the command reaches the library, but for those that concern the command alone', () => {
  const behind = [same, contents, target, proxy, servicenow, table, csv, remote, edits].flatMap(one =>
    Object.values(one),
  )
  const ofCommands = [
    ...ofTheCommand,
    ...ofTheDoctor,
    ...ofTheFilter,
    ...ofServe,
    ...ofTheTunnel,
    ...ofTheQueue,
    ...ofTheMetrics,
    ...ofTheAlarm,
  ]
  expect([...behind, ...ofCommands].toSorted()).toEqual(optionNames.toSorted())
})

test('the table checks what a program passes in each part of the library options', () => {
  const parts = { target, proxy, servicenow, table, csv, remote, edits } as const
  for (const [part, behind] of Object.entries(parts)) {
    expect(Object.keys(checksAt(part)).toSorted()).toEqual(Object.keys(behind).toSorted())
    for (const [name, option] of Object.entries(behind)) expect(optionAs(`${part}.${name}`)).toBe(option)
  }
  expect(Object.keys(checksAt('')).toSorted()).toEqual([...Object.keys(same), ...Object.keys(contents)].toSorted())
})

/** A setting's values fit the library's option: an error here names the option whose types drifted apart. */
type Unfit<O, T> = {
  [K in keyof T & keyof O]: Exclude<Settings[T[K] & keyof Settings], undefined> extends O[K] ? never : K
}[keyof T & keyof O]

test('their types agree, and ingest takes what connect takes', () => {
  expectTypeOf<Unfit<Required<IngestOptions>, typeof same>>().toBeNever()
  expectTypeOf<Unfit<Required<TargetOptions>, typeof target>>().toBeNever()
  expectTypeOf<Unfit<Required<ProxyOptions>, typeof proxy>>().toBeNever()
  expectTypeOf<Unfit<Required<ServiceNowOptions>, typeof servicenow>>().toBeNever()
  expectTypeOf<Unfit<Required<Omit<TableOptions, 'fields'>>, typeof table>>().toBeNever()
  expectTypeOf<Unfit<Required<NonNullable<IngestOptions['edits']>>, typeof edits>>().toBeNever()
  expectTypeOf<IngestOptions>().toExtend<ConnectOptions>()
})
