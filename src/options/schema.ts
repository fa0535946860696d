import { z } from 'zod'
import * as kinds from './kinds.js'
import { section } from './option.js'

const toCluster = ['ingest', 'replay', 'doctor', 'verify', 'undo', 'rollback', 'filter', 'serve'] as const
const cluster = section('Cluster', toCluster)
const path = section('Path to the cluster', [...toCluster, 'pull', 'login'])
const documents = section('Documents', ['ingest'])
const requests = section('Requests', ['ingest', 'replay', 'serve'])
const runs = section('Runs', ['ingest', 'replay'])
const servicenow = section('Service-management platform', ['ingest', 'pull', 'login', 'doctor'])
const webhook = section('Webhook receiver', ['serve'])
const alarm = section('Alarm', ['ingest', 'replay', 'pull'])
const guarded = section('Guarded load', ['ingest'])
const doctor = section('Doctor', ['doctor'])
const filter = section('Filter administration', ['filter'])
const output = section('Output', [...toCluster, 'pull', 'login'])

/** Every option: its kind and limits, its default as a person would write it, and what help says of it. */
export const schema = z.object({
  url: cluster(kinds.text().optional(), {
    doc: "the cluster's endpoint, as in https://my.es.eu-west-1.aws.example:9243",
    label: 'url',
    env: ['ELASTICSEARCH_URL'],
    secret: 'url',
  }),
  cloudId: cluster(kinds.text().optional(), {
    doc: 'the cloud id, instead of --url',
    label: 'id',
    env: ['ELASTICSEARCH_CLOUD_ID'],
  }),
  apiKey: cluster(kinds.secret().optional(), {
    doc: 'API key, encoded; better in the environment or a file',
    label: 'key',
    env: ['ELASTICSEARCH_API_KEY'],
    secret: 'value',
  }),
  apiKeyFile: cluster(kinds.text().optional(), { doc: 'file that holds the API key', label: 'file' }),
  username: cluster(kinds.text().optional(), {
    doc: 'user name, instead of an API key',
    label: 'name',
    env: ['ELASTICSEARCH_USERNAME'],
  }),
  password: cluster(kinds.secret().optional(), {
    doc: 'its password; better in the environment or a file',
    label: 'password',
    env: ['ELASTICSEARCH_PASSWORD'],
    secret: 'value',
  }),
  passwordFile: cluster(kinds.text().optional(), { doc: 'file that holds the password', label: 'file' }),
  ca: cluster(kinds.text().optional(), {
    doc: "PEM file of the CA that signed the cluster's certificate",
    label: 'file',
  }),
  caFingerprint: cluster(kinds.fingerprint().optional(), {
    doc: "SHA-256 of a certificate in the cluster's chain",
    label: 'sha256',
  }),
  cert: cluster(kinds.text().optional(), { doc: 'PEM file of a client certificate', label: 'file' }),
  key: cluster(kinds.text().optional(), {
    doc: "PEM file of the client certificate's key",
    label: 'file',
  }),
  allowPlaintext: cluster(kinds.flag().prefault(false), {
    doc: 'send credentials over plain http to another machine',
  }),
  proxy: path(kinds.secret().optional(), {
    doc: 'the static-IP proxy, as the dashboard shows it; better in the environment or a file',
    label: 'url',
    env: ['STATIC_PROXY_URL', 'QUOTAGUARDSTATIC_URL', 'QUOTAGUARDSHIELD_URL', 'FIXIE_URL', 'PROXIMO_URL'],
    secret: 'url',
  }),
  proxyFile: path(kinds.text().optional(), { doc: 'file that holds the proxy URL', label: 'file' }),
  proxyCa: path(kinds.text().optional(), { doc: 'PEM file of the CA of a TLS proxy', label: 'file' }),
  requireProxy: path(kinds.flag().prefault(false), { doc: 'stop where no proxy is set' }),
  direct: path(kinds.flag().prefault(false), { doc: 'connect without the proxy' }),
  staticIps: path(kinds.addressPair().optional(), {
    doc: 'the two static addresses of the dashboard, with a comma',
    label: 'a,b',
    env: ['STATIC_IPS'],
    commands: toCluster,
  }),
  ipCheckUrl: path(kinds.webAddress().optional(), {
    doc: 'address that answers {"ip": …} with the source address',
    label: 'url',
    env: ['IP_CHECK_URL'],
    secret: 'url',
    commands: toCluster,
  }),
  preflightConnections: path(kinds.whole({ min: 0, max: 64 }).prefault(16), {
    doc: 'most connections that probe the IP filter before the first document; 0 probes with one',
    label: 'count',
  }),
  httpsProxy: path(kinds.secret().optional(), {
    doc: 'the proxy of last resort',
    env: ['HTTPS_PROXY', 'https_proxy'],
    secret: 'url',
    environmentOnly: true,
  }),
  noProxy: path(kinds.text().optional(), {
    doc: 'hosts that HTTPS_PROXY does not serve',
    env: ['NO_PROXY', 'no_proxy'],
    environmentOnly: true,
  }),
  index: documents(kinds.text().optional(), {
    doc: 'index, alias or data stream to load into',
    label: 'name',
    commands: ['ingest', 'replay', 'doctor', 'serve'],
  }),
  op: documents(kinds.choice('create', 'index').prefault('create'), {
    doc: 'create never overwrites a document, index does',
    label: 'create|index',
    commands: ['ingest', 'doctor', 'serve'],
  }),
  ids: documents(kinds.choice('run', 'field', 'cluster').prefault('run'), {
    doc: 'document ids: made for the run, taken from a field, or given by the cluster',
    label: 'run|field|cluster',
    commands: ['ingest', 'serve'],
  }),
  idField: documents(kinds.text().optional(), {
    doc: 'the field, with --ids field',
    label: 'field',
    commands: ['ingest', 'serve'],
  }),
  routingField: documents(kinds.text().optional(), {
    doc: 'field whose value routes the document',
    label: 'field',
    commands: ['ingest', 'serve'],
  }),
  pipeline: documents(kinds.text().optional(), {
    doc: 'ingest pipeline of the cluster',
    label: 'name',
    commands: ['ingest', 'replay', 'serve'],
  }),
  format: documents(kinds.choice('auto', 'ndjson', 'json').prefault('auto'), {
    doc: 'format of the inputs',
    label: 'auto|ndjson|json',
  }),
  pick: documents(kinds.text().optional(), {
    doc: 'path of the array inside a JSON document, as in hits.items',
    label: 'path',
  }),
  onConflict: documents(kinds.choice('reject', 'skip').prefault('reject'), {
    doc: 'what becomes of a document whose id of your own exists already',
    label: 'reject|skip',
    commands: ['ingest', 'replay', 'serve'],
  }),
  deadLetters: documents(kinds.writtenFile().optional(), {
    doc: 'file for rejected documents',
    label: 'file',
    commands: ['ingest', 'replay', 'serve'],
  }),
  maxRejected: documents(kinds.rejectionLimit().optional(), {
    doc: 'stop when more are rejected: a count, or a share as in 1%',
    label: 'limit',
    commands: ['ingest', 'replay'],
  }),
  dryRun: documents(kinds.flag().prefault(false), {
    doc: 'read and check everything, send no document; undo: delete none',
    commands: ['ingest', 'replay', 'undo'],
  }),
  batchBytes: requests(kinds.size({ min: 1000, max: 100_000_000 }).prefault('5_000_000'), {
    doc: 'send a request at this size',
    label: 'size',
  }),
  batchDocs: requests(kinds.whole({ min: 1, max: 1_000_000 }).optional(), {
    doc: 'send a request at this many documents',
    label: 'count',
  }),
  batchMs: requests(kinds.duration({ bare: true }).prefault('1s'), {
    doc: 'send what is there after this time',
    label: 'duration',
  }),
  concurrency: requests(kinds.whole({ min: 1, max: 256 }).prefault(16), {
    doc: 'most requests under way at once; how many there are follows the cluster',
    label: 'count',
  }),
  compress: requests(kinds.choice('auto', 'gzip', 'none').prefault('auto'), {
    doc: 'compress requests; auto: where the path leaves this machine',
    label: 'auto|gzip|none',
  }),
  timeout: requests(kinds.duration({ bare: false }).prefault('2m'), {
    doc: 'time limit of one request',
    label: 'duration',
    commands: [...toCluster, 'pull', 'login'],
  }),
  maxElapsed: requests(kinds.duration({ bare: false }).prefault('15m'), {
    doc: 'how long one batch, or one request to the instance, may be tried again',
    label: 'duration',
    commands: ['ingest', 'replay', 'pull', 'login'],
  }),
  onBlock: requests(kinds.onBlock().prefault('stop'), {
    doc: 'when proxy, IP filter, credentials or index refuse in the middle: stop, or wait and probe (30m, or as in wait=2h)',
    label: 'stop|wait[=duration]',
    commands: ['ingest', 'replay'],
  }),
  stateDir: runs(kinds.text().optional(), {
    doc: 'folder for the checkpoints that resumes go by; default $XDG_STATE_HOME/sluice or ~/.local/state/sluice',
    label: 'folder',
    commands: ['ingest', 'replay', 'runs', 'verify', 'undo', 'pull', 'login', 'serve'],
  }),
  spool: runs(kinds.flag().prefault(false), {
    doc: 'keep what comes from stdin in the state folder until it is loaded, so that it can be resumed',
  }),
  spoolLimit: runs(kinds.size({ min: 1_000_000, max: 1e15 }).optional(), {
    doc: 'most that is kept on the disk of one stdin: the producer is held back until what came first is loaded; serve: of all that waits, 1gb if not set',
    label: 'size',
    commands: ['ingest', 'replay', 'serve'],
  }),
  runId: runs(kinds.runId().optional(), {
    doc: 'name of the run: repeated without its checkpoint, it doubles nothing',
    label: 'name',
  }),
  timeBudget: runs(kinds.duration({ bare: false }).optional(), {
    doc: "end in time for a platform's limit: counted from the start of the process; the same command goes on",
    label: 'duration',
  }),
  byteBudget: runs(kinds.size({ min: 1000, max: 1e15 }).optional(), {
    doc: 'end before more bytes go over the wire, both ways, all of them; the same command goes on',
    label: 'size',
  }),
  grace: runs(kinds.duration({ bare: false }).prefault('25s'), {
    doc: 'how long requests under way may take once the run is to end',
    label: 'duration',
    commands: ['ingest', 'replay', 'serve'],
  }),
  again: runs(kinds.flag().prefault(false), { doc: 'load again what is loaded' }),
  servicenowUrl: servicenow(kinds.webAddress().optional(), {
    doc: "the instance's address, as in https://my-instance.example",
    label: 'url',
    env: ['SERVICENOW_INSTANCE_URL'],
    secret: 'url',
  }),
  servicenowUsername: servicenow(kinds.text().optional(), {
    doc: 'user name at the instance',
    label: 'name',
    env: ['SERVICENOW_USERNAME'],
  }),
  servicenowPassword: servicenow(kinds.secret().optional(), {
    doc: 'its password; better in the environment or a file',
    label: 'password',
    env: ['SERVICENOW_PASSWORD'],
    secret: 'value',
  }),
  servicenowPasswordFile: servicenow(kinds.text().optional(), { doc: 'file that holds the password', label: 'file' }),
  servicenowClientId: servicenow(kinds.text().optional(), {
    doc: "client id of the instance's application registry (OAuth)",
    label: 'id',
    env: ['SERVICENOW_CLIENT_ID'],
  }),
  servicenowClientSecret: servicenow(kinds.secret().optional(), {
    doc: 'its secret; better in the environment or a file',
    label: 'secret',
    env: ['SERVICENOW_CLIENT_SECRET'],
    secret: 'value',
  }),
  servicenowClientSecretFile: servicenow(kinds.text().optional(), { doc: 'file that holds it', label: 'file' }),
  servicenowRefreshToken: servicenow(kinds.secret().optional(), {
    doc: 'refresh token; better in the environment or a file',
    label: 'token',
    env: ['SERVICENOW_REFRESH_TOKEN'],
    secret: 'value',
  }),
  servicenowRefreshTokenFile: servicenow(kinds.text().optional(), { doc: 'file that holds it', label: 'file' }),
  servicenowGrant: servicenow(
    kinds.choice('basic', 'password', 'client_credentials', 'refresh_token', 'authorization_code').optional(),
    {
      doc: 'how to prove who asks; if not set, what the other options allow, OAuth before Basic',
      label: 'basic|password|client_credentials|refresh_token|authorization_code',
      env: ['SERVICENOW_GRANT'],
    },
  ),
  servicenowCa: servicenow(kinds.text().optional(), {
    doc: "PEM file of the CA that signed the instance's certificate",
    label: 'file',
  }),
  tokenFile: servicenow(kinds.text().optional(), {
    doc: 'where tokens are kept, readable by you alone; default: in the state folder',
    label: 'file',
  }),
  query: servicenow(kinds.text().optional(), {
    doc: 'which rows of the table, as an encoded query: active=true^priority<=2',
    label: 'query',
    commands: ['ingest', 'pull'],
  }),
  fields: servicenow(kinds.text().optional(), {
    doc: 'which fields, with commas; all if not set',
    label: 'a,b',
    commands: ['ingest', 'pull'],
  }),
  displayValue: servicenow(kinds.choice('false', 'true', 'all').prefault('false'), {
    doc: 'fields as they are stored, as they are displayed, or both',
    label: 'false|true|all',
    commands: ['ingest', 'pull'],
  }),
  pageSize: servicenow(kinds.whole({ min: 1, max: 10_000 }).prefault(1000), {
    doc: 'rows of one request; halved where the instance gives up on a page',
    label: 'count',
    commands: ['ingest', 'pull'],
  }),
  deletions: servicenow(kinds.choice('keep', 'audit', 'reconcile').prefault('keep'), {
    doc: 'rows that were deleted: keep their documents, delete those that the audit table names, or compare with the whole table',
    label: 'keep|audit|reconcile',
    commands: ['ingest'],
  }),
  maxDeleted: servicenow(kinds.rejectionLimit().optional(), {
    doc: 'reconcile: delete nothing where more would be, a count or a share of the index; default 10%',
    label: 'limit',
    commands: ['ingest'],
  }),
  reconcileEvery: servicenow(kinds.duration({ bare: false }).optional(), {
    doc: 'reconcile: compare no more often than this; default: each run',
    label: 'duration',
    commands: ['ingest'],
  }),
  listen: webhook(kinds.text().prefault('127.0.0.1:8080'), {
    doc: 'address and port to accept requests on; 0.0.0.0 for all addresses of this machine',
    label: 'address:port',
  }),
  serveCert: webhook(kinds.text().optional(), {
    doc: 'PEM file of the certificate that callers see, with those between it and its authority: accept https instead of http',
    label: 'file',
  }),
  serveKey: webhook(kinds.text().optional(), { doc: "PEM file of that certificate's key", label: 'file' }),
  servePath: webhook(kinds.text().prefault('/'), { doc: 'path that documents are posted to', label: 'path' }),
  serveToken: webhook(kinds.secret().optional(), {
    doc: 'bearer token that callers have to bring; better in the environment or a file',
    label: 'token',
    secret: 'value',
  }),
  serveTokenFile: webhook(kinds.text().optional(), { doc: 'file that holds the token', label: 'file' }),
  noToken: webhook(kinds.flag().prefault(false), {
    doc: 'accept requests without a token; on a loopback address alone',
  }),
  maxBody: webhook(kinds.size({ min: 1000, max: 100_000_000 }).prefault('10_000_000'), {
    doc: 'largest request, also once it is decompressed',
    label: 'size',
  }),
  acceptAnyway: webhook(kinds.flag().prefault(false), {
    doc: 'accept documents also where the way to the cluster is closed at the start',
  }),
  onFailure: alarm(kinds.choice('nothing', 'incident').prefault('nothing'), {
    doc: 'open an incident at the service-management platform when the run fails, resolve it after a good run',
    label: 'nothing|incident',
  }),
  job: alarm(kinds.job().optional(), {
    doc: 'what tells the incidents of this job from others; if not set, it is made of command, index and inputs',
    label: 'name',
  }),
  incidentFields: alarm(kinds.incidentFields().optional(), {
    doc: 'more fields of the incident, as the platform stores them: assignment_group=ID^urgency=1',
    label: 'name=value^…',
  }),
  alarmHost: alarm(kinds.text().optional(), {
    doc: 'what the incident calls this machine; it is not told if not set',
    label: 'name',
  }),
  alarmTimeout: alarm(kinds.duration({ bare: false }).prefault('30s'), {
    doc: 'how long the alarm may take',
    label: 'duration',
  }),
  alarmUrl: alarm(kinds.webAddress().optional(), {
    doc: "another instance than --servicenow-url; needs credentials of the alarm's own",
    label: 'url',
    env: ['SERVICENOW_ALARM_INSTANCE_URL'],
    secret: 'url',
  }),
  alarmUsername: alarm(kinds.text().optional(), {
    doc: 'user name of the alarm; without credentials of its own it takes the others',
    label: 'name',
    env: ['SERVICENOW_ALARM_USERNAME'],
  }),
  alarmPassword: alarm(kinds.secret().optional(), {
    doc: 'its password; better in the environment or a file',
    label: 'password',
    env: ['SERVICENOW_ALARM_PASSWORD'],
    secret: 'value',
  }),
  alarmPasswordFile: alarm(kinds.text().optional(), { doc: 'file that holds the password', label: 'file' }),
  alarmClientId: alarm(kinds.text().optional(), {
    doc: 'client id of the alarm (OAuth): with a user name and password, or alone (client_credentials)',
    label: 'id',
    env: ['SERVICENOW_ALARM_CLIENT_ID'],
  }),
  alarmClientSecret: alarm(kinds.secret().optional(), {
    doc: 'its secret; better in the environment or a file',
    label: 'secret',
    env: ['SERVICENOW_ALARM_CLIENT_SECRET'],
    secret: 'value',
  }),
  alarmClientSecretFile: alarm(kinds.text().optional(), { doc: 'file that holds it', label: 'file' }),
  swapAlias: guarded(kinds.text().optional(), {
    doc: 'instead of --index: load into a fresh index, check it, then switch this alias to it',
    label: 'name',
  }),
  indexBody: guarded(kinds.text().optional(), {
    doc: 'JSON, or a file of it, that the index is made with, as PUT /INDEX takes it; default: like the index before',
    label: 'file|json',
  }),
  checkQuery: guarded(kinds.text().optional(), {
    doc: 'JSON, or a file of it, as in {"query":{"exists":{"field":"sku"}}}: has to match before the alias is switched',
    label: 'file|json',
  }),
  checkHits: guarded(kinds.whole({ min: 1, max: Number.MAX_SAFE_INTEGER }).optional(), {
    doc: 'documents that it has to match at least; 1 if not set',
    label: 'count',
  }),
  nodes: doctor(kinds.secret().optional(), {
    doc: "URLs of the proxy's single nodes, with a comma: each is asked alone, and tells which address is refused",
    label: 'url,url',
    secret: 'url',
  }),
  noDirectCheck: doctor(kinds.flag().prefault(false), {
    doc: 'ask the cluster nothing without the proxy; else it is asked GET / there, without credentials',
    commands: ['doctor', 'filter'],
  }),
  writeCheck: doctor(kinds.flag().prefault(false), {
    doc: 'write, read and delete one document in --index',
  }),
  supportBundle: doctor(kinds.text().optional(), {
    doc: 'file for a report that may be given away: no secrets, no names of users, no documents',
    label: 'file',
  }),
  adminUrl: filter(kinds.webAddress().prefault('https://api.elastic-cloud.com'), {
    doc: "address of the hosting service's administration API; asked directly, never through the proxy",
    label: 'url',
    secret: 'url',
  }),
  adminKey: filter(kinds.secret().optional(), {
    doc: 'API key of the organisation, not of the cluster; better in the environment or a file',
    label: 'key',
    env: ['EC_API_KEY'],
    secret: 'value',
  }),
  adminKeyFile: filter(kinds.text().optional(), { doc: 'file that holds that key', label: 'file' }),
  deployment: filter(kinds.text().optional(), {
    doc: 'id of the deployment, as in the URL of its page in the console',
    label: 'id',
  }),
  policy: filter(kinds.text().optional(), {
    doc: 'IP filter policy, by id or name; create: its name, if not set `static addresses`',
    label: 'id|name',
  }),
  region: filter(kinds.text().optional(), {
    doc: 'region of a policy that is created; if not set, that of the deployment',
    label: 'region',
  }),
  json: output(kinds.flag().prefault(false), {
    doc: 'one JSON object on stdout, nothing else',
    commands: ['ingest', 'replay', 'doctor', 'runs', 'verify', 'undo', 'rollback', 'filter', 'login', 'serve'],
  }),
  quiet: output(kinds.flag().prefault(false), { doc: 'no progress, errors and the result alone' }),
})

export type OptionName = keyof typeof schema.shape

export const optionNames = Object.keys(schema.shape) as readonly OptionName[]
