import { invalid } from './option-checks.js'
import { cloudUrl, readClusterUrl } from './urls.js'
import { checkIndexName } from './names.js'
import type { OptionName, Settings } from './table.js'

/** How strong a value's source is: the flag beats the environment, the environment the file, the file the default. */
type Layer = 'flag' | 'environment' | 'file' | 'default'

/** The raw setting of one option. */
export interface Candidate {
  readonly raw: unknown
  readonly layer: Layer
  readonly origin: string
  /** Option and place, for messages: `--url`, `ELASTICSEARCH_URL`, `url in sluice.config.json`. */
  readonly said: string
}

export type Candidates = ReadonlyMap<OptionName, Candidate>

interface Checked {
  readonly values: Settings
  /** Origins of values that another option decided. */
  readonly origins: Partial<Record<OptionName, string>>
  readonly warnings: readonly string[]
}

/** A run of checks works on its own copy of the values. */
interface Check {
  readonly values: { -readonly [K in keyof Settings]: Settings[K] }
  readonly origins: Partial<Record<OptionName, string>>
  readonly warnings: string[]
  readonly candidates: Candidates
}

/** Checks and settles options that depend on each other. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function checkTogether(values: Settings, candidates: Candidates): Checked {
  const check: Check = { values: { ...values }, origins: {}, warnings: [], candidates }
  for (const [one, other] of rivals) settleRivals(check, one, other)
  settleDirect(check)
  findCluster(check)
  settleCredentials(check)
  requireTogether(check, 'cert', ['key'])
  requireTogether(check, 'key', ['cert'])
  for (const [name, others] of alarmTogether) requireTogether(check, name, others)
  requireTogether(check, 'serveCert', ['serveKey'])
  requireTogether(check, 'serveKey', ['serveCert'])
  checkDocuments(check)
  return check
}

const rivals = [
  ['url', 'cloudId'],
  ['apiKey', 'apiKeyFile'],
  ['password', 'passwordFile'],
  ['proxy', 'proxyFile'],
  ['index', 'swapAlias'],
  ['adminKey', 'adminKeyFile'],
  ['serveToken', 'serveTokenFile'],
  ['alarmPassword', 'alarmPasswordFile'],
  ['alarmClientSecret', 'alarmClientSecretFile'],
  ['servicenowPassword', 'servicenowPasswordFile'],
  ['servicenowClientSecret', 'servicenowClientSecretFile'],
  ['servicenowRefreshToken', 'servicenowRefreshTokenFile'],
] as const

/** The others' credentials would go to whoever the alarm's own URL names. */
const alarmTogether = [
  ['alarmUrl', ['alarmUsername', 'alarmClientId']],
  ['alarmUsername', ['alarmPassword', 'alarmPasswordFile']],
  ['alarmPassword', ['alarmUsername']],
  ['alarmPasswordFile', ['alarmUsername']],
  ['alarmClientId', ['alarmClientSecret', 'alarmClientSecretFile', 'alarmUsername']],
  ['alarmClientSecret', ['alarmClientId']],
  ['alarmClientSecretFile', ['alarmClientId']],
] as const satisfies readonly (readonly [OptionName, readonly OptionName[]])[]

/** Two ways to say one thing: the stronger source wins, so that a flag can replace what the environment says. */
function settleRivals(check: Check, one: (typeof rivals)[number][0], other: (typeof rivals)[number][1]): void {
  if (check.values[one] === undefined || check.values[other] === undefined) return
  const [rankOne, rankOther] = [rankOf(check, [one]), rankOf(check, [other])]
  if (rankOne === rankOther) throw invalid(said(check, one), `cannot be combined with ${said(check, other)}`)
  drop(check, rankOne > rankOther ? other : one)
}

function settleDirect(check: Check): void {
  const { values } = check
  if (!values.direct) return
  if (values.requireProxy)
    throw invalid(said(check, 'direct'), `cannot be combined with ${said(check, 'requireProxy')}`)
  const proxy = values.proxy === undefined ? 'proxyFile' : 'proxy'
  if (values[proxy] === undefined) return
  const [rankDirect, rankProxy] = [rankOf(check, ['direct']), rankOf(check, [proxy])]
  if (rankDirect === rankProxy && rankDirect === ranks.flag) {
    throw invalid(said(check, 'direct'), `cannot be combined with ${said(check, proxy)}`)
  }
  if (rankProxy > rankDirect) values.direct = false
}

