/**
 * The table of options: one row per option. Flags, variables, keys of the configuration file, help, docs/options.md, the settings and the
 * checks of the library derive from it. Help keeps this order.
 */
import { operations } from '../base/operation.js'
import { anyOf } from '../base/text/shown.js'
import { dumpFormats, encodings } from '../pipeline/format/formats.js'
import * as csvKinds from './csv-kinds.js'
import { destinations, queueUrl } from './address-kinds.js'
import * as carrying from './carrying-kinds.js'
import * as editKinds from './edit-kinds.js'
import * as kinds from './kinds.js'
import * as check from './option-checks.js'
import { type OptionRow, group, toCluster } from './option.js'
import * as trafficKinds from './traffic-kinds.js'

const MOST = Number.MAX_SAFE_INTEGER

/** What a child of `run` prints stays as it is. */
const printingJson = [...toCluster.filter(name => name !== 'run'), 'runs', 'login', 'jobs'] as const

/** Why a replay does not take options of these groups. */
const inLetters = 'is not an option of replay, because the dead letters contain it'
const toTheEnd = 'is not an option of replay, which reads files to their end'

const ofDocuments = { queued: 'documents', notInReplay: inLetters } as const

const cluster = group('Cluster', toCluster, { section: 'target' })
const proxy = group('Proxy and route', [...toCluster, 'pull', 'login'], { section: 'proxy' })
const route = group('Proxy and route', toCluster, { stage: 'connecting' })
const documents = group('Documents', ['ingest'], { ...ofDocuments, stage: 'documents' })
const inputs = group('Documents', ['ingest'], { ...ofDocuments, stage: 'inputs' })
const loads = group('Documents', ['ingest'], ofDocuments)
const csv = group('CSV', ['ingest', 'infer'], { ...ofDocuments, section: 'csv' })
const remote = group('Inputs on servers', ['ingest', 'worker'], {
  section: 'remote',
  notInReplay: 'is not an option of replay, which reads files',
})
const origin = group('Another cluster', ['ingest', 'pull', 'verify', 'worker'], {
  section: 'from',
  notInReplay: 'is not an option of replay, which reads files',
})
const edits = group('Edits', ['ingest'], {
  section: 'edits',
  queued: 'documents',
  notInReplay: 'is not an option of replay, because the dead letters hold the edited documents',
})
const functions = group('Edits', ['ingest'], { queued: 'documents' })
const requests = group('Requests', ['ingest', 'replay', 'serve'], { stage: 'batching', queued: 'loading' })
const runs = group('Runs', ['ingest', 'replay'], { stage: 'state' })
const endings = group('Runs', ['ingest', 'replay'], { stage: 'stopping' })
const ofRuns = group('Runs', ['ingest', 'replay'])
const plan = group('Runs', [...toCluster, 'pull', 'login'], { stage: 'traffic', queued: 'loading' })
const servicenow = group('ServiceNow', ['ingest', 'pull', 'login', 'doctor', 'tunnel', 'run'], {
  section: 'servicenow',
})
const rows = group('ServiceNow', ['ingest', 'pull'], { section: 'table' })
const deletions = group('ServiceNow', ['ingest'], { stage: 'deletions' })
const webhook = group('Webhook receiver', ['serve'], { section: 'serve' })
const tunnels = group('Tunnel', ['tunnel', 'run'], { as: false })
const alarm = group('Alarm', ['ingest', 'replay', 'pull', 'doctor', 'serve'], { as: false })
const metrics = group('Metrics', ['ingest', 'replay', 'doctor'], { as: false })
const preparing = group('Before the load', ['ingest'], {
  stage: 'preparing',
  queued: 'loading',
  notInReplay: 'is not an option of replay, because a replay prepares no index',
})
const guarded = group('Guarded load', ['ingest'], {
  stage: 'guarded',
  queued: 'loading',
  notInReplay: 'is not an option of replay, because dead letters go to the index of their load',
})
const doctor = group('Doctor', ['doctor'], { section: 'doctor' })
const queue = group('Many workers', ['ingest', 'worker'], { as: false })
const filter = group('Filter administration', ['filter', 'init'], { as: false })
const output = group('Output', [...toCluster, 'pull', 'login'], { as: false })

