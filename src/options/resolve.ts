import type { z } from 'zod'
import { type Candidate, type Candidates, invalid } from './candidate.js'
import { checkTogether } from './cross-checks.js'
import { nearest } from './nearest.js'
import { type OptionName, optionNames, schema } from './schema.js'
import { type OptionView, viewOption } from './view.js'
import type { Settings } from './settings.js'
import { credentialsIn, shown } from './secrets.js'

/** Where options come from, strongest first. Empty variables count as unset. */
export interface OptionSources {
  /** By option name, as parsed from the command line. */
  readonly flags: Readonly<Record<string, unknown>>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The parsed sluice.config.json. */
  readonly file?: { readonly path: string; readonly values: unknown }
}

/** What reading each option by its own field makes; that it is what Settings says, the compiler checks. */
type Read = Required<z.output<typeof schema>>

export interface Effective {
  readonly values: Settings
  /** Where each value came from: `--url`, `ELASTICSEARCH_URL`, `sluice.config.json`, or `default`. */
  readonly origins: Readonly<Record<OptionName, string>>
  readonly warnings: readonly string[]
}

/**
 * The options in force. Throws SluiceError OPTION_INVALID (the value shown unless it is a secret), INDEX_NAME_INVALID.
 * Does not ask for a URL or an index: `requireOptions` does.
 */
export function resolveOptions(sources: OptionSources): Effective {
  const file = fileValues(sources.file)
  const candidates = new Map(optionNames.map(name => [name, strongest(viewOption(name), sources, file)]))
  const values: Record<string, unknown> = {}
  for (const [name, candidate] of candidates) values[name] = readValue(name, candidate)
  const warnings = [...secretsOnShow(candidates), ...misspelled(sources.env)]
  const checked = checkTogether(values as Read, candidates)
  return {
    values: checked.values,
    origins: originsOf(candidates, checked.origins),
    warnings: [...warnings, ...checked.warnings],
  }
}

function strongest(view: OptionView, sources: OptionSources, file: Readonly<Record<string, unknown>>): Candidate {
  const flag = view.flag === undefined ? undefined : sources.flags[view.name]
  if (flag !== undefined) return { raw: flag, layer: 'flag', origin: view.flag ?? '', said: view.flag ?? '' }
  const variable = view.env.find(one => (sources.env[one] ?? '') !== '')
  if (variable !== undefined) {
    return { raw: sources.env[variable], layer: 'environment', origin: variable, said: variable }
  }
  if (Object.hasOwn(file, view.name)) {
    const path = sources.file?.path ?? ''
    return { raw: file[view.name], layer: 'file', origin: path, said: `${view.name} in ${path}` }
  }
  return { raw: undefined, layer: 'default', origin: 'default', said: view.flag ?? view.env[0] ?? view.name }
}

function readValue(name: OptionName, { raw, said }: Candidate): unknown {
  const read = schema.shape[name].safeParse(raw)
  if (read.success) return read.data
  const problem = read.error.issues[0]?.message ?? 'is not valid'
  throw invalid(said, `${shown(viewOption(name).secret, raw)} ${problem}`)
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
    if (known.some(name => name === key)) continue
    const near = nearest(key, known)
    throw invalid(`${key} in ${path}`, `is not an option${near === undefined ? '' : `; did you mean ${near}?`}`)
  }
  return values as Readonly<Record<string, unknown>>
}

function secretsOnShow(candidates: Candidates): string[] {
  return [...candidates].flatMap(([name, { raw, layer, said }]) => {
    const { secret, env } = viewOption(name)
    const exposed = secret === 'value' || (secret === 'url' && name !== 'url' && credentialsIn(String(raw)))
    if (raw === undefined || !exposed) return []
    const better = `use the environment (${env[1] ?? env[0]}) or a file of its own`
    if (layer === 'flag')
      return [`${said}: a secret on the command line stands in process lists and the shell's history; ${better}`]
    if (layer === 'file') return [`${said}: a secret in a file that is easily shared; ${better}`]
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
    return near === undefined ? [] : [`${name} is not an option and is ignored; did you mean ${prefix}${near}?`]
  })
}

function originsOf(candidates: Candidates, changed: Partial<Record<OptionName, string>>): Record<OptionName, string> {
  const entries = [...candidates].map(([name, { origin }]) => [name, changed[name] ?? origin])
  return Object.fromEntries(entries) as Record<OptionName, string>
}
