import { type Candidate, type Candidates, checkTogether } from './cross-checks.js'
import { invalid } from './option-checks.js'
import { Problem } from './kinds.js'
import { nearest } from './nearest.js'
import { type OptionName, optionNames, type Settings, table } from './table.js'
import type { OptionRow } from './option.js'
import { type OptionView, viewOption } from './view.js'
import { credentialsIn, shown } from './hide-secrets.js'

/** Sources of options, strongest first. Empty variables count as unset. */
export interface OptionSources {
  /** Values by flag (`batchBytes` for `--batch-bytes`), as parsed from the command line. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The parsed sluice.config.json. */
  readonly file?: { readonly path: string; readonly values: unknown }
}

export interface Effective {
  readonly values: Settings
  /** Source of each value: `--url`, `ELASTICSEARCH_URL`, `sluice.config.json`, or `default`. */
  readonly origins: Readonly<Record<OptionName, string>>
  readonly warnings: readonly string[]
}

/**
 * Returns the options in force. Throws SluiceError OPTION_INVALID (with the value, unless secret),
 * INDEX_NAME_INVALID. Does not require a URL or an index: `requireOptions` does.
 */
export function resolveOptions(sources: OptionSources): Effective {
  const file = fileValues(sources.file)
  const candidates = new Map(optionNames.map(name => [name, strongest(viewOption(name), sources, file)]))
  const values: Record<string, unknown> = {}
  for (const [name, candidate] of candidates) values[name] = readValue(name, candidate)
  const warnings = [...secretsOnShow(candidates), ...misspelled(sources.env)]
  const checked = checkTogether(values as unknown as Settings, candidates)
  return {
    values: checked.values,
    origins: originsOf(candidates, checked.origins),
    warnings: [...warnings, ...checked.warnings],
  }
}

function strongest(view: OptionView, sources: OptionSources, file: Readonly<Record<string, unknown>>): Candidate {
  const flag = view.flag === undefined ? undefined : sources.flags[view.flagKey]
  if (flag !== undefined) return { raw: flag, layer: 'flag', origin: view.flag ?? '', said: view.flag ?? '' }
  const variable = view.env.find(one => (sources.env[one] ?? '') !== '')
  if (variable !== undefined) {
    return { raw: sources.env[variable], layer: 'environment', origin: variable, said: variable }
  }
  // The key that an option had before it was named as in the library: `timeout` for `timeoutMs`.
  const key = [view.name, view.flagKey].find(one => Object.hasOwn(file, one))
  if (key !== undefined) {
    const path = sources.file?.path ?? ''
    return { raw: inMilliseconds(key, file[key]), layer: 'file', origin: path, said: `${key} in ${path}` }
  }
  return { raw: undefined, layer: 'default', origin: 'default', said: view.flag ?? view.env[0] ?? view.name }
}

/** Takes a number under a name that ends in `Ms` for milliseconds. */
function inMilliseconds(key: string, value: unknown): unknown {
  return key.endsWith('Ms') && typeof value === 'number' ? `${value}ms` : value
}

function readValue(name: OptionName, { raw, said }: Candidate): unknown {
  const { kind, default: preset }: OptionRow<unknown> = table[name]
  const given = raw === undefined ? preset : raw
  if (given === undefined) return undefined
  const read = kind.read(given)
  if (!(read instanceof Problem)) return read
  throw invalid(said, `${shown(viewOption(name).secret, raw)} ${read.text}`)
}

/** Keys whose spelling is not known are errors: a setting that silently does nothing is worse than none. */
function fileValues(file: OptionSources['file']): Readonly<Record<string, unknown>> {
  if (file === undefined) return {}
  const { path, values } = file
  if (typeof values !== 'object' || values === null || Array.isArray(values)) {
    throw invalid(path, 'is not a JSON object of options')
  }
  const known = optionNames.filter(name => viewOption(name).flag !== undefined)
  for (const key of Object.keys(values)) {
    if (known.some(name => name === key || viewOption(name).flagKey === key)) continue
    const near = nearest(key, known)
    throw invalid(path, `unknown key ${key}${near === undefined ? '' : `. Did you mean ${near}?`}`)
  }
  for (const { name, flagKey } of known.map(viewOption)) {
    if (name === flagKey || !Object.hasOwn(values, name) || !Object.hasOwn(values, flagKey)) continue
    throw invalid(path, `${flagKey} and ${name} are the same option: keep only ${name}`)
  }
  return values as Readonly<Record<string, unknown>>
}

function secretsOnShow(candidates: Candidates): string[] {
  return [...candidates].flatMap(([name, { raw, layer, said }]) => {
    const { secret, env } = viewOption(name)
    const exposed = secret === 'value' || (secret === 'url' && name !== 'url' && credentialsIn(String(raw)))
    if (raw === undefined || !exposed) return []
    const better = `use the environment (${env[1] ?? env[0]}) or a separate file`
    if (layer === 'flag')
      return [`${said}: secrets on the command line are visible in process lists and shell history. Instead, ${better}`]
    if (layer === 'file') return [`${said}: secrets in a configuration file are easily shared. Instead, ${better}`]
    return []
  })
}

function misspelled(env: OptionSources['env']): string[] {
  const prefix = 'SLUICE_'
  const known = optionNames.flatMap(name => viewOption(name).env).filter(name => name.startsWith(prefix))
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

const how: Partial<Record<OptionName, string>> = {
  url: 'the cluster URL is not set: set --url https://HOST:PORT, ELASTICSEARCH_URL, or --cloud-id',
  deployment:
    'the deployment is not set: set --deployment ID or SLUICE_DEPLOYMENT. The id is in the URL of its page in the Elastic Cloud console',
  staticIps:
    'the static addresses are not set: set STATIC_IPS to the pair in the dashboard of your proxy, as in 203.0.113.10,203.0.113.11',
  index: 'no index is set: use --index NAME or SLUICE_INDEX',
}

/** Checks that options are set. `orElse`: what a command takes in place of an index. Throws SluiceError OPTION_INVALID with what to set. */
export function requireOptions(
  effective: Effective,
  names: readonly ('url' | 'index' | 'deployment' | 'staticIps')[],
  orElse = '',
): void {
  for (const name of names) {
    if (effective.values[name] !== undefined) continue
    const problem = how[name] ?? 'is not set'
    throw invalid(viewOption(name).flag ?? name, name === 'index' ? problem + orElse : problem)
  }
}
