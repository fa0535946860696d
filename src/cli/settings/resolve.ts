import { type Candidate, type Candidates, checkTogether, ranks } from './cross-checks.js'
import { invalid } from '../../options/option-checks.js'
import { inShell, nearest } from '../../base/text/shown.js'
import { isQuoted, hidden, withoutCredentials, withoutSecrets } from '../../base/secrets.js'
import {
  type OptionName,
  optionNames,
  type Settings,
  type DescribedOption,
  describeOption,
  isReplaced,
  readSetting,
} from '../../options/describe-option.js'
import { findUnsafe } from './unsafe-settings.js'

/** Strongest first. Empty variables count as unset. */
export interface OptionSources {
  /** Values by flag (`batchBytes` for `--batch-bytes`), as parsed from the command line. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** `isNamed`: the user named it, so it may say where credentials are sent. */
  readonly file?: { readonly path: string; readonly values: unknown; readonly isNamed?: boolean }
}

export interface Effective {
  readonly values: Settings
  /** Source of each value: `--url`, `ELASTICSEARCH_URL`, `sluice.config.json`, or `default`. */
  readonly origins: Readonly<Record<OptionName, string>>
  readonly warnings: readonly string[]
  /** Settings that Sluice does not connect with. */
  readonly unsafe: ReturnType<typeof findUnsafe>
}

/**
 * Returns the options in force. Throws SluiceError OPTION_INVALID (with the value, unless secret),
 * INDEX_NAME_INVALID. Does not require a URL or an index: `requireOptions` does.
 */
export function resolveOptions(sources: OptionSources): Effective {
  const file = fileValues(sources.file)
  const candidates = new Map(optionNames.map(name => [name, strongest(describeOption(name), sources, file)]))
  const values: Record<string, unknown> = {}
  for (const [name, candidate] of candidates) values[name] = readValue(name, candidate)
  const warnings = [
    ...secretsOnShow(candidates),
    ...quotedSecrets(candidates),
    ...oldSpellings(candidates, values),
    ...misspelled(sources.env),
  ]
  takeApart(values, candidates)
  const checked = checkTogether(values as unknown as Settings, candidates)
  const unnamed = sources.file?.isNamed === true ? undefined : sources.file?.path
  return {
    unsafe: findUnsafe(checked.values, candidates, { file: unnamed, env: sources.env }),
    values: checked.values,
    origins: originsOf(candidates, checked.origins),
    warnings: [...warnings, ...checked.warnings],
  }
}

function strongest(
  option: DescribedOption,
  sources: OptionSources,
  file: Readonly<Record<string, unknown>>,
): Candidate {
  const flag = option.flag === undefined ? undefined : sources.flags[option.flagKey]
  if (flag !== undefined) return { raw: flag, layer: 'flag', origin: option.flag ?? '', said: option.flag ?? '' }
  const variable = option.env.find(one => (sources.env[one] ?? '') !== '')
  if (variable !== undefined) {
    return { raw: sources.env[variable], layer: 'environment', origin: variable, said: variable }
  }
  // The key that an option had before it was named as in the library: `timeout` for `timeoutMs`.
  const key = [option.name, option.flagKey].find(one => Object.hasOwn(file, one))
  if (key !== undefined) {
    const path = sources.file?.path ?? ''
    return { raw: inMilliseconds(key, file[key]), layer: 'file', origin: path, said: `${key} in ${path}` }
  }
  return { raw: undefined, layer: 'default', origin: 'default', said: option.flag ?? option.env[0] ?? option.name }
}

/** Takes a number under a name that ends in `Ms` for milliseconds. */
function inMilliseconds(key: string, value: unknown): unknown {
  return key.endsWith('Ms') && typeof value === 'number' ? `${value}ms` : value
}

function readValue(name: OptionName, { raw, said }: Candidate): unknown {
  const { kind, secret } = describeOption(name)
  const read = readSetting(name, raw)
  if ('value' in read) return read.value
  const values: readonly unknown[] = kind.isRepeated === true && Array.isArray(raw) ? raw : [raw]
  throw invalid(said, `${values.map(value => shown(secret, value)).join(', ')} ${read.problem}`)
}

/** A value as messages and `sluice config` show it: quoted text, secrets replaced. */
function shown(secret: 'value' | 'url' | undefined, value: unknown): string {
  if (secret === 'value' || (secret === 'url' && typeof value !== 'string')) return hidden
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'nothing'
  return `'${secret === 'url' ? withoutCredentials(value) : value}'`
}

/** Refuses unknown keys: a setting that silently does nothing is worse than none. */
function fileValues(file: OptionSources['file']): Readonly<Record<string, unknown>> {
  if (file === undefined) return {}
  const { path, values } = file
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw invalid(path, 'is not a JSON object of options')
  }
  const known = optionNames.filter(name => name !== 'config' && describeOption(name).flag !== undefined)
  const current = known.filter(name => !isReplaced(name))
  for (const key of Object.keys(values)) {
    // Editors read it.
    if (key === '$schema') continue
    if (known.some(name => name === key || describeOption(name).flagKey === key)) continue
    const near = nearest(key, current)
    throw invalid(path, `unknown key ${key}${near === undefined ? '' : `. Did you mean ${near}?`}`)
  }
  for (const { name, flagKey } of known.map(describeOption)) {
    if (name === flagKey || !Object.hasOwn(values, name) || !Object.hasOwn(values, flagKey)) continue
    throw invalid(path, `${flagKey} and ${name} are the same option. Keep only ${name}`)
  }
  return values as Readonly<Record<string, unknown>>
}

