/**
 * Reads the files that options name: credentials, certificates, JSON. All throw SluiceError OPTION_INVALID with the path
 * and why it cannot be read, never with the contents.
 */
import { readFile as readBytes, stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { invalid, isMappingWord, type MappingWord } from '../../options/option-checks.js'
import type { Effective } from './resolve.js'
import {
  describeOption,
  type JsonOption,
  type OptionName,
  optionNames,
  type Secret,
  type Settings,
} from '../../options/describe-option.js'
import type { FromOptions, RemoteOptions } from '../../options/ingest-options.js'
import { isQuoted } from '../../base/secrets.js'
import { isObject, type JsonObject, parseJson } from '../../base/json/parse-json.js'

type ReadFile = (path: string) => Promise<string>

/** Contents of files that can be read only once, such as pipes. */
const pipes = new WeakMap<Effective, Map<string, string>>()

/** Reads files, but each pipe only once: a second read would wait for a writer that is gone. */
export function fileReader(effective: Effective): ReadFile {
  return async path => {
    const known = pipes.get(effective)?.get(path)
    if (known !== undefined) return known
    const text = decodedText(await readBytes(path))
    const isFile = await stat(path).then(
      found => found.isFile(),
      () => false,
    )
    if (!isFile) pipes.set(effective, new Map(pipes.get(effective)).set(path, text))
    return text
  }
}

/** Returns the text of a file. Editors and shells of Windows begin it with a BOM, or write UTF-16. */
export function decodedText(bytes: Buffer): string {
  const mark = bytes.toString('hex', 0, 2)
  const encoding = mark === 'fffe' ? 'utf-16le' : mark === 'feff' ? 'utf-16be' : 'utf-8'
  return new TextDecoder(encoding).decode(bytes)
}

/** Options whose value is one text. */
type FileOption = {
  [K in OptionName]: Settings[K] extends string | undefined ? (undefined extends Settings[K] ? K : never) : never
}[OptionName]

/** Returns the contents of a file without white space around them. Undefined if the option is not set. */
async function contents(
  effective: Effective,
  name: FileOption,
  readFile = fileReader(effective),
): Promise<string | undefined> {
  const { values, origins } = effective
  const path = values[name]
  if (path === undefined) return undefined
  const text = (await readFile(path).catch(cannotRead(path, origins[name]))).trim()
  if (text === '') throw invalid(origins[name], `${path} is empty`)
  return text
}

async function secret(
  effective: Effective,
  name: Secret,
  readFile = fileReader(effective),
): Promise<string | undefined> {
  const given = effective.values[name] ?? (await secretIn(effective, `${name}File`, readFile))
  // A password may have quotes of its own. The proxy's URL is read by itself.
  const isKey = name === 'apiKey' || name === 'adminKey' || name === 'servicenowApiKey'
  if (!isKey || given === undefined || !isQuoted(given)) return given
  const origin = effective.origins[effective.values[name] === undefined ? (`${name}File` as const) : name]
  throw invalid(origin, 'has quotes around it. Remove the quotes')
}

/** Returns the secret in a file. Other bytes than text would make another secret of it. */
async function secretIn(
  effective: Effective,
  name: `${Secret}File` | 'queueKeyFile',
  readFile?: ReadFile,
): Promise<string | undefined> {
  const text = await contents(effective, name, readFile)
  if (text === undefined || !/[\0\uFFFD]/.test(text)) return text
  throw invalid(effective.origins[name], `${effective.values[name]} is not UTF-8 text. Save it as UTF-8`)
}

function cannotRead(path: string, origin: string) {
  return (error: unknown): never => {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw invalid(origin, `cannot read ${path}: ${reasons[code] ?? code}`)
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a directory',
  ENOTDIR: 'a part of the path is a file',
}

/** Credentials and certificates for the cluster, and the complete proxy URL with its source: flag, variable, file. */
export type ClusterAccess = Awaited<ReturnType<typeof readAccess>>

export async function readAccess(effective: Effective, readFile = fileReader(effective)) {
  const { values, origins } = effective
  refuseUnsafe(effective, 'proxy')
  refuseUnsafe(effective, 'written')
  refuseUnsafe(effective, 'cluster')
  const proxy = await secret(effective, 'proxy', readFile)
  const origin = values.proxy === undefined ? `the file ${values.proxyFile}` : origins.proxy
  return {
    apiKey: await secret(effective, 'apiKey', readFile),
    username: values.username,
    password: await secret(effective, 'password', readFile),
    ca: await contents(effective, 'ca', readFile),
    cert: await contents(effective, 'cert', readFile),
    key: await contents(effective, 'key', readFile),
    proxy: proxy === undefined ? undefined : { url: withScheme(proxy, origin), origin },
    proxyCa: await contents(effective, 'proxyCa', readFile),
  }
}

/**
 * Proximo's variable holds only `user:password@host`, for an HTTP proxy on port 80. In any other variable a missing
 * scheme is a mistake.
 */
function withScheme(url: string, origin: string): string {
  if (origin !== 'PROXIMO_URL' || /^[a-z][a-z0-9+.-]*:\/\//i.test(url)) return url
  return /:\d+$/.test(url.slice(url.lastIndexOf('@') + 1)) ? `http://${url}` : `http://${url}:80`
}

/** Throws SluiceError OPTION_INVALID, before a secret is read. */
function refuseUnsafe({ unsafe }: Effective, receiver: keyof Effective['unsafe']): void {
  const found = unsafe[receiver]
  if (found !== undefined) throw invalid(found.option, found.problem)
}

/** Throws SluiceError OPTION_INVALID for a file to write, or a command to run, that only a found configuration file names. */
export function refuseUnsafeOutput(effective: Effective): void {
  refuseUnsafe(effective, 'written')
}

/** Throws SluiceError OPTION_INVALID for addresses of a found configuration file, which may be those of somebody else. */
export function refuseUnseenAddresses(effective: Effective): void {
  refuseUnsafe(effective, 'allowed')
}

/** Reads how inputs on servers are reached. */
export async function readRemoteAccess(effective: Effective): Promise<Pick<RemoteOptions, 'ca' | 'token'>> {
  refuseUnsafe(effective, 'source')
  return {
    ca: await contents(effective, 'sourceCa'),
    token: await secret(effective, 'sourceToken'),
  }
}

/** How another cluster is reached, without its URL. */
const toOther = ['fromApiKey', 'fromApiKeyFile', 'fromUsername', 'fromPassword', 'fromPasswordFile', 'fromCa', 'fromProxy', 'fromProxyFile', 'fromQuery'] as const satisfies readonly OptionName[] // prettier-ignore

/** Reads how another cluster is reached. Undefined if no option names one. Variables of the environment may wait for the load that needs them. */
export async function readFromAccess(
  effective: Effective,
  query: JsonObject | undefined,
): Promise<FromOptions | undefined> {
  refuseUnsafe(effective, 'from')
  const { values, origins } = effective
  const { from: url, fromUsername: username } = values
  if (url === undefined) {
    const given = toOther.find(name => values[name] !== undefined && origins[name].startsWith('--'))
    if (given === undefined) return undefined
    throw invalid('from', 'is not set, but another option says how to reach that cluster')
  }
  return {
    url,
    apiKey: await secret(effective, 'fromApiKey'),
    username,
    password: await secret(effective, 'fromPassword'),
    ca: await contents(effective, 'fromCa'),
    proxy: await secret(effective, 'fromProxy'),
    query,
  }
}

/** A shorter key could be guessed by trying all of them. */
const LEAST_KEY = 32

/** Reads the key that signs entries of the queue. Throws SluiceError OPTION_INVALID for a key that can be guessed. */
export async function readQueueKey(effective: Effective): Promise<string | undefined> {
  // An editor may write other line ends on one machine. The same key must sign on all.
  const key = (await secretIn(effective, 'queueKeyFile'))?.replaceAll('\r\n', '\n')
  const { values, origins } = effective
  if (key === undefined || (key.length >= LEAST_KEY && new Set(key).size > 4)) return key
  const problem = `${values.queueKeyFile} holds no key of ${LEAST_KEY} random characters or more. Make one: openssl rand -hex 32 > ${values.queueKeyFile}`
  throw invalid(origins.queueKeyFile, problem)
}

/** Reads the key of the administration API. */
export async function readAdminKey(effective: Effective): Promise<string> {
  refuseUnsafe(effective, 'admin')
  const { values, origins } = effective
  const key = await secret(effective, 'adminKey')
  if (key === undefined) {
    throw invalid(
      '--admin-key-file',
      'the API key of the organisation is not set. Set EC_API_KEY, or name a file with --admin-key-file',
    )
  }
  if (/^[\x21-\x7e]+$/.test(key)) return key
  const origin = values.adminKey === undefined ? origins.adminKeyFile : origins.adminKey
  throw invalid(origin, 'contains a space or another character that no API key has')
}

export async function readServiceNowAccess(effective: Effective) {
  const { values } = effective
  if (values.servicenowUrl === undefined)
    throw invalid('--servicenow-url', 'the ServiceNow instance is not set. Set SERVICENOW_INSTANCE_URL')
  refuseUnsafe(effective, 'servicenow')
  return {
    url: values.servicenowUrl,
    apiKey: await secret(effective, 'servicenowApiKey'),
    username: values.servicenowUsername,
    password: await secret(effective, 'servicenowPassword'),
    clientId: values.servicenowClientId,
    clientSecret: await secret(effective, 'servicenowClientSecret'),
    refreshToken: await secret(effective, 'servicenowRefreshToken'),
    ca: await contents(effective, 'servicenowCa'),
  }
}

/** Returns whether the alarm has no credentials of its own: then it uses those of the ServiceNow options. */
export function sharesAccess({ values }: Effective): boolean {
  return values.alarmUsername === undefined && values.alarmClientId === undefined
}

/** Returns the alarm's own credentials. Undefined if there are none: Sluice never mixes them with others. */
export async function readAlarmAccess(effective: Effective) {
  if (sharesAccess(effective)) return undefined
  refuseUnsafe(effective, 'alarm')
  const { values } = effective
  const url = values.alarmUrl ?? values.servicenowUrl
  const access = {
    username: values.alarmUsername,
    password: await secret(effective, 'alarmPassword'),
    clientId: values.alarmClientId,
    clientSecret: await secret(effective, 'alarmClientSecret'),
    ca: await contents(effective, 'servicenowCa'),
  }
  if (url !== undefined) return { ...access, url }
  throw invalid(
    '--alarm-url',
    'the ServiceNow instance is not set. Set SERVICENOW_INSTANCE_URL or SERVICENOW_ALARM_INSTANCE_URL',
  )
}

/** Reads the certificate that callers of a receiver see, and its key. Undefined: callers use http. */
export async function readServeTls(effective: Effective) {
  const cert = await contents(effective, 'serveCert')
  const key = await contents(effective, 'serveKey')
  return cert === undefined || key === undefined ? undefined : { cert, key }
}

/** Reads the token that callers of a receiver must send. False: callers need none. */
export async function readServeToken(effective: Effective): Promise<string | false> {
  const { values, origins } = effective
  const other = values.serveToken === undefined ? 'serveTokenFile' : 'serveToken'
  if (values.noToken && values[other] !== undefined)
    throw invalid(origins.noToken, `cannot be combined with ${origins[other]}`)
  if (values.noToken) return false
  const token = await secret(effective, 'serveToken')
  if (token !== undefined) return token
  throw invalid(
    '--serve-token-file',
    'callers need a token. Set SLUICE_SERVE_TOKEN, or name a file that contains the token. `openssl rand -hex 32` makes one',
  )
}

/** Reads the token of a tunnel, if the user chose one. */
export async function readTunnelToken(effective: Effective): Promise<string | undefined> {
  return await secret(effective, 'tunnelToken')
}

/** The options of a load that are JSON. */
export type JsonOptions = { readonly [K in JsonOption]?: K extends 'mapping' ? JsonObject | MappingWord : JsonObject }

const jsonOptions = optionNames.filter((name): name is keyof JsonOptions => describeOption(name).file === 'json')

/** Reads `--index-body` and others: JSON if the value begins with a brace, otherwise the path of a file. */
export async function readJsonOptions(effective: Effective, readFile = fileReader(effective)): Promise<JsonOptions> {
  const { values, origins } = effective
  const read: { -readonly [K in keyof JsonOptions]: JsonOptions[K] } = {}
  for (const name of jsonOptions) {
    const value = values[name]
    if (value === undefined) continue
    if (name === 'mapping' && isMappingWord(value)) {
      read.mapping = value
      continue
    }
    const isJson = value.startsWith('{')
    const parsed = parseJson(isJson ? value : await readFile(value).catch(cannotRead(value, origins[name])))
    if (!isObject(parsed)) throw invalid(origins[name], `${isJson ? 'the value' : value} is not a JSON object`)
    const isBare = name === 'template' && !isJson && parsed['index_templates'] === undefined
    // The file's name is that of the template.
    read[name] = isBare ? { name: basename(value).replace(/\.json$/, ''), ...parsed } : parsed
  }
  return read
}

/** Reads the text of a script. Undefined if the option is not set. */
export async function readScript(effective: Effective): Promise<string | undefined> {
  return await contents(effective, 'script')
}

/**
 * Reads the paths that `find`, `git` or a script lists, one per line, or with a NUL behind each. Undefined if the option is not set.
 */
export async function readFilesFrom(
  { values, origins }: Effective,
  readFile: ReadFile,
): Promise<{ readonly files: readonly string[] } | undefined> {
  const { filesFrom: from, null: isAskedFor } = values
  if (from === undefined && isAskedFor) throw invalid(origins.null, 'needs --files-from')
  if (from === undefined) return undefined
  const text = await readFile(from).catch(cannotRead(from, origins.filesFrom))
  // No path holds a NUL. `find -print0` and `git ls-files -z` write one behind each.
  const byNull = isAskedFor || text.includes('\0')
  const files = text.split(byNull ? '\0' : /\r?\n/).filter(path => path !== '')
  if (files.length === 0) throw invalid(origins.filesFrom, `${from} names no files`)
  return { files }
}
