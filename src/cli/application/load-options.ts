import type { Stats } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import type { FreshCredentials, FromOptions, ServiceNowOptions } from '../../index.js'
import {
  type ClusterAccess,
  readAccess,
  readFromAccess,
  readServiceNowAccess,
  refuseUnsafeOutput,
} from '../settings/option-files.js'
import { connectOptions } from '../settings/library-options.js'
import { isTable } from '../../options/names.js'
import { withoutCredentials, knownSecrets } from '../../base/secrets.js'
import { cloudUrl, nodeUrls } from '../../base/addresses.js'
import { type Effective, type Needed, type OptionSources, requireOptions, resolveOptions } from '../settings/resolve.js'
import { asTyped, proxySetBy, sayingOf } from './as-typed.js'
import { countTraffic } from './count-traffic.js'
import { keepInstanceSecrets, keepSecrets, type Terminal } from '../terminal/terminal.js'
import { chooseLog, tell } from '../terminal/log.js'
import { fail, isSluiceError } from '../../base/failure/failure.js'
import { isObject, type JsonObject } from '../../base/json/parse-json.js'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Read from the working folder, if it exists. */
const configFile = 'sluice.config.json'

/** The options in force for this command line. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export async function loadOptions(
  flags: OptionSources['flags'],
  terminal: Terminal,
  {
    isNew = false,
  }: { /** The configuration file may be missing, also if it is named. */ readonly isNew?: boolean } = {},
): Promise<Effective> {
  const { path, isNamed, values } = await readConfigFile(flags, terminal, isNew)
  const file = values === undefined ? {} : { file: { path, values, isNamed } }
  // The other options may be wrong. Then the error must be JSON, too.
  if (isObject(values) && values['json'] === true && !terminal.env['SLUICE_JSON']) terminal.manner.json = true
  const effective = resolveOptions({ flags, env: terminal.env, ...file })
  const { json, quiet, logFormat: format } = effective.values
  terminal.manner.json = json
  await chooseLog(terminal, { format, quiet })
  terminal.manner.target = targetIn(effective)
  const said = sayingOf(effective)
  const setBy = proxySetBy(effective)
  terminal.manner.typed = known => asTyped(known, said, setBy)
  return effective
}

function targetIn({ values: { url, cloudId, index } }: Effective): Terminal['manner']['target'] {
  const cluster = url ?? (cloudId === undefined ? undefined : cloudUrl(cloudId))
  return {
    ...(cluster === undefined ? {} : { url: withoutCredentials(cluster) }),
    ...(index === undefined ? {} : { index }),
  }
}

/** Loads the options of a command that connects to the cluster, and prints their warnings. `needs`: options to be set. */
export async function loadForCluster(
  flags: OptionSources['flags'],
  terminal: Terminal,
  needs: readonly Needed[] = ['url'],
) {
  const effective = await loadOptions(flags, terminal)
  requireOptions(effective, needs)
  const access = await loadAccess(effective, terminal)
  sayWarnings(effective, terminal)
  return { effective, values: effective.values, access, connecting: connectOptions(effective, access) }
}

export async function loadAccess(effective: Effective, terminal: Terminal): Promise<ClusterAccess> {
  const access = await readAccess(effective)
  const { httpsProxy, nodes } = effective.values
  keepSecrets(terminal, knownSecrets(access, httpsProxy, ...nodeUrls(nodes)))
  await countTraffic(effective, access, terminal, stateDir(effective, terminal))
  return access
}

/** Reads how another cluster is reached, and keeps its secrets out of every message. Undefined if no option names one. */
export async function loadOrigin(
  effective: Effective,
  terminal: Terminal,
  query: JsonObject | undefined,
): Promise<FromOptions | undefined> {
  const from = await readFromAccess(effective, query)
  const { proxy, ...login } = from ?? {}
  keepSecrets(terminal, knownSecrets(login, proxy?.toString()))
  return from
}

/** Reads the credentials again: files may have changed since the command began. Throws SluiceError OPTION_INVALID. */
export async function reloadCredentials(effective: Effective, terminal: Terminal): Promise<FreshCredentials> {
  const { apiKey, username, password, proxy } = await loadAccess(effective, terminal)
  return { apiKey, username, password, proxy: proxy?.url }
}

