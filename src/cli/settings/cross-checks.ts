import { checkSettings } from '../../options/check-options.js'
import { invalid } from '../../options/option-checks.js'
import { cloudUrl, readClusterUrl } from '../../base/addresses.js'
import { isQuoted } from '../../base/secrets.js'
import {
  describeOption,
  type OptionName,
  optionNames,
  secrets,
  type SetAlways,
  type Settings,
} from '../../options/describe-option.js'

/** The kinds of sources, strongest first. */
type Layer = 'flag' | 'environment' | 'file' | 'default'

export interface Candidate {
  readonly raw: unknown
  readonly layer: Layer
  readonly origin: string
  /** Option and place, for messages: `--url`, `ELASTICSEARCH_URL`, `url in sluice.config.json`. */
  readonly said: string
}

export type Candidates = ReadonlyMap<OptionName, Candidate>

/** A run of checks works on its own copy of the values. */
interface Check {
  readonly values: { -readonly [K in keyof Settings]: Settings[K] }
  /** Origins of values that another option decided. */
  readonly origins: Partial<Record<OptionName, string>>
  readonly warnings: string[]
  readonly candidates: Candidates
}

/** Checks and settles options that depend on each other. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export function checkTogether(values: Settings, candidates: Candidates): Check {
  const check: Check = { values: { ...values }, origins: {}, warnings: [], candidates }
  for (const [one, other] of rivals) settleRivals(check, one, other)
  settleDirect(check)
  findCluster(check)
  settleCredentials(check)
  checkSettings(check.values, name => said(check, name))
  return check
}

const rows = optionNames.map(describeOption)

/** Options that may not be set. */
type Optional = Exclude<OptionName, SetAlways>

/** Pairs of which a command takes one. */
const rivals: readonly (readonly [Optional, Optional])[] = [
  ...rows.flatMap(({ name, orElse }) => (orElse === undefined ? [] : [[name, orElse] as [Optional, Optional]])),
  ...secrets.map(name => [name, `${name}File`] as const),
]

/** Keeps the option from the stronger source, so that a flag can replace a variable. */
function settleRivals(check: Check, one: Optional, other: Optional): void {
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
        /^https?:/i.test(values.cloudId)
          ? 'is a URL, not a cloud id. Pass it with --url (ELASTICSEARCH_URL)'
          : 'is not a cloud id. Copy the whole value from the Elastic Cloud console',
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

/** Returns which of several options is set. */
export function settingInForce(values: Settings, names: readonly OptionName[]): OptionName | undefined {
  return names.find(name => values[name] !== undefined)
}

const basic = ['username', 'password', 'passwordFile'] as const
const apiKey = ['apiKey', 'apiKeyFile'] as const

function settleCredentials(check: Check): void {
  const { values } = check
  if (values.apiKey !== undefined && isQuoted(values.apiKey))
    throw invalid(said(check, 'apiKey'), 'has quotes around it. Remove the quotes')
  if (values.apiKey !== undefined && !/^[\x21-\x7e]+$/.test(values.apiKey)) {
    throw invalid(
      said(check, 'apiKey'),
      'contains a space or another character that no API key has. Copy the encoded form',
    )
  }
  if (values.username?.includes(':') === true) {
    throw invalid(said(check, 'username'), 'contains a ":", which no request can carry. Set the password by itself')
  }
  const hasKey = apiKey.some(name => values[name] !== undefined)
  const hasBasic = basic.some(name => values[name] !== undefined)
  if (hasKey && hasBasic) {
    const keyWins = rankOf(check, apiKey) >= rankOf(check, basic)
    const [used, left] = keyWins ? ['the API key', 'user name and password'] : ['user name and password', 'the API key']
    if (rankOf(check, apiKey) === rankOf(check, basic)) {
      check.warnings.push(
        `both an API key and a user name or password are set. Sluice uses ${used} and ignores ${left}`,
      )
    }
    for (const name of keyWins ? basic : apiKey) drop(check, name)
  }
}

/** How strong a source is: a flag replaces a variable. */
export const ranks: Readonly<Record<Layer, number>> = { flag: 3, environment: 2, file: 1, default: 0 }

function rankOf(check: Check, names: readonly OptionName[]): number {
  return Math.max(...names.map(name => ranks[check.candidates.get(name)?.layer ?? 'default']))
}

function drop(check: Check, name: Optional): void {
  check.values[name] = undefined
  check.origins[name] = 'default'
}

function said(check: Check, name: OptionName): string {
  return check.candidates.get(name)?.said ?? name
}