function holdsLogin(url: string): boolean {
  return url.includes('@') || withoutSecrets(url, []) !== url
}

function secretsOnShow(candidates: Candidates): string[] {
  return [...candidates].flatMap(([name, { raw, layer, said }]) => {
    const { secret, env } = describeOption(name)
    const exposed = secret === 'value' || (secret === 'url' && name !== 'url' && holdsLogin(String(raw)))
    if (raw === undefined || !exposed) return []
    const better = `use the environment (${env[1] ?? env[0]}) or a separate file`
    if (layer === 'flag')
      return [`${said}: secrets on the command line are visible in process lists and shell history. Instead, ${better}`]
    if (layer === 'file') return [`${said}: secrets in a configuration file are easily shared. Instead, ${better}`]
    return []
  })
}

/** A password may have quotes of its own, but hardly at both ends. */
function quotedSecrets(candidates: Candidates): string[] {
  return [...candidates].flatMap(([name, { raw, said }]) => {
    const isPassword = describeOption(name).secret === 'value' && typeof raw === 'string' && isQuoted(raw)
    return isPassword
      ? [`${said}: the value has quotes around it. If the quotes are not part of the value, remove them`]
      : []
  })
}

/** Names the new spelling of each old one, in the form in which the user set it. */
function oldSpellings(candidates: Candidates, values: Readonly<Record<string, unknown>>): string[] {
  return [...candidates].flatMap(([name, { raw, layer, said }]) => {
    const { replaced } = describeOption(name)
    if (raw === undefined || replaced === undefined) return []
    const { flag, env } = describeOption(replaced.by)
    const given = typeof raw === 'string' ? raw : JSON.stringify(raw)
    const now = candidates.get(replaced.by)?.raw
    // What holds a part already is not what the new value begins with.
    const isOwn = describeOption(replaced.by).kind.apart?.(values[replaced.by]) === undefined
    const own = isOwn && (typeof now === 'string' || typeof now === 'number') ? String(now) : (replaced.own ?? '')
    const value = replaced.as?.replaceAll(/VALUE|OWN/g, word => (word === 'OWN' ? own : given))
    const old = `${said} is an old spelling, which works until the next major version of Sluice`
    if (value === undefined) return [`${old}. Leave it out: ${flag} does not need it`]
    const forms = { flag: `${flag} ${inShell(value)}`, environment: `${env[0]}=${value}`, default: '' } as const
    return [`${old}. Instead, use ${layer === 'file' ? `"${replaced.by}": ${JSON.stringify(value)}` : forms[layer]}`]
  })
}

/** Gives each option its part of a value that holds several. A part that a stronger source sets by itself stays. */
function takeApart(values: Record<string, unknown>, candidates: Map<OptionName, Candidate>): void {
  for (const [name, candidate] of candidates) {
    const parts = describeOption(name).kind.apart?.(values[name])
    if (parts === undefined) continue
    const preset = readSetting(name, undefined)
    values[name] = 'value' in preset ? preset.value : undefined
    for (const [part, value] of Object.entries(parts) as [OptionName, unknown][]) {
      const alone = part === name ? undefined : candidates.get(part)
      if (alone?.raw !== undefined) {
        if (ranks[alone.layer] === ranks[candidate.layer])
          throw invalid(alone.said, `cannot be combined with ${candidate.said}, whose value holds it, too`)
        if (ranks[alone.layer] > ranks[candidate.layer]) continue
      }
      values[part] = value
      candidates.set(part, candidate)
    }
  }
}

function misspelled(env: OptionSources['env']): string[] {
  const prefix = 'SLUICE_'
  const known = optionNames.flatMap(name => describeOption(name).env).filter(name => name.startsWith(prefix))
  return Object.keys(env).flatMap(name => {
    if (!name.startsWith(prefix) || known.includes(name) || (env[name] ?? '') === '') return []
    const near = nearest(
      name.slice(prefix.length),
      known.map(one => one.slice(prefix.length)),
    )
    return near === undefined ? [] : [`${name} is not an option, so Sluice ignores it. Did you mean ${prefix}${near}?`]
  })
}

function originsOf(candidates: Candidates, changed: Partial<Record<OptionName, string>>): Record<OptionName, string> {
  const entries = [...candidates].map(([name, { origin }]) => [name, changed[name] ?? origin])
  return Object.fromEntries(entries) as Record<OptionName, string>
}

const how = {
  url: 'the cluster URL is not set. Set --url https://HOST:PORT, ELASTICSEARCH_URL, or --cloud-id',
  deployment:
    'the deployment is not set. Set --deployment ID or SLUICE_DEPLOYMENT, or --project ID for a serverless project. The id is in the URL of its page in the Elastic Cloud console',
  staticIps:
    'the static addresses are not set. Set STATIC_IPS to the pair in the dashboard of your proxy, as in 203.0.113.10,203.0.113.11',
  index: 'no index is set. Use --index NAME or SLUICE_INDEX',
} as const

/** Options that a command may need. */
export type Needed = keyof typeof how

/** Checks that options are set. `orElse`: what a command takes in place of an index. Throws SluiceError OPTION_INVALID with what to set. */
export function requireOptions({ values }: Effective, names: readonly Needed[], orElse = ''): void {
  const isProject = values.project !== undefined
  const name = names.find(one => values[one] === undefined && !(one === 'deployment' && isProject))
  if (name !== undefined)
    throw invalid(describeOption(name).flag ?? name, name === 'index' ? how.index + orElse : how[name])
}