export function sayWarnings(effective: Effective, terminal: Terminal): void {
  for (const message of effective.warnings) tell(terminal, { level: 'warn', event: 'warning', message })
}

/** Returns the configuration file and its contents. They are undefined if there is none. Throws SluiceError OPTION_INVALID. */
export async function readConfigFile(flags: OptionSources['flags'], terminal: Terminal, isNew = false) {
  const named = flags['config'] ?? (terminal.env['SLUICE_CONFIG'] || undefined)
  const path = typeof named === 'string' ? named : configFile
  const isNamed = named !== undefined
  const text = await readConfig(path, isNamed && !isNew)
  return { path, isNamed, values: text === undefined ? undefined : parse(text, path) }
}

/** More than any configuration file has. */
const MOST_CONFIG_BYTES = 1 << 20

async function readConfig(path: string, isNamed: boolean): Promise<string | undefined> {
  try {
    if (!isNamed) refuseOther(path, await stat(path))
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (isSluiceError(error)) throw error
    if (code === 'ENOENT' && !isNamed) return undefined
    throw fail('OPTION_INVALID', { option: path, problem: `cannot be read (${code})` }, { cause: error })
  }
}

/** In a folder that others can write to, the file may be a pipe that nobody writes to, or never ends. */
function refuseOther(path: string, found: Stats): void {
  const problem = !found.isFile()
    ? 'is no file'
    : found.size > MOST_CONFIG_BYTES
      ? `has more than ${MOST_CONFIG_BYTES.toLocaleString('en-US')} bytes`
      : undefined
  if (problem !== undefined) throw fail('OPTION_INVALID', { option: path, problem })
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    // The parser's message quotes the text around the place, which may be a secret.
    const position = /position (\d+)/.exec(String(error))?.[1]
    const line = position === undefined ? '' : ` (line ${text.slice(0, Number(position)).split('\n').length})`
    throw fail('OPTION_INVALID', { option: path, problem: `is not valid JSON${line}` })
  }
}

/** Returns the folder for checkpoints: the option's value, or the usual place of this system. Throws SluiceError OPTION_INVALID. */
export function stateDir(effective: Effective, { env }: Terminal): string {
  refuseUnsafeOutput(effective)
  const { values } = effective
  return values.stateDir ?? join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'sluice')
}

/** In the state folder. */
const TOKENS = 'servicenow-tokens.json'

/**
 * Returns the library's options for ServiceNow from the user's settings. Keeps their secrets out of every error.
 * Throws SluiceError OPTION_INVALID, also if no instance is set.
 */
export async function serviceNowOptions(effective: Effective, terminal: Terminal): Promise<ServiceNowOptions> {
  const { values } = effective
  const access = await readServiceNowAccess(effective)
  keepInstanceSecrets(terminal, access)
  // Loaded only here, because few loads read tables.
  const { grantOf } = await import('../../route/connect/open-servicenow.js')
  const grant = grantOf({ ...access, grant: values.servicenowGrant })
  // Sluice keeps tokens of a login and tokens that change. Other tokens can be requested again in each run.
  const isKept = grant === 'authorization_code' || grant === 'refresh_token'
  const tokenFile = values.tokenFile ?? (isKept ? join(stateDir(effective, terminal), TOKENS) : undefined)
  return { ...access, grant, ...(tokenFile === undefined ? {} : { tokenFile }) }
}

/** Options that only apply to tables. */
const alone = ['query', 'fields', 'displayValue', 'pageSize', 'deletions', 'maxDeleted', 'reconcileEveryMs'] as const

/** Returns whether an input is a table. Throws SluiceError OPTION_INVALID if none is, but a flag needs one. */
export function namesTable(source: readonly string[], { origins }: Effective): boolean {
  if (source.some(isTable)) return true
  const flag = alone.find(name => origins[name].startsWith('--'))
  if (flag === undefined) return false
  const problem = 'needs a table, as in servicenow:incident'
  throw fail('OPTION_INVALID', { option: origins[flag], problem })
}
