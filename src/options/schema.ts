import { z } from 'zod'
import * as kinds from './kinds.js'

/** Commands that take options of the schema. `lab` and `demo` have flags of their own. */
export type OptionCommand = 'ingest' | 'doctor' | 'config'

/** What an option is besides its kind. The flag and SLUICE_… follow from the option's name. */
interface OptionMeta {
  readonly doc: string
  /** How help shows the value; options without one are switches. */
  readonly label?: string
  /** Names in the environment besides SLUICE_…, the first that is set counts. */
  readonly env?: readonly string[]
  /** Never shown: the whole value, or the credentials inside a URL. */
  readonly secret?: 'value' | 'url'
  /** Has neither a flag nor a SLUICE_… name nor a place in the file: set by the system for all programs. */
  readonly environmentOnly?: true
  /** Besides `config`, which takes all of them. */
  readonly commands: readonly Exclude<OptionCommand, 'config'>[]
}

const metas = z.registry<OptionMeta>()

function option<S extends z.ZodType>(schema: S, meta: OptionMeta): S {
  metas.add(schema, meta)
  return schema
}

const both = ['ingest', 'doctor'] as const
const ingest = ['ingest'] as const

export const schema = z.object({
  url: option(kinds.text().optional(), {
    doc: "the cluster's endpoint, as in https://my.es.eu-west-1.aws.example:9243",
    label: 'url',
    env: ['ELASTICSEARCH_URL'],
    secret: 'url',
    commands: both,
  }),
  cloudId: option(kinds.text().optional(), {
    doc: 'the cloud id, instead of --url',
    label: 'id',
    env: ['ELASTICSEARCH_CLOUD_ID'],
    commands: both,
  }),
  apiKey: option(kinds.secret().optional(), {
    doc: 'API key, encoded; better in the environment or a file',
    label: 'key',
    env: ['ELASTICSEARCH_API_KEY'],
    secret: 'value',
    commands: both,
  }),
  apiKeyFile: option(kinds.text().optional(), { doc: 'file that holds the API key', label: 'file', commands: both }),
  username: option(kinds.text().optional(), {
    doc: 'user name, instead of an API key',
    label: 'name',
    env: ['ELASTICSEARCH_USERNAME'],
    commands: both,
  }),
  password: option(kinds.secret().optional(), {
    doc: 'its password; better in the environment or a file',
    label: 'password',
    env: ['ELASTICSEARCH_PASSWORD'],
    secret: 'value',
    commands: both,
  }),
  passwordFile: option(kinds.text().optional(), { doc: 'file that holds the password', label: 'file', commands: both }),
  ca: option(kinds.text().optional(), {
    doc: "PEM file of the CA that signed the cluster's certificate",
    label: 'file',
    commands: both,
  }),
  caFingerprint: option(kinds.fingerprint().optional(), {
    doc: "SHA-256 of a certificate in the cluster's chain",
    label: 'sha256',
    commands: both,
  }),
  cert: option(kinds.text().optional(), { doc: 'PEM file of a client certificate', label: 'file', commands: both }),
  key: option(kinds.text().optional(), {
    doc: "PEM file of the client certificate's key",
    label: 'file',
    commands: both,
  }),
  proxy: option(kinds.secret().optional(), {
    doc: 'the static-IP proxy, as the dashboard shows it; better in the environment or a file',
    label: 'url',
    env: ['STATIC_PROXY_URL', 'QUOTAGUARDSTATIC_URL', 'QUOTAGUARDSHIELD_URL', 'FIXIE_URL', 'PROXIMO_URL'],
    secret: 'url',
    commands: both,
  }),
  proxyFile: option(kinds.text().optional(), { doc: 'file that holds the proxy URL', label: 'file', commands: both }),
  proxyCa: option(kinds.text().optional(), { doc: 'PEM file of the CA of a TLS proxy', label: 'file', commands: both }),
  requireProxy: option(kinds.flag().prefault(false), { doc: 'stop where no proxy is set', commands: both }),
  direct: option(kinds.flag().prefault(false), { doc: 'connect without the proxy', commands: both }),
  allowPlaintext: option(kinds.flag().prefault(false), {
    doc: 'send credentials over plain http to another machine',
    commands: both,
  }),
  index: option(kinds.text().optional(), {
    doc: 'index, alias or data stream to load into',
    label: 'name',
    commands: both,
  }),
  op: option(kinds.choice('create', 'index').prefault('create'), {
    doc: 'create never overwrites a document, index does',
    label: 'operation',
    commands: ingest,
  }),
  ids: option(kinds.choice('run', 'field', 'cluster').prefault('run'), {
    doc: 'document ids: made for the run, taken from a field, or given by the cluster',
    label: 'scheme',
    commands: ingest,
  }),
  idField: option(kinds.text().optional(), { doc: 'the field, with --ids field', label: 'field', commands: ingest }),
  routingField: option(kinds.text().optional(), {
    doc: 'field whose value routes the document',
    label: 'field',
    commands: ingest,
  }),
  pipeline: option(kinds.text().optional(), { doc: 'ingest pipeline of the cluster', label: 'name', commands: ingest }),
  format: option(kinds.choice('auto', 'ndjson', 'json').prefault('auto'), {
    doc: 'format of the inputs',
    label: 'format',
    commands: ingest,
  }),
  pick: option(kinds.text().optional(), {
    doc: 'path of the array inside a JSON document, as in hits.items',
    label: 'path',
    commands: ingest,
  }),
  batchBytes: option(kinds.size({ min: 1000, max: 100_000_000 }).prefault('5_000_000'), {
    doc: 'send a request at this size',
    label: 'size',
    commands: ingest,
  }),
  batchDocs: option(kinds.whole({ min: 1, max: 1_000_000 }).optional(), {
    doc: 'send a request at this many documents',
    label: 'count',
    commands: ingest,
  }),
  batchMs: option(kinds.duration({ bare: true }).prefault('1s'), {
    doc: 'send what is there after this time',
    label: 'duration',
    commands: ingest,
  }),
  concurrency: option(kinds.whole({ min: 1, max: 256 }).prefault(4), {
    doc: 'requests under way at once',
    label: 'count',
    commands: ingest,
  }),
  compress: option(kinds.choice('auto', 'gzip', 'none').prefault('auto'), {
    doc: 'compress requests; auto: where the path leaves this machine',
    label: 'how',
    commands: ingest,
  }),
  deadLetters: option(kinds.text().optional(), { doc: 'file for rejected documents', label: 'file', commands: ingest }),
  maxRejected: option(kinds.rejectionLimit().optional(), {
    doc: 'stop when more are rejected: a count, or a share as in 1%',
    label: 'limit',
    commands: ingest,
  }),
  maxElapsed: option(kinds.duration({ bare: false }).prefault('15m'), {
    doc: 'how long one batch may be tried again',
    label: 'duration',
    commands: ingest,
  }),
  timeout: option(kinds.duration({ bare: false }).prefault('2m'), {
    doc: 'time limit of one request',
    label: 'duration',
    commands: both,
  }),
  onConflict: option(kinds.choice('reject', 'skip').prefault('reject'), {
    doc: 'what becomes of a document whose id of your own exists already',
    label: 'what',
    commands: ingest,
  }),
  preflightConnections: option(kinds.whole({ min: 0, max: 256 }).prefault(16), {
    doc: 'most connections that probe the IP filter before the first document; 0 probes with one',
    label: 'count',
    commands: both,
  }),
  dryRun: option(kinds.flag().prefault(false), {
    doc: 'read and check everything, send no document',
    commands: ingest,
  }),
  json: option(kinds.flag().prefault(false), { doc: 'one JSON object on stdout, nothing else', commands: both }),
  quiet: option(kinds.flag().prefault(false), { doc: 'no progress, errors and the result alone', commands: both }),
  staticIps: option(kinds.addressPair().optional(), {
    doc: 'the two static addresses of the dashboard, with a comma',
    label: 'a,b',
    env: ['STATIC_IPS'],
    commands: both,
  }),
  ipCheckUrl: option(kinds.text().optional(), {
    doc: 'address that answers {"ip": …} with the source address',
    label: 'url',
    env: ['IP_CHECK_URL'],
    secret: 'url',
    commands: both,
  }),
  httpsProxy: option(kinds.secret().optional(), {
    doc: 'the proxy of last resort',
    env: ['HTTPS_PROXY', 'https_proxy'],
    secret: 'url',
    environmentOnly: true,
    commands: both,
  }),
  noProxy: option(kinds.text().optional(), {
    doc: 'hosts that HTTPS_PROXY does not serve',
    env: ['NO_PROXY', 'no_proxy'],
    environmentOnly: true,
    commands: both,
  }),
})

