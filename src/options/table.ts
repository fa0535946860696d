/**
 * The table of options: one row per option. Flags, variables, keys of the configuration file, help, docs/options.md, the settings and the
 * checks of the library derive from it. Help keeps this order.
 */
import * as kinds from './kinds.js'
import * as check from './option-checks.js'
import { type OptionRow, group, toCluster } from './option.js'

const MOST = Number.MAX_SAFE_INTEGER

const cluster = group('Cluster', toCluster)
const proxy = group('Proxy and route', [...toCluster, 'pull', 'login'])
const documents = group('Documents', ['ingest'])
const requests = group('Requests', ['ingest', 'replay', 'serve'])
const runs = group('Runs', ['ingest', 'replay'])
const servicenow = group('ServiceNow', ['ingest', 'pull', 'login', 'doctor'])
const webhook = group('Webhook receiver', ['serve'])
const alarm = group('Alarm', ['ingest', 'replay', 'pull'])
const guarded = group('Guarded load', ['ingest'])
const doctor = group('Doctor', ['doctor'])
const filter = group('Filter administration', ['filter'])
const output = group('Output', [...toCluster, 'pull', 'login'])

export const table = {
  url: cluster(kinds.text(check.url), {
    doc: 'URL of the cluster: https://HOST:PORT',
    label: 'url',
    env: ['ELASTICSEARCH_URL'],
    secret: 'url',
    as: 'target.url',
    first: true,
  }),
  cloudId: cluster(kinds.text(), {
    doc: 'Elastic Cloud: the cloud id, instead of --url',
    label: 'id',
    env: ['ELASTICSEARCH_CLOUD_ID'],
    as: 'target.cloudId',
    first: ['ingest', 'doctor'],
  }),
  apiKey: cluster(kinds.secretText(check.token), {
    doc: 'API key in its encoded form. Safer in the environment or a file',
    label: 'key',
    env: ['ELASTICSEARCH_API_KEY'],
    secret: 'value',
    as: 'target.apiKey',
  }),
  apiKeyFile: cluster(kinds.text(), {
    doc: 'file that holds the API key',
    label: 'file',
    as: false,
    first: true,
  }),
  username: cluster(kinds.text(check.secret), {
    doc: 'user name, instead of an API key',
    label: 'name',
    env: ['ELASTICSEARCH_USERNAME'],
    as: 'target.username',
  }),
  password: cluster(kinds.secretText(), {
    doc: 'password of that user. Safer in the environment or a file',
    label: 'password',
    env: ['ELASTICSEARCH_PASSWORD'],
    secret: 'value',
    as: 'target.password',
  }),
  passwordFile: cluster(kinds.text(), { doc: 'file that holds the password', label: 'file', as: false }),
  ca: cluster(kinds.text(check.pem), {
    doc: "PEM file of the CA that signed the cluster's certificate",
    label: 'file',
    as: 'target.ca',
  }),
  caFingerprint: cluster(kinds.fingerprint(), {
    doc: "SHA-256 fingerprint of a certificate in the cluster's chain",
    label: 'sha256',
    as: 'target.caFingerprint',
  }),
  cert: cluster(kinds.text(check.pem), { doc: 'PEM file of a client certificate', label: 'file', as: 'target.cert' }),
  key: cluster(kinds.text(check.pem), {
    doc: "PEM file of the client certificate's key",
    label: 'file',
    as: 'target.key',
  }),
  allowPlaintext: cluster(kinds.toggle(), {
    doc: 'send credentials over plain http to another machine',
    default: 'false',
    as: 'target.allowPlaintext',
  }),

  proxy: proxy(kinds.secretText(check.url), {
    doc: 'URL of the static-IP proxy from the dashboard of your provider. Safer in the environment or a file',
    label: 'url',
    env: ['STATIC_PROXY_URL', 'QUOTAGUARDSTATIC_URL', 'QUOTAGUARDSHIELD_URL', 'FIXIE_URL', 'PROXIMO_URL'],
    secret: 'url',
    as: 'proxy.url',
  }),
  proxyFile: proxy(kinds.text(), {
    doc: 'file that holds the URL of the proxy',
    label: 'file',
    as: false,
    first: true,
  }),
  proxyCa: proxy(kinds.text(check.pem), {
    doc: 'PEM file of the CA that signed the certificate of a TLS proxy',
    label: 'file',
    as: 'proxy.ca',
  }),
  requireProxy: proxy(kinds.toggle(), { doc: 'stop if no proxy is set', default: 'false', as: 'proxy.requireProxy' }),
  direct: proxy(kinds.toggle(), { doc: 'connect without the proxy', default: 'false', as: 'proxy.direct' }),
  staticIps: proxy(kinds.addressPair(), {
    doc: 'your two static addresses, separated by a comma',
    label: 'a,b',
    env: ['STATIC_IPS'],
    commands: toCluster,
    first: true,
  }),
  ipCheckUrl: proxy(kinds.webAddress(), {
    doc: 'URL that answers with {"ip": "your address"}',
    label: 'url',
    env: ['IP_CHECK_URL'],
    secret: 'url',
    commands: toCluster,
  }),
  preflightConnections: proxy(kinds.wholeNumber({ min: 0, max: 64 }), {
    default: '16',
    doc: 'number of test connections before the first document (0 means one)',
    label: 'count',
  }),
  httpsProxy: proxy(kinds.secretText(check.string), {
    doc: 'proxy to use if no static-IP proxy is set',
    env: ['HTTPS_PROXY', 'https_proxy'],
    secret: 'url',
    environmentOnly: true,
    as: 'proxy.environmentProxy',
  }),
  noProxy: proxy(kinds.text(check.string), {
    doc: 'hosts to reach without HTTPS_PROXY',
    env: ['NO_PROXY', 'no_proxy'],
    environmentOnly: true,
    as: 'proxy.noProxy',
  }),

  index: documents(kinds.text(), {
    doc: 'index, alias or data stream to load into',
    label: 'name',
    commands: ['ingest', 'replay', 'doctor', 'serve'],
    first: true,
  }),
  op: documents(kinds.choice('create', 'index'), {
    default: 'create',
    doc: 'create never overwrites a document, index does',
    label: 'create|index',
    commands: ['ingest', 'doctor', 'serve'],
    first: ['ingest'],
  }),
  ids: documents(kinds.choice('run', 'field', 'cluster'), {
    default: 'run',
    doc: 'ids by Sluice, from a field, or by the cluster',
    label: 'run|field|cluster',
    commands: ['ingest', 'serve'],
    first: true,
  }),
  idField: documents(kinds.text(), {
    doc: 'field that holds the id, with --ids field',
    label: 'field',
    commands: ['ingest', 'serve'],
    first: true,
  }),
  routingField: documents(kinds.text(), {
    doc: 'field that holds the routing value of the document',
    label: 'field',
    commands: ['ingest', 'serve'],
  }),
  pipeline: documents(kinds.text(), {
    doc: 'ingest pipeline of the cluster',
    label: 'name',
    commands: ['ingest', 'replay', 'serve'],
  }),
  format: documents(kinds.choice('auto', 'ndjson', 'json'), {
    default: 'auto',
    doc: 'format of the inputs',
    label: 'auto|ndjson|json',
    first: true,
  }),
  pick: documents(kinds.text(), {
    doc: 'path of the array inside a JSON document, for example hits.items',
    label: 'path',
  }),
  onConflict: documents(kinds.choice('reject', 'skip'), {
    default: 'reject',
    doc: 'what to do if the id already exists: reject or skip the document',
    label: 'reject|skip',
    commands: ['ingest', 'replay', 'serve'],
  }),
  deadLetters: documents(kinds.writtenFile(), {
    doc: 'file for rejected documents',
    label: 'file',
    commands: ['ingest', 'replay', 'serve'],
    first: true,
  }),
  maxRejected: documents(kinds.rejectionLimit(), {
    doc: 'stop if more are rejected: a count or percentage',
    label: 'limit',
    commands: ['ingest', 'replay'],
    first: true,
  }),
  dryRun: documents(kinds.toggle(), {
    doc: 'check everything, send and delete nothing',
    default: 'false',
    commands: ['ingest', 'replay', 'undo'],
    first: ['ingest', 'undo'],
  }),

  batchBytes: requests(kinds.size({ min: 1000, max: 100_000_000 }), {
    default: '5_000_000',
    doc: 'send a request before it grows past this size',
    label: 'size',
  }),
  batchDocs: requests(kinds.wholeNumber({ min: 1, max: 1_000_000 }, { max: MOST }), {
    doc: 'send a request once it has this many documents',
    label: 'count',
  }),
  batchMs: requests(kinds.duration({ bare: true }), {
    default: '1s',
    doc: 'send a request once its first document has waited this long',
    label: 'duration',
  }),
  concurrency: requests(kinds.wholeNumber({ min: 1, max: 256 }), {
    default: '16',
    doc: 'most requests at the same time. Sluice sends fewer if the cluster is busy',
    label: 'count',
  }),
  compress: requests(kinds.choice('auto', 'gzip', 'none'), {
    default: 'auto',
    doc: 'compress requests. auto compresses those that leave this machine',
    label: 'auto|gzip|none',
  }),
  timeoutMs: requests(kinds.duration({ bare: false }), {
    flag: '--timeout',
    default: '2m',
    doc: 'time limit of one request',
    label: 'duration',
    commands: [...toCluster, 'pull', 'login'],
  }),
  maxElapsedMs: requests(kinds.duration({ bare: false }, { min: 0, max: MOST }), {
    flag: '--max-elapsed',
    default: '15m',
    doc: 'how long to retry one batch, or one request to ServiceNow',
    label: 'duration',
    commands: ['ingest', 'replay', 'pull', 'login'],
  }),
  onBlock: requests(kinds.blockPolicy(), {
    default: 'stop',
    doc: 'what to do if the proxy, the IP filter, the credentials or the index refuse a request: stop, or wait (30m, or as in wait=2h) and test the connection',
    label: 'stop|wait[=duration]',
    commands: ['ingest', 'replay'],
  }),

  stateDir: runs(kinds.text(), {
    doc: 'folder for checkpoints. Default: $XDG_STATE_HOME/sluice or ~/.local/state/sluice',
    label: 'folder',
    commands: ['ingest', 'replay', 'runs', 'verify', 'undo', 'pull', 'login', 'serve'],
    first: ['runs', 'verify', 'undo'],
  }),
  spool: runs(kinds.toggle(), {
    doc: 'write stdin to the state folder first, so that an interrupted run can be resumed. Data that comes again is stored again, unless --run-id or --ids field makes its ids the same',
    default: 'false',
  }),
  spoolLimit: runs(kinds.size({ min: 1_000_000, max: 1e15 }, { max: MOST }), {
    doc: 'most bytes of stdin on the disk. Sluice stops reading until it has loaded some. serve: most bytes that wait (default 1gb)',
    label: 'size',
    commands: ['ingest', 'replay', 'serve'],
  }),
  runId: runs(kinds.runName(), {
    doc: 'name of the run. The same name never loads a document twice',
    label: 'name',
  }),
  timeBudgetMs: runs(kinds.duration({ bare: false }), {
    flag: '--time-budget',
    doc: 'stop before this time is over, counted from the start of the process. The same command continues',
    label: 'duration',
  }),
  byteBudget: runs(kinds.size({ min: 1000, max: 1e15 }, { min: 1, max: MOST }), {
    doc: 'stop before more bytes are sent and received. The same command continues',
    label: 'size',
  }),
  // Kubernetes kills 30 seconds after SIGTERM: the rest is for the checkpoint.
  graceMs: runs(kinds.duration({ bare: false }, { min: 0 }), {
    flag: '--grace',
    default: '25s',
    doc: 'how long to wait for requests under way once the run has to end',
    label: 'duration',
    commands: ['ingest', 'replay', 'serve'],
  }),
  again: runs(kinds.toggle(), { doc: 'load again what is already loaded', default: 'false' }),

  servicenowUrl: servicenow(kinds.webAddress(check.url), {
    doc: 'URL of the instance: https://my-instance.example',
    label: 'url',
    env: ['SERVICENOW_INSTANCE_URL'],
    secret: 'url',
    as: 'servicenow.url',
    first: ['pull', 'login'],
  }),
  servicenowUsername: servicenow(kinds.text(check.secret), {
    doc: 'user name at the instance',
    label: 'name',
    env: ['SERVICENOW_USERNAME'],
    as: 'servicenow.username',
    first: ['pull'],
  }),
  servicenowPassword: servicenow(kinds.secretText(), {
    doc: 'password of that user. Safer in the environment or a file',
    label: 'password',
    env: ['SERVICENOW_PASSWORD'],
    secret: 'value',
    as: 'servicenow.password',
  }),
  servicenowPasswordFile: servicenow(kinds.text(), {
    doc: 'file that holds the password',
    label: 'file',
    as: false,
    first: ['pull'],
  }),
  servicenowClientId: servicenow(kinds.text(), {
    doc: "client id from the instance's application registry (OAuth)",
    label: 'id',
    env: ['SERVICENOW_CLIENT_ID'],
    as: 'servicenow.clientId',
    first: ['login'],
  }),
  servicenowClientSecret: servicenow(kinds.secretText(), {
    doc: 'secret of that client. Safer in the environment or a file',
    label: 'secret',
    env: ['SERVICENOW_CLIENT_SECRET'],
    secret: 'value',
    as: 'servicenow.clientSecret',
  }),
  servicenowClientSecretFile: servicenow(kinds.text(), {
    doc: 'file that holds the secret',
    label: 'file',
    as: false,
    first: ['login'],
  }),
  servicenowRefreshToken: servicenow(kinds.secretText(), {
    doc: 'refresh token. Safer in the environment or a file',
    label: 'token',
    env: ['SERVICENOW_REFRESH_TOKEN'],
    secret: 'value',
    as: 'servicenow.refreshToken',
  }),
  servicenowRefreshTokenFile: servicenow(kinds.text(), {
    doc: 'file that holds the refresh token',
    label: 'file',
    as: false,
  }),
  servicenowGrant: servicenow(
    kinds.choice('basic', 'password', 'client_credentials', 'refresh_token', 'authorization_code'),
    {
      doc: 'how to log in: basic, password, client_credentials, refresh_token or authorization_code. Default: what the other options allow, OAuth before Basic',
      label: 'grant',
      env: ['SERVICENOW_GRANT'],
      as: 'servicenow.grant',
    },
  ),
  servicenowCa: servicenow(kinds.text(check.pem), {
    doc: "PEM file of the CA that signed the instance's certificate",
    label: 'file',
    as: 'servicenow.ca',
  }),
  tokenFile: servicenow(kinds.text(), {
    doc: 'file for tokens that only you can read. Default: in the state folder',
    label: 'file',
    as: 'servicenow.tokenFile',
  }),
  query: servicenow(kinds.text(), {
    doc: 'rows to read, as an encoded query: active=true^priority<=2',
    label: 'query',
    commands: ['ingest', 'pull'],
    as: 'table.query',
    first: ['pull'],
  }),
  fields: servicenow(kinds.text(check.strings), {
    doc: 'fields to read, with commas. Default: all',
    label: 'a,b',
    commands: ['ingest', 'pull'],
    as: 'table.fields',
    first: ['pull'],
  }),
  displayValue: servicenow(kinds.choice('false', 'true', 'all'), {
    default: 'false',
    doc: 'read values as stored, as displayed, or both',
    label: 'false|true|all',
    commands: ['ingest', 'pull'],
    as: 'table.displayValue',
    first: ['pull'],
  }),
  pageSize: servicenow(kinds.wholeNumber({ min: 1, max: 10_000 }), {
    default: '1000',
    doc: 'rows of one request. Sluice halves it if the instance takes too long',
    label: 'count',
    commands: ['ingest', 'pull'],
    as: 'table.pageSize',
  }),
  output: servicenow(kinds.writtenFile('and rows go to stdout without this'), {
    doc: 'file for the rows, written once all rows are there. If the command is interrupted, run it again',
    label: 'file',
    commands: ['pull'],
    as: false,
    first: true,
  }),
  deletions: servicenow(kinds.choice('keep', 'audit', 'reconcile'), {
    default: 'keep',
    doc: 'documents of deleted rows: keep them, delete those that the audit table names, or compare with the whole table',
    label: 'keep|audit|reconcile',
    commands: ['ingest'],
  }),
  maxDeleted: servicenow(kinds.rejectionLimit(), {
    doc: 'with reconcile: delete nothing if more documents would go, a count or a share of the index. Default: 10%',
    label: 'limit',
    commands: ['ingest'],
  }),
  reconcileEveryMs: servicenow(kinds.duration({ bare: false }, { max: MOST }), {
    flag: '--reconcile-every',
    doc: 'with reconcile: shortest time between two comparisons. Default: each run compares',
    label: 'duration',
    commands: ['ingest'],
  }),

  listen: webhook(kinds.text(), {
    default: '127.0.0.1:8080',
    doc: 'address and port. 0.0.0.0: all addresses',
    label: 'address:port',
    as: 'serve.listen',
    first: true,
  }),
  serveCert: webhook(kinds.text(), {
    doc: 'PEM file of the certificate for callers, with its chain: accept https instead of http',
    label: 'file',
    as: 'serve.tls',
  }),
  serveKey: webhook(kinds.text(), {
    doc: "PEM file of that certificate's key",
    label: 'file',
    as: false,
  }),
  servePath: webhook(kinds.text(), {
    default: '/',
    doc: 'path for posted documents',
    label: 'path',
    as: 'serve.path',
  }),
  serveToken: webhook(kinds.secretText(), {
    doc: 'bearer token that callers send. Safer in the environment or a file',
    label: 'token',
    secret: 'value',
    as: 'serve.token',
  }),
  serveTokenFile: webhook(kinds.text(), { doc: 'file that holds the token', label: 'file', as: false, first: true }),
  noToken: webhook(kinds.toggle(), {
    doc: 'no token, only on a loopback address',
    default: 'false',
    as: false,
    first: true,
  }),
  maxBody: webhook(kinds.size({ min: 1000, max: 100_000_000 }), {
    default: '10_000_000',
    doc: 'largest request, also after decompression',
    label: 'size',
    as: 'serve.maxBody',
  }),
  acceptAnyway: webhook(kinds.toggle(), {
    doc: 'accept documents even if the cluster cannot be reached at the start',
    default: 'false',
    as: 'serve.acceptAnyway',
  }),

  onFailure: alarm(kinds.choice('nothing', 'incident'), {
    default: 'nothing',
    doc: 'open a ServiceNow incident if the run fails, and resolve it after a good run',
    label: 'nothing|incident',
    as: false,
  }),
  job: alarm(kinds.job(), {
    doc: 'name of the job, to find its incident again. Default: made from command, index and inputs',
    label: 'name',
    as: false,
  }),
  incidentFields: alarm(kinds.incidentFields(), {
    doc: 'more fields of the incident: assignment_group=ID^urgency=1',
    label: 'name=value^…',
    as: false,
  }),
  alarmHost: alarm(kinds.text(), {
    doc: 'name of this machine in the incident. Default: none',
    label: 'name',
    as: false,
  }),
  alarmTimeoutMs: alarm(kinds.duration({ bare: false }), {
    flag: '--alarm-timeout',
    default: '30s',
    doc: 'time limit of the alarm',
    label: 'duration',
    as: false,
  }),
  alarmUrl: alarm(kinds.webAddress(), {
    doc: 'instance for the alarm, if it is not --servicenow-url. Needs credentials of its own',
    label: 'url',
    env: ['SERVICENOW_ALARM_INSTANCE_URL'],
    secret: 'url',
    as: false,
  }),
  alarmUsername: alarm(kinds.text(), {
    doc: 'user name for the alarm. Default: the credentials of the other ServiceNow options',
    label: 'name',
    env: ['SERVICENOW_ALARM_USERNAME'],
    as: false,
  }),
  alarmPassword: alarm(kinds.secretText(), {
    doc: 'password of that user. Safer in the environment or a file',
    label: 'password',
    env: ['SERVICENOW_ALARM_PASSWORD'],
    secret: 'value',
    as: false,
  }),
  alarmPasswordFile: alarm(kinds.text(), { doc: 'file that holds the password', label: 'file', as: false }),
  alarmClientId: alarm(kinds.text(), {
    doc: 'client id for the alarm (OAuth): with a user name and password, or only with its secret (client_credentials)',
    label: 'id',
    env: ['SERVICENOW_ALARM_CLIENT_ID'],
    as: false,
  }),
  alarmClientSecret: alarm(kinds.secretText(), {
    doc: 'secret of that client. Safer in the environment or a file',
    label: 'secret',
    env: ['SERVICENOW_ALARM_CLIENT_SECRET'],
    secret: 'value',
    as: false,
  }),
  alarmClientSecretFile: alarm(kinds.text(), { doc: 'file that holds the secret', label: 'file', as: false }),

  swapAlias: guarded(kinds.text(), {
    doc: 'load a fresh index, check it, switch this alias',
    label: 'name',
  }),
  indexBody: guarded(kinds.text(check.jsonObject), {
    doc: 'body of PUT /INDEX for the fresh index: JSON, or a file that holds it. Default: like the index before',
    label: 'file|json',
  }),
  checkQuery: guarded(kinds.text(check.jsonObject), {
    doc: 'query that has to match before the alias is switched, for example {"query":{"exists":{"field":"sku"}}}: JSON, or a file that holds it',
    label: 'file|json',
  }),
  checkHits: guarded(kinds.wholeNumber({ min: 1, max: MOST }), {
    doc: 'documents that --check-query has to match. Default: 1',
    label: 'count',
  }),

  nodes: doctor(kinds.secretText(check.strings), {
    doc: 'URL of each proxy node, to find the blocked one',
    label: 'url,url',
    secret: 'url',
    as: 'doctor.nodes',
    first: true,
  }),
  noDirectCheck: doctor(kinds.toggle(), {
    doc: 'send nothing past the proxy (else GET /)',
    default: 'false',
    commands: ['doctor', 'filter'],
    as: false,
    first: true,
  }),
  writeCheck: doctor(kinds.toggle(), {
    doc: 'write, read and delete one document in --index',
    default: 'false',
    as: 'doctor.writeCheck',
    first: true,
  }),
  supportBundle: doctor(kinds.text(), {
    doc: 'file for a report without secrets, user names and documents',
    label: 'file',
    as: false,
    first: true,
  }),

  adminUrl: filter(kinds.webAddress(), {
    default: 'https://api.elastic-cloud.com',
    doc: 'URL of the Elastic Cloud API. Sluice connects to it directly, never through the proxy',
    label: 'url',
    secret: 'url',
    as: false,
  }),
  adminKey: filter(kinds.secretText(), {
    doc: 'API key of the organisation, not of the cluster. Safer in the environment or a file',
    label: 'key',
    env: ['EC_API_KEY'],
    secret: 'value',
    as: false,
  }),
  adminKeyFile: filter(kinds.text(), { doc: 'file that holds that key', label: 'file', as: false, first: true }),
  deployment: filter(kinds.text(), {
    doc: 'id of the deployment, from the URL of its page in the console',
    label: 'id',
    as: false,
    first: true,
  }),
  policy: filter(kinds.text(), {
    doc: 'IP filter policy, by id or name. create: its name (default `static addresses`)',
    label: 'id|name',
    as: false,
    first: true,
  }),
  region: filter(kinds.text(), {
    doc: 'region of a new policy. Default: the region of the deployment',
    label: 'region',
    as: false,
    first: true,
  }),

  json: output(kinds.toggle(), {
    doc: 'print one JSON object on stdout',
    default: 'false',
    commands: ['ingest', 'replay', 'doctor', 'runs', 'verify', 'undo', 'rollback', 'filter', 'login', 'serve'],
    as: false,
    first: ['ingest', 'replay', 'doctor', 'runs', 'verify', 'undo', 'rollback', 'filter', 'login', 'serve', 'config'],
  }),
  quiet: output(kinds.toggle(), {
    doc: 'no progress, only errors and the result',
    default: 'false',
    as: false,
  }),
} as const satisfies Readonly<Record<string, OptionRow<unknown>>>

export type OptionName = keyof typeof table

export const optionNames = Object.keys(table) as readonly OptionName[]

/** Every option in force. Bytes, and milliseconds for durations. */
export type Settings = { readonly [K in OptionName]: (typeof table)[K] extends OptionRow<infer V> ? V : never }