function findCluster(check: Check): void {
  const { values, origins } = check
  if (values.cloudId !== undefined) {
    values.url = cloudUrl(values.cloudId)
    origins.url = said(check, 'cloudId')
    if (values.url === undefined) {
      throw invalid(
        said(check, 'cloudId'),
        `'${values.cloudId}' is not a cloud id: copy the whole value from the Elastic Cloud console`,
      )
    }
  }
  if (values.url === undefined) return
  const read = readClusterUrl(values.url)
  if ('problem' in read) throw invalid(said(check, 'url'), read.problem)
  values.url = read.url
  if (read.username === undefined) return
  const from = said(check, 'url')
  if (values.username !== undefined || values.password !== undefined || values.passwordFile !== undefined) {
    check.warnings.push(`${from}: Sluice ignores the credentials in the URL, because a user name or password is set`)
    return
  }
  check.warnings.push(
    `${from}: credentials in a URL end up in logs. Set ELASTICSEARCH_USERNAME and ELASTICSEARCH_PASSWORD instead`,
  )
  values.username = read.username
  values.password = read.password
  origins.username = origins.password = from
}

const basic = ['username', 'password', 'passwordFile'] as const
const apiKey = ['apiKey', 'apiKeyFile'] as const

function settleCredentials(check: Check): void {
  const { values } = check
  if (values.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(values.apiKey)) {
    throw invalid(
      said(check, 'apiKey'),
      'contains a space or another character that no API key has: copy the encoded form',
    )
  }
  const hasKey = apiKey.some(name => values[name] !== undefined)
  const hasBasic = basic.some(name => values[name] !== undefined)
  if (hasKey && hasBasic) {
    const keyWins = rankOf(check, apiKey) >= rankOf(check, basic)
    const [used, left] = keyWins ? ['the API key', 'user name and password'] : ['user name and password', 'the API key']
    if (rankOf(check, apiKey) === rankOf(check, basic)) {
      check.warnings.push(
        `both an API key and a user name or password are set: Sluice uses ${used} and ignores ${left}`,
      )
    }
    for (const name of keyWins ? basic : apiKey) drop(check, name)
  }
  requireTogether(check, 'username', ['password', 'passwordFile'])
  requireTogether(check, 'password', ['username'])
  requireTogether(check, 'passwordFile', ['username'])
}

function checkDocuments(check: Check): void {
  const { values } = check
  checkIndexName(values.index ?? values.swapAlias)
  for (const name of ['indexBody', 'checkQuery', 'checkHits'] as const) requireTogether(check, name, ['swapAlias'])
  requireTogether(check, 'checkHits', ['checkQuery'])
  if (values.ids === 'field' && values.idField === undefined) {
    throw invalid(said(check, 'ids'), "is 'field' and needs --id-field")
  }
  if (values.idField !== undefined && values.ids !== 'field') {
    throw invalid(
      said(check, 'idField'),
      `needs --ids field, and ids is '${values.ids}' (${check.candidates.get('ids')?.origin})`,
    )
  }
  if (values.pick !== undefined && values.format === 'ndjson') {
    throw invalid(said(check, 'pick'), 'selects inside a JSON document, but the format is ndjson')
  }
}

function requireTogether(check: Check, name: OptionName, others: readonly OptionName[]): void {
  if (check.values[name] === undefined || others.some(other => check.values[other] !== undefined)) return
  throw invalid(said(check, name), `needs ${others.map(other => said(check, other)).join(' or ')} beside it`)
}

const ranks: Record<Layer, number> = { flag: 3, environment: 2, file: 1, default: 0 }

/** The strongest source among some options. */
function rankOf(check: Check, names: readonly OptionName[]): number {
  return Math.max(...names.map(name => ranks[check.candidates.get(name)?.layer ?? 'default']))
}

function drop(check: Check, name: (typeof rivals)[number][number] | 'username'): void {
  check.values[name] = undefined
  check.origins[name] = 'default'
}

function said(check: Check, name: OptionName): string {
  return check.candidates.get(name)?.said ?? name
}