export type OptionName = keyof typeof schema.shape

export const optionNames = Object.keys(schema.shape) as readonly OptionName[]

/** One option as flags, environment, file, help and docs see it. */
export interface OptionView {
  readonly name: OptionName
  /** `--batch-bytes`; absent for what the environment alone sets. */
  readonly flag?: string
  readonly label?: string
  /** All names in the environment, the first that is set counts. */
  readonly env: readonly string[]
  readonly doc: string
  /** As a person would write it. */
  readonly default?: string
  readonly secret?: 'value' | 'url'
  readonly commands: readonly OptionCommand[]
}

export function viewOption(name: OptionName): OptionView {
  const field: z.ZodType = schema.shape[name]
  const meta = metas.get(field)
  if (meta === undefined) throw new Error(`the option ${name} has no description`)
  const preset = field instanceof z.ZodPrefault && meta.label !== undefined ? String(field.def.defaultValue) : undefined
  return {
    name,
    ...(meta.environmentOnly ? {} : { flag: `--${words(name).join('-')}` }),
    ...(meta.label === undefined ? {} : { label: meta.label }),
    env: [...(meta.environmentOnly ? [] : [`SLUICE_${words(name).join('_').toUpperCase()}`]), ...(meta.env ?? [])],
    doc: meta.doc,
    ...(preset === undefined ? {} : { default: preset }),
    ...(meta.secret === undefined ? {} : { secret: meta.secret }),
    commands: [...meta.commands, 'config'],
  }
}

/** The options that a command takes as flags, in the order of the schema. */
export function optionsOf(command: OptionCommand): readonly OptionView[] {
  return optionNames.map(viewOption).filter((view) => view.flag !== undefined && view.commands.includes(command))
}

function words(name: string): string[] {
  return name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ')
}