export const table = {
  url: cluster(kinds.text(check.url), 'URL of the cluster: https://HOST:PORT', {
    label: 'url',
    env: ['ELASTICSEARCH_URL'],
    secret: 'url',
    first: true,
    orElse: 'cloudId',
  }),
  cloudId: cluster(kinds.text(), 'Elastic Cloud: the cloud id, instead of --url', {
    label: 'id',
    env: ['ELASTICSEARCH_CLOUD_ID'],
    first: ['ingest', 'doctor'],
  }),
  apiKey: cluster(
    kinds.secretText(check.token),
    'API key in its encoded form, as Kibana shows it. Safer in the environment or a file',
    {
      label: 'key',
      env: ['ELASTICSEARCH_API_KEY'],
      secret: 'value',
    },
  ),
  apiKeyFile: cluster(kinds.text(), 'file that holds the API key', { label: 'file', as: false, first: true }),
  username: cluster(kinds.text(check.secret), 'user name, instead of an API key', {
    label: 'name',
    env: ['ELASTICSEARCH_USERNAME'],
    alsoNeeds: ['password', 'passwordFile'],
  }),
  password: cluster(kinds.secretText(), 'password of that user. Safer in the environment or a file', {
    label: 'password',
    env: ['ELASTICSEARCH_PASSWORD'],
    secret: 'value',
    alsoNeeds: ['username'],
  }),
  passwordFile: cluster(kinds.text(), 'file that holds the password', {
    label: 'file',
    as: false,
    alsoNeeds: ['username'],
  }),
  ca: cluster(kinds.text(check.pem), "PEM file of the CA that signed the cluster's certificate", { label: 'file' }),
  caFingerprint: cluster(
    kinds.fingerprint(),
    "SHA-256 fingerprint of the only certificate to trust: the cluster's own, or a CA that it sends",
  ),
  cert: cluster(kinds.text(check.pem), 'PEM file of a client certificate', { label: 'file', alsoNeeds: ['key'] }),
  key: cluster(kinds.text(check.pem), "PEM file of the client certificate's key", {
    label: 'file',
    alsoNeeds: ['cert'],
  }),
  allowPlaintext: cluster(kinds.toggle(), 'send credentials over plain http to another machine'),

  proxy: proxy(
    kinds.secretText(check.url),
    'URL of the static-IP proxy, from the dashboard of QuotaGuard, Fixie or another provider. Safer in the environment or a file',
    {
      label: 'url',
      env: ['STATIC_PROXY_URL', 'QUOTAGUARDSTATIC_URL', 'QUOTAGUARDSHIELD_URL', 'FIXIE_URL', 'PROXIMO_URL'],
      secret: 'url',
      as: 'url',
    },
  ),
  proxyFile: proxy(kinds.text(), 'file that holds the URL of the proxy', { label: 'file', as: false, first: true }),
  proxyCa: proxy(kinds.text(check.pem), 'PEM file of the CA that signed the certificate of a TLS proxy', {
    label: 'file',
    as: 'ca',
  }),
  requireProxy: proxy(kinds.toggle(), 'stop if no proxy is set'),
  direct: proxy(kinds.toggle(), 'connect without the proxy'),
  staticIps: route(kinds.addressPair(), 'your two static addresses, separated by a comma', {
    env: ['STATIC_IPS'],
    first: true,
  }),
  ipCheckUrl: route(kinds.webAddress(), 'URL that answers with {"ip": "your address"}', {
    env: ['IP_CHECK_URL'],
    secret: 'url',
  }),
  preflightConnections: route(
    kinds.wholeNumber({ min: 0, max: 64 }),
    'number of test connections before the first document (0 means one)',
    { default: '16', commands: [...toCluster, 'pull', 'login'] },
  ),
  httpsProxy: proxy(kinds.secretText(check.string), 'proxy to use if no static-IP proxy is set', {
    env: ['HTTPS_PROXY', 'https_proxy'],
    secret: 'url',
    environmentOnly: true,
    as: 'environmentProxy',
  }),
  noProxy: proxy(kinds.text(check.string), 'hosts to reach without HTTPS_PROXY', {
    env: ['NO_PROXY', 'no_proxy'],
    environmentOnly: true,
  }),

  index: loads(kinds.text(), 'index, alias, data stream or logs-{date:yyyy.MM}', {
    label: 'name',
    commands: ['ingest', 'replay', 'doctor', 'serve', 'init'],
    first: true,
    orElse: 'swapAlias',
  }),
  maxIndices: documents(
    kinds.wholeNumber({ min: 1, max: 1000 }),
    'with a field in --index: maximum number of indices',
    {
      default: '100',
      commands: ['ingest'],
      queued: 'loading',
    },
  ),
  op: documents(kinds.choice(...operations), anyOf(operations), {
    default: 'create',
    label: 'name',
    commands: ['ingest', 'doctor', 'serve'],
    first: ['ingest'],
  }),
  ids: loads(kinds.choice('run', 'field', 'hash', 'cluster'), 'run, field, hash or cluster: where ids come from', {
    default: 'run',
    label: 'source',
    commands: ['ingest', 'serve'],
    first: true,
  }),
  idField: loads(kinds.fieldList(), 'fields of the id, as in branch,order.no', {
    commands: ['ingest', 'serve'],
    first: true,
  }),
  idSeparator: loads(kinds.separator(), 'character between the values of several id fields. Default: |', {
    commands: ['ingest', 'serve'],
  }),
  routingField: documents(kinds.text(), 'field that holds the routing value of the document, as in customer.region', {
    label: 'field',
    commands: ['ingest', 'serve'],
  }),
  versionField: documents(
    kinds.text(),
    'with --op index or delete: field that holds the version of the document, a number or a date. An older version never replaces a newer one',
    { label: 'field', commands: ['ingest', 'serve'] },
  ),
  ifSeqNoField: documents(
    carrying.sequenceFields(),
    'fields that hold the _seq_no and the _primary_term of the document when it was read. A document that has changed since then is rejected',
  ),
  ifPrimaryTermField: documents(kinds.text(), 'field that holds the _primary_term of the document when it was read', {
    label: 'field',
    replaced: { by: 'ifSeqNoField', as: 'OWN,VALUE', own: '_seq_no' },
  }),
  script: documents(
    carrying.script(),
    'with --op update or upsert: file with a painless script, or id:ID for one that the cluster stores. The fields of each document are its params',
    { file: 'text' },
  ),
  scriptId: loads(kinds.text(), 'id of a script that the cluster stores, instead of --script', {
    label: 'id',
    replaced: { by: 'script', as: 'id:VALUE' },
  }),
  retryOnConflict: documents(
    kinds.wholeNumber({ min: 0, max: 100 }),
    'how often Elasticsearch repeats an update if another request changes the document at the same moment. Default: 3',
    { queued: 'loading' },
  ),
  pipeline: documents(kinds.text(), 'ingest pipeline of the cluster', {
    label: 'name',
    commands: ['ingest', 'replay', 'serve'],
  }),
  filesFrom: loads(kinds.text(), 'file that lists the inputs, one path per line (or NUL after each), or - for stdin', {
    label: 'file',
    as: false,
    notByWorkers: 'the list is on this machine only. Pass a quoted glob',
  }),
  null: loads(kinds.toggle(), 'paths in --files-from end with NUL, as in find -print0', {
    short: '-0',
    as: false,
    replaced: { by: 'filesFrom' },
  }),
  follow: loads(kinds.toggle(), 'keep loading lines that are appended to NDJSON files, and new files, until a signal', {
    notByWorkers: 'a job ends',
    notInReplay: toTheEnd,
    excludes: {
      dryRun: 'a dry run ends',
      swapAlias: 'an alias is switched when a load is complete',
      again: 'each round would load everything again',
      runId: 'ids of a named run depend on the size of each file',
      spool: 'it is only for stdin',
      tune: 'it would tune the index in every round',
      timeBudgetMs: 'to end the load, send a signal instead',
      byteBudget: 'the load has no end',
      pick: 'only lines can be followed',
    },
  }),
  pollMs: documents(kinds.duration({ bare: true }), 'with --follow: how often to look for new lines', {
    flag: '--poll',
    default: '1s',
    stage: 'follow',
    notInReplay: toTheEnd,
  }),
  format: inputs(
    kinds.choice('auto', 'ndjson', 'json', 'csv', 'tsv', 'text', ...dumpFormats),
    'auto, ndjson, json, csv, text, bulk, search, …',
    { default: 'auto', label: 'name', commands: ['ingest', 'infer'], first: true },
  ),
  pick: inputs(kinds.text(), 'path of the array inside a JSON document, for example hits.items', {
    label: 'path',
    commands: ['ingest', 'infer'],
  }),
  members: inputs(
    kinds.text(),
    'of an archive: the files to read, for example "*.csv,data/*.json". Default: all with documents',
    {
      label: 'patterns',
      commands: ['ingest', 'infer'],
    },
  ),
  sheet: inputs(kinds.text(), 'of a workbook (.xlsx): the sheet to read. Default: the first one', {
    label: 'name',
    commands: ['ingest', 'infer'],
  }),
  columns: csv(csvKinds.columnNames(), 'names of the columns. Default: the first row names them'),
  skipHeader: csv(kinds.toggle(), 'with --columns: skip the first row, which has other names'),
  skipLines: csv(
    kinds.wholeNumber({ min: 0, max: 1000 }),
    'lines above the names of the columns. Default: Sluice detects titles and comments',
  ),
  delimiter: csv(
    csvKinds.delimiter(),
    'character between cells: comma, semicolon, tab or another. Default: Sluice detects it',
  ),
  quote: csv(
    csvKinds.quotation(),
    'character around cells, `\\"` if a backslash stands before quotes in cells, or none. Default: Sluice detects it',
  ),
  encoding: csv(kinds.choice(...encodings), 'encoding of the file. Default: Sluice detects it'),
  inferTypes: csv(
    kinds.toggle(),
    'convert cells to numbers and booleans if no digit is lost. Default: every cell is text',
  ),
  types: csv(
    csvKinds.columnTypes(),
    'types of columns, as in Elasticsearch. Sluice rejects a row with a cell that does not fit',
  ),
  nullValues: csv(
    csvKinds.cellTexts(),
    'cells that hold no value, in every column. Default: NA, NULL and the like in columns of numbers, dates and booleans',
  ),
  empty: csv(kinds.choice('omit', 'null'), 'what an empty cell becomes: no field, or null', { default: 'omit' }),
  nan: csv(
    kinds.choice('reject', 'null', 'omit'),
    'what NaN and infinite numbers of Parquet become: reject their rows (default), null, or no field',
  ),
  sourceThroughProxy: remote(
    kinds.toggle(),
    'read https:// and s3:// inputs through the static-IP proxy, too. Default: directly',
    { as: 'throughProxy' },
  ),
  sourceCa: remote(kinds.text(check.pem), "PEM file of the CA that signed the certificates of the inputs' servers", {
    label: 'file',
    as: 'ca',
  }),
  sourceToken: remote(
    kinds.secretText(check.token),
    'bearer token for https:// inputs. Safer in the environment or a file',
    { label: 'token', secret: 'value', as: 'token' },
  ),
  sourceTokenFile: remote(kinds.text(), 'file that holds the token', { label: 'file', as: false }),
  from: origin(
    kinds.webAddress(check.url),
    'cluster to read inputs such as elasticsearch:orders from: https://HOST:PORT',
    {
      secret: 'url',
      as: 'url',
    },
  ),
  fromApiKey: origin(
    kinds.secretText(check.token),
    'API key of that cluster in its encoded form. Safer in the environment or a file',
    { label: 'key', secret: 'value', as: 'apiKey' },
  ),
  fromApiKeyFile: origin(kinds.text(), 'file that holds the API key', { label: 'file', as: false }),
  fromUsername: origin(kinds.text(check.secret), 'user name for that cluster, instead of an API key', {
    label: 'name',
    as: 'username',
    alsoNeeds: ['fromPassword', 'fromPasswordFile'],
  }),
  fromPassword: origin(kinds.secretText(), 'password of that user. Safer in the environment or a file', {
    label: 'password',
    secret: 'value',
    as: 'password',
    alsoNeeds: ['fromUsername'],
  }),
  fromPasswordFile: origin(kinds.text(), 'file that holds the password', {
    label: 'file',
    as: false,
    alsoNeeds: ['fromUsername'],
  }),
  fromCa: origin(kinds.text(check.pem), "PEM file of the CA that signed that cluster's certificate", {
    label: 'file',
    as: 'ca',
  }),
  fromProxy: origin(
    kinds.secretText(check.url),
    'URL of the proxy to that cluster. Default: Sluice reads it directly. Safer in the environment or a file',
    { label: 'url', secret: 'url', as: 'proxy' },
  ),
  fromProxyFile: origin(kinds.text(), 'file that holds the URL of that proxy', { label: 'file', as: false }),
  fromQuery: origin(
    kinds.text(check.jsonObject),
    'query that the documents must match: JSON, or a file that holds it. Example: {"query":{"term":{"open":true}}}',
    { label: 'file|json', file: 'json', as: 'query', commands: ['ingest', 'pull'], queued: 'documents' },
  ),
  set: edits(
    editKinds.setValues(),
    'set a field, as in @timestamp={now}, source={file} or n:=5 for JSON. Also {path} and {line}. Repeat for more fields',
  ),
  drop: edits(editKinds.fieldNames(), 'fields to leave out, as in password,user.email'),
  keep: edits(editKinds.fieldNames(), 'the only fields to keep'),
  rename: edits(editKinds.newNames(), 'new names of fields, as in ts=@timestamp'),
  transform: functions(
    kinds.text(check.transform),
    'JavaScript module. Its function gets each document and returns a document, an array of documents, or null for none',
    {
      label: 'file',
      notByWorkers: 'its code is on this machine only',
      notInReplay: 'is not an option of replay, because the dead letters hold the transformed documents',
      file: 'run',
    },
  ),
  transformTimeoutMs: functions(kinds.duration({ bare: false }), 'how long the function may take for one document', {
    flag: '--transform-timeout',
    default: '1m',
    notInReplay: 'is not an option of replay, which transforms nothing',
  }),
  onConflict: documents(
    kinds.choice('reject', 'skip'),
    'what to do if the id already exists: reject or skip the document',
    { default: 'reject', commands: ['ingest', 'replay', 'serve'], queued: 'loading' },
  ),
  resendUnknown: documents(
    kinds.toggle(),
    'send documents again if no answer shows whether they are stored. With --ids cluster or a script, or through the managed ingest endpoint, they may then be stored or changed twice',
    { commands: ['ingest', 'replay'], queued: 'loading' },
  ),
  deadLetters: documents(kinds.writtenFile(), 'file for rejected documents', {
    commands: ['ingest', 'replay', 'serve'],
    first: true,
    queued: 'loading',
    file: 'written',
  }),
  maxRejected: documents(kinds.rejectionLimit(), 'rejected documents to allow: count or percentage', {
    commands: ['ingest', 'replay'],
    first: true,
    queued: 'loading',
  }),
  dryRun: loads(kinds.toggle(), 'check and list everything, but change nothing', {
    commands: ['ingest', 'replay', 'undo'],
    first: ['ingest', 'undo'],
  }),

  batchBytes: requests(
    kinds.size({ min: 1000, max: 100_000_000 }),
    'maximum size of a request before compression. If Sluice compresses, the default is half of this',
    {
      default: '5_000_000',
    },
  ),
  batchDocs: requests(
    kinds.wholeNumber({ min: 1, max: 1_000_000 }, { max: MOST }),
    'maximum number of documents in a request',
    { otherwise: Infinity },
  ),
  batchMs: requests(kinds.duration({ bare: true }), 'send a request when its first document has waited this long', {
    default: '1s',
  }),
  concurrency: requests(
    kinds.wholeNumber({ min: 1, max: 256 }),
    'maximum number of requests at the same time. Sluice sends fewer if the cluster is busy',
    { default: '16', stage: 'connecting' },
  ),
  maxRate: requests(
    trafficKinds.maxRate(),
    'limit of the load per second: bytes on the wire as in 20mb/s, or documents as in 5000docs/s',
    { stage: 'traffic' },
  ),
  compress: requests(
    kinds.choice('auto', 'gzip', 'none'),
    'compress requests. auto: if a proxy or a limit may count the bytes. Otherwise only if that is no slower, and not on this machine',
    { default: 'auto' },
  ),
  timeoutMs: requests(kinds.duration({ bare: false }), 'time limit of one request', {
    flag: '--timeout',
    default: '2m',
    commands: [...toCluster, 'pull', 'login'],
    stage: 'connecting',
    queued: false,
  }),
  maxElapsedMs: requests(
    kinds.duration({ bare: false }, { min: 0, max: MOST }),
    'how long to retry one batch, or one request to ServiceNow',
    { flag: '--max-elapsed', default: '15m', commands: ['ingest', 'replay', 'pull', 'login'], stage: 'retrying' },
  ),
  onBlock: requests(
    kinds.blockPolicy(),
    'what to do if access is lost during a load: stop, or wait (30m, or as in wait=2h) and test the connection',
    { default: 'stop', commands: ['ingest', 'replay'], stage: false },
  ),

  stateDir: runs(kinds.text(), 'folder for checkpoints. Default: $XDG_STATE_HOME/sluice or ~/.local/state/sluice', {
    label: 'folder',
    commands: ['ingest', 'replay', 'runs', 'verify', 'undo', 'pull', 'login', 'serve'],
    first: ['runs', 'verify', 'undo'],
  }),
  spool: ofRuns(
    kinds.toggle(),
    'write stdin to the state folder first, so that an interrupted run can continue. If stdin repeats data, Sluice stores it twice. --run-id, --ids field or --ids hash prevents this',
    {
      notByWorkers: 'only this machine can read what it writes to disk',
      needs: { stateDir: 'where Sluice writes it' },
    },
  ),
  spoolLimit: ofRuns(
    kinds.size({ min: 1_000_000, max: 1e15 }, { max: MOST }),
    'maximum size of stdin on disk. Near the limit, Sluice reads only as fast as it loads. serve: maximum size of waiting documents (default 1gb)',
    { commands: ['ingest', 'replay', 'serve'] },
  ),
  runId: runs(kinds.runName(), 'name of the run. A repeated run with the same name stores no document twice'),
  timeBudgetMs: endings(
    kinds.duration({ bare: false }),
    'stop before this time has passed since the start of the process. The same command continues',
    { flag: '--time-budget', notByWorkers: 'it limits one process only' },
  ),
  plan: plan(
    carrying.monthlyPlan(),
    'traffic that you pay the proxy for, as in 100gb/month, or 100gb/month@15 if the month begins on the 15th (midnight UTC). Sluice counts what all commands use, and reports when the plan will be used up',
    { needs: { stateDir: 'where Sluice counts' } },
  ),
  planDay: plan(carrying.planDay, 'day on which the month of the plan begins, at midnight UTC', {
    default: '1',
    replaced: { by: 'plan', as: 'OWN@VALUE', own: '100gb/month' },
  }),
  planLimit: plan(
    trafficKinds.planLimit(),
    'what loads do near the end of the plan: report, stop, or slow down so that the rest lasts until the month ends. With a share: stop=95%, slow=80%',
    { default: 'report' },
  ),
  byteBudget: endings(
    kinds.size({ min: 1000, max: 1e15 }, { min: 1, max: MOST }),
    'stop before the run has sent and received this many bytes. The same command continues',
  ),
  // Kubernetes kills 30 seconds after SIGTERM: the rest is for the checkpoint.
  graceMs: endings(
    kinds.duration({ bare: false }, { min: 0 }),
    'how long to wait for open requests when the run must end',
    { flag: '--grace', default: '25s', commands: ['ingest', 'replay', 'serve', 'tunnel'] },
  ),
  keepRuns: runs(
    carrying.keptRuns(),
    'how many runs to list, for how many days, or both: 1000,90d (default). Sluice removes the oldest runs, but still knows their inputs',
    { default: '1000' },
  ),
  keepDays: runs(carrying.keptDays, 'how many days to list a run', {
    default: '90',
    replaced: { by: 'keepRuns', as: 'OWN,VALUEd', own: '1000' },
  }),
  again: runs(kinds.toggle(), 'load inputs even if they are already loaded'),
  report: ofRuns(
    kinds.writtenFile(),
    'file for a report of the run: one HTML page. Sluice also writes it if the run fails',
    { commands: ['ingest', 'replay', 'runs'], optionalIn: ['runs'], as: false, first: ['runs'], file: 'written' },
  ),

  servicenowUrl: servicenow(kinds.webAddress(check.url), 'URL of the instance: https://my-instance.example', {
    env: ['SERVICENOW_INSTANCE_URL'],
    secret: 'url',
    as: 'url',
    first: ['pull', 'login'],
  }),
  servicenowApiKey: servicenow(
    kinds.secretText(check.token),
    'REST API key of the instance (x-sn-apikey), instead of a user. Safer in the environment or a file',
    { label: 'key', env: ['SERVICENOW_API_KEY'], secret: 'value', as: 'apiKey' },
  ),
  servicenowApiKeyFile: servicenow(kinds.text(), 'file that holds the REST API key', { label: 'file', as: false }),
  servicenowUsername: servicenow(kinds.text(check.secret), 'user name for the instance', {
    label: 'name',
    env: ['SERVICENOW_USERNAME'],
    as: 'username',
    first: ['pull'],
  }),
  servicenowPassword: servicenow(kinds.secretText(), 'password of that user. Safer in the environment or a file', {
    label: 'password',
    env: ['SERVICENOW_PASSWORD'],
    secret: 'value',
    as: 'password',
  }),
  servicenowPasswordFile: servicenow(kinds.text(), 'file that holds the password', {
    label: 'file',
    as: false,
    first: ['pull'],
  }),
  servicenowClientId: servicenow(kinds.text(), "client id from the instance's application registry (OAuth)", {
    label: 'id',
    env: ['SERVICENOW_CLIENT_ID'],
    as: 'clientId',
    first: ['login'],
  }),
  servicenowClientSecret: servicenow(kinds.secretText(), 'secret of that client. Safer in the environment or a file', {
    label: 'secret',
    env: ['SERVICENOW_CLIENT_SECRET'],
    secret: 'value',
    as: 'clientSecret',
  }),
  servicenowClientSecretFile: servicenow(kinds.text(), 'file that holds the secret', {
    label: 'file',
    as: false,
    first: ['login'],
  }),
  servicenowRefreshToken: servicenow(kinds.secretText(), 'refresh token. Safer in the environment or a file', {
    label: 'token',
    env: ['SERVICENOW_REFRESH_TOKEN'],
    secret: 'value',
    as: 'refreshToken',
  }),
  servicenowRefreshTokenFile: servicenow(kinds.text(), 'file that holds the refresh token', {
    label: 'file',
    as: false,
  }),
  servicenowGrant: servicenow(
    kinds.choice('api_key', 'basic', 'password', 'client_credentials', 'refresh_token', 'authorization_code'),
    'how to log in: api_key, basic, password, client_credentials, refresh_token or authorization_code. Default: the API key if one is set, otherwise OAuth if the other options allow it, otherwise Basic',
    { label: 'grant', env: ['SERVICENOW_GRANT'], as: 'grant' },
  ),
  servicenowCa: servicenow(kinds.text(check.pem), "PEM file of the CA that signed the instance's certificate", {
    label: 'file',
    as: 'ca',
  }),
  tokenFile: servicenow(kinds.text(), 'file for tokens, readable only by you. Default: in the state folder', {
    label: 'file',
    file: 'written',
  }),
  query: rows(kinds.text(), 'rows to read, as an encoded query: active=true^priority<=2', {
    label: 'query',
    first: ['pull'],
  }),
  fields: rows(kinds.text(check.strings), 'fields to read, separated by commas. Default: all', {
    label: 'a,b',
    first: ['pull'],
  }),
  displayValue: rows(kinds.choice('false', 'true', 'all'), 'read values as stored, as displayed, or both', {
    default: 'false',
    first: ['pull'],
  }),
  pageSize: rows(
    kinds.wholeNumber({ min: 1, max: 10_000 }),
    'rows per request. Sluice halves this if the instance takes too long',
    { default: '1000' },
  ),
  output: servicenow(
    kinds.writtenFile('and rows go to stdout without this'),
    'file for the rows. Sluice writes it when all rows are there. If the command is interrupted, run it again',
    { commands: ['pull'], as: false, first: true, file: 'written' },
  ),
  attachments: servicenow(kinds.text(), 'folder for the attachments of the rows. Sluice keeps complete files', {
    label: 'folder',
    commands: ['pull'],
    as: false,
    file: 'written',
  }),
  deletions: deletions(
    carrying.deletions(),
    'what to do with documents of deleted rows: keep them, or compare the index with the whole table and delete them. reconcile=24h compares at most once a day',
    { default: 'keep', stage: false },
  ),
  maxDeleted: deletions(
    kinds.rejectionLimit(),
    'with reconcile: maximum number of documents to delete, as a count or a share of the index. If there are more, Sluice deletes none. Default: 10%',
    { otherwise: '10%' },
  ),
  reconcileEveryMs: deletions(
    carrying.comparisons,
    'with reconcile: minimum time between two comparisons. Default: every run compares',
    { flag: '--reconcile-every', otherwise: 0, replaced: { by: 'deletions', as: 'reconcile=VALUE' } },
  ),

  listen: webhook(carrying.listen(), 'address:port/path. 0.0.0.0 means all addresses', {
    default: '127.0.0.1:8080',
    first: true,
  }),
  serveCert: webhook(
    kinds.text(),
    'PEM file of the certificate with its chain. Sluice then accepts https instead of http',
    { label: 'file', as: 'tls', alsoNeeds: ['serveKey'] },
  ),
  serveKey: webhook(kinds.text(), "PEM file of that certificate's key", {
    label: 'file',
    as: false,
    alsoNeeds: ['serveCert'],
  }),
  servePath: webhook(kinds.text(), 'path for posted documents', {
    default: '/',
    label: 'path',
    as: 'path',
    replaced: { by: 'listen', as: 'OWNVALUE', own: '127.0.0.1:8080' },
  }),
  serveToken: webhook(kinds.secretText(), 'bearer token that callers send. Safer in the environment or a file', {
    label: 'token',
    secret: 'value',
    as: 'token',
  }),
  serveTokenFile: webhook(kinds.text(), 'file that holds the token', { label: 'file', as: false, first: true }),
  noToken: webhook(kinds.toggle(), 'accept requests without a token (loopback only)', { as: false, first: true }),
  maxBody: webhook(kinds.size({ min: 1000, max: 100_000_000 }), 'maximum size of a request, also after decompression', {
    default: '10_000_000',
  }),
  maxDocuments: webhook(kinds.wholeNumber({ min: 1, max: 10_000_000 }), 'maximum number of documents in a request', {
    default: '100_000',
  }),
  acceptAnyway: webhook(kinds.toggle(), 'accept documents even if the cluster cannot be reached at the start'),

  metrics: metrics(
    carrying.metrics(),
    "metrics for Prometheus: a port for GET /metrics while Sluice runs, a file NAME.prom for node_exporter's textfile collector, or both (9464,sluice.prom). serve: also open (on its own port, to everybody) or token (to callers with the token)",
    {
      default: 'off',
      commands: ['ingest', 'replay', 'serve', 'doctor', 'worker'],
      section: 'serve',
      as: 'metrics',
    },
  ),
  metricsTextfile: metrics(
    kinds.metricsFile(),
    "file NAME.prom for node_exporter's textfile collector, written when the run ends",
    {
      commands: ['ingest', 'replay', 'doctor', 'worker'],
      file: 'written',
      replaced: { by: 'metrics', as: 'VALUE' },
    },
  ),
  metricsPort: metrics(kinds.listenAddress(), 'port for Prometheus: GET /metrics while Sluice runs', {
    commands: ['ingest', 'replay', 'serve', 'doctor', 'worker'],
    replaced: { by: 'metrics', as: 'VALUE' },
  }),

  to: tunnels(
    destinations(),
    'where the tunnel leads: cluster, servicenow or HOST:PORT, with a local port before it if needed (9200:cluster). May be repeated. Default: the cluster and the ServiceNow instance that are set',
    { first: true },
  ),
  withLogin: tunnels(
    kinds.toggle(),
    'add the configured credentials to requests. Callers then send the token of the tunnel instead',
    { first: true },
  ),
  tunnelToken: tunnels(
    kinds.secretText(check.token),
    'token for --with-login. Default: a new one at each start. Safer in the environment or a file',
    { label: 'token', secret: 'value' },
  ),
  tunnelTokenFile: tunnels(kinds.text(), 'file that holds the token', { label: 'file' }),
  idleMs: tunnels(kinds.duration({ bare: false }), 'close connections that carry no data for this time', {
    flag: '--idle',
    default: '1h',
  }),

  onFailure: alarm(
    kinds.wordOrCommand('nothing', 'incident'),
    'what to do if the run fails: open a ServiceNow incident (and resolve it after a successful run), or run a shell command with the receipt on its stdin',
    { default: 'nothing', file: 'run' },
  ),
  onSuccess: alarm(kinds.text(), 'shell command to run after exit code 0. Its stdin is the receipt', {
    label: 'command',
    commands: ['ingest', 'replay'],
    file: 'run',
  }),
  job: alarm(kinds.job(), 'name of the job, to find its incident again. Default: made from command, index and inputs'),
  incidentFields: alarm(kinds.incidentFields(), 'more fields of the incident: assignment_group=ID^urgency=1'),
  alarmHost: alarm(kinds.text(), 'name of this machine in the incident. Default: none', { label: 'name' }),
  alarmTimeoutMs: alarm(
    kinds.duration({ bare: false }),
    'time limit of the alarm, or of a command of --on-failure, --on-success or --on-change',
    {
      flag: '--alarm-timeout',
      default: '30s',
    },
  ),
  // Otherwise the credentials of the other options would go to the alarm's own URL.
  alarmUrl: alarm(
    kinds.webAddress(),
    'instance for the alarm, if it is not --servicenow-url. Needs credentials of its own',
    { env: ['SERVICENOW_ALARM_INSTANCE_URL'], secret: 'url', alsoNeeds: ['alarmUsername', 'alarmClientId'] },
  ),
  alarmUsername: alarm(
    kinds.text(),
    'user name for the alarm. Default: the credentials of the other ServiceNow options',
    { label: 'name', env: ['SERVICENOW_ALARM_USERNAME'], alsoNeeds: ['alarmPassword', 'alarmPasswordFile'] },
  ),
  alarmPassword: alarm(kinds.secretText(), 'password of that user. Safer in the environment or a file', {
    label: 'password',
    env: ['SERVICENOW_ALARM_PASSWORD'],
    secret: 'value',
    alsoNeeds: ['alarmUsername'],
  }),
  alarmPasswordFile: alarm(kinds.text(), 'file that holds the password', {
    label: 'file',
    alsoNeeds: ['alarmUsername'],
  }),
  alarmClientId: alarm(
    kinds.text(),
    'client id for the alarm (OAuth). Also set a user name and password, or only the secret (client_credentials)',
    {
      label: 'id',
      env: ['SERVICENOW_ALARM_CLIENT_ID'],
      alsoNeeds: ['alarmClientSecret', 'alarmClientSecretFile', 'alarmUsername'],
    },
  ),
  alarmClientSecret: alarm(kinds.secretText(), 'secret of that client. Safer in the environment or a file', {
    label: 'secret',
    env: ['SERVICENOW_ALARM_CLIENT_SECRET'],
    secret: 'value',
    alsoNeeds: ['alarmClientId'],
  }),
  alarmClientSecretFile: alarm(kinds.text(), 'file that holds the secret', {
    label: 'file',
    alsoNeeds: ['alarmClientId'],
  }),

  tune: preparing(
    kinds.toggle(),
    'turn refreshes and replicas off for the load, and restore them at its end. After a kill, the next load restores them',
  ),
  againstIndex: preparing(
    kinds.toggle(),
    'with --dry-run: ask the cluster what the index would do with one document of each shape',
  ),
  sample: preparing(
    kinds.wholeNumber({ min: 0, max: MOST }),
    'number of documents to read from each input. 0 reads all',
    { default: '10_000', commands: ['infer'], first: true, as: false, stage: false },
  ),
  mapping: preparing(
    kinds.text(check.mapping),
    'mapping of the index: JSON, a file that holds it, infer, or copy for that of the other cluster. Sluice creates a missing index with it, and compares an existing index with it',
    { label: 'infer|copy|file|json', file: 'json' },
  ),
  template: preparing(
    kinds.text(check.jsonObject),
    'index template: a file with the name of the template, or JSON with its name. Sluice creates or compares it',
    { label: 'file|json', file: 'json' },
  ),

  swapAlias: guarded(kinds.text(), 'load into a new index, check it, then switch this alias', {
    label: 'name',
    stage: false,
  }),
  indexBody: guarded(
    kinds.text(check.jsonObject),
    'body of PUT /INDEX for the new index: JSON, or a file that holds it. Default: like the previous index',
    { label: 'file|json', file: 'json' },
  ),
  checkQuery: guarded(
    carrying.checkQuery(),
    'query that must match before Sluice switches the alias, and how many documents (default 1): JSON, or a file that holds it. Example: {"query":{"exists":{"field":"sku"}},"hits":1000}',
    { label: 'file|json', file: 'json' },
  ),
  checkHits: guarded(
    kinds.wholeNumber({ min: 1, max: MOST }),
    'number of documents that --check-query must match. Default: 1',
    { otherwise: 1, alsoNeeds: ['checkQuery'], replaced: { by: 'checkQuery', as: '{"query":{…},"hits":VALUE}' } },
  ),

  nodes: doctor(kinds.secretText(check.strings), 'URL of each proxy node, to find a blocked address', {
    label: 'url,url',
    secret: 'url',
    first: true,
  }),
  noDirectCheck: doctor(kinds.toggle(), 'do not test the connection without the proxy', {
    commands: ['doctor', 'filter'],
    as: false,
    first: true,
  }),
  writeCheck: doctor(kinds.toggle(), 'write, read and delete one document in --index', { first: true }),
  watchMs: doctor(kinds.duration({ bare: false }), 'check again after this time, until a signal: one line per change', {
    flag: '--watch',
    as: false,
    commands: ['doctor', 'serve'],
  }),
  onChange: doctor(kinds.text(), 'with --watch: shell command to run for each change, with JSON on its stdin', {
    label: 'command',
    as: false,
    commands: ['doctor', 'serve'],
    file: 'run',
  }),
  supportBundle: doctor(kinds.text(), 'file for a report without secrets, user names or documents', {
    label: 'file',
    as: false,
    first: true,
    file: 'written',
  }),

  queue: queue(
    queueUrl(),
    'URL of the queue that workers share: redis://, rediss:// or postgres://. Safer in the environment',
    { label: 'url', secret: 'url', commands: ['ingest', 'worker', 'jobs', 'doctor'], first: ['worker', 'jobs'] },
  ),
  queueKeyFile: queue(
    kinds.text(),
    'file with a key of 32 characters or more, the same for all processes of the queue. Sluice signs jobs and receipts with it, and refuses others',
    { label: 'file', commands: ['ingest', 'worker', 'jobs'], first: ['worker'] },
  ),
  jobs: queue(kinds.wholeNumber({ min: 1, max: 256 }), 'ranges that this worker loads at the same time', {
    default: '4',
    first: ['worker'],
  }),
  onlyInputs: queue(
    kinds.patterns(),
    'inputs that this worker may load, separated by commas, as in s3://bucket/logs/*. It leaves other jobs to other workers',
    { commands: ['worker'], first: ['worker'] },
  ),
  onlyIndex: queue(
    kinds.patterns(),
    'indices that this worker may fill, separated by commas, as in logs-*. It leaves other jobs to other workers',
    { commands: ['worker'] },
  ),
  lettersFolder: queue(kinds.text(), 'folder of this worker for dead letters, whatever folder a job names', {
    label: 'folder',
    file: 'written',
    commands: ['worker'],
  }),
  rangeBytes: queue(
    kinds.size({ min: 1000, max: 1e12 }, { max: MOST }),
    'with --queue: size of the ranges into which large NDJSON files are cut',
    { default: '64mib', commands: ['ingest'] },
  ),
  leaseMs: queue(
    kinds.duration({ bare: false }, { min: 1000, max: 3_600_000 }),
    'how long a worker may be silent before other workers load its ranges',
    { flag: '--lease', default: '30s' },
  ),

  adminUrl: filter(
    kinds.webAddress(),
    'URL of the Elastic Cloud API. Sluice connects to it directly, never through the proxy',
    { default: 'https://api.elastic-cloud.com', secret: 'url' },
  ),
  adminKey: filter(
    kinds.secretText(),
    'API key of the organisation, not of the cluster. Safer in the environment or a file',
    { label: 'key', env: ['EC_API_KEY'], secret: 'value' },
  ),
  adminKeyFile: filter(kinds.text(), 'file that holds the API key of the organisation', { label: 'file', first: true }),
  deployment: filter(kinds.text(), 'id of the deployment, from the URL of its page in the console', {
    label: 'id',
    first: true,
    orElse: 'project',
  }),
  project: filter(
    carrying.project(),
    'id of the serverless project, instead of --deployment. Its type stands before it: observability:ID, security:ID. Default: elasticsearch',
    { first: ['filter'] },
  ),
  projectType: filter(
    carrying.projectType,
    'type of the serverless project: elasticsearch, observability or security',
    { default: 'elasticsearch', label: 'type', replaced: { by: 'project', as: 'VALUE:OWN', own: 'ID' } },
  ),
  includeByDefault: filter(
    kinds.toggle(),
    'create: also attach the policy to each deployment or project that is created later in its region',
    { flag: '--default', commands: ['filter'] },
  ),
  policy: filter(
    kinds.text(),
    'id or name of the IP filter policy. create: name of the new policy (default `static addresses`)',
    { label: 'id|name', first: ['filter'] },
  ),
  region: filter(kinds.text(), 'region of a new policy. Default: the region of the deployment', {
    label: 'region',
    first: ['filter'],
  }),

  config: output(
    kinds.text(),
    'configuration file in place of sluice.config.json. Credentials of the environment may go to URLs that it names',
    { label: 'file', commands: [...toCluster, 'runs', 'pull', 'login', 'infer', 'jobs'] },
  ),
  json: output(kinds.toggle(), 'print one JSON object on stdout', {
    commands: printingJson,
    first: [...printingJson, 'config'],
  }),
  quiet: output(kinds.toggle(), 'print no progress. If every document is stored, print nothing', { short: '-q' }),
  logFormat: output(
    kinds.choice('text', 'json'),
    'format of stderr. Default: text on a terminal and with --quiet, otherwise one JSON object per line',
    { commands: ['ingest', 'replay', 'pull', 'serve', 'tunnel', 'worker'] },
  ),
} as const satisfies Readonly<Record<string, OptionRow<unknown>>>
