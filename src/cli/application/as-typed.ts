/** Names options in failures of the library as the user set them. */
import { explain, type Failure, failure } from '../../base/failure/failure.js'
import type { Effective } from '../settings/resolve.js'
import { type OptionName, secrets, optionAs as optionOf, describeOption } from '../../options/describe-option.js'

/**
 * Returns how the user set an option of the library: a flag, a variable, a place in the file. Undefined: the command
 * has no such option.
 */
type Said = (libraryName: string) => string | undefined

/** Options without a flag, or with another form in one command. */
const words: Readonly<Record<string, string>> = {
  source: 'the inputs',
  run: 'RUN',
  alias: 'ALIAS',
  to: '--to',
  port: '--port',
}

export function sayingOf({ values, origins }: Effective): Said {
  return libraryName => {
    const name = optionOf(libraryName) ?? optionOf(libraryName.replace(/^refreshCredentials\(\)\./, ''))
    if (name === undefined) return words[libraryName]
    const file = values[name] === undefined ? secrets.find(one => one === name) : undefined
    return spelt(file === undefined || values[`${file}File`] === undefined ? name : `${file}File`, origins)
  }
}

function spelt(name: OptionName, origins: Effective['origins']): string {
  const origin = origins[name]
  const { flag, env } = describeOption(name)
  if (origin === 'default') return flag ?? env[0] ?? name
  // Flags and variables name the option. The name of a file does not.
  return /^\S+\.json$/.test(origin) ? `${name} in ${origin}` : origin
}

/**
 * Returns what set the URL of the proxy in use, if that is not the variable that advice names. A new variable would not help: a flag or
 * file is stronger.
 */
export function proxySetBy({ values, origins }: Effective): string | undefined {
  const { proxy, proxyFile, httpsProxy, direct } = values
  if (direct) return undefined
  const by =
    proxy !== undefined
      ? spelt('proxy', origins)
      : proxyFile !== undefined
        ? `the file ${proxyFile}`
        : httpsProxy === undefined
          ? undefined
          : spelt('httpsProxy', origins)
  return by === USUAL ? undefined : by
}

/** The source of the proxy's URL in advice of the catalogue. */
const USUAL = 'STATIC_PROXY_URL'
const ofProxy: ReadonlySet<string> = new Set(['proxy', 'egress', 'cluster', 'servicenow'])

/** `setBy`: see `proxySetBy`. */
export function asTyped(failed: Failure, said: Said, setBy?: string): Failure {
  const isOfProxy = ofProxy.has(explain(failed.code).stage) || failed.code === 'CLUSTER_URL_IS_PROXY'
  const by = failed.evidence['side'] === 'from' ? '--from-proxy' : setBy
  const known = isOfProxy && by !== undefined ? { ...failed, evidence: { ...failed.evidence, proxySetBy: by } } : failed
  const { code, evidence } = known
  if (code === 'OPTION_INVALID') {
    const { option, problem } = evidence
    const isSet = !String(problem).startsWith('is not set')
    const typed = isSet ? said(String(option)) : flagOf(String(option))
    return typed === undefined ? known : failure(code, { ...evidence, option: typed, problem: String(problem) })
  }
  if (code === 'RUN_OPTIONS_CHANGED' && Array.isArray(evidence['differences'])) {
    // Each difference begins with the name of an option. The user may have set that option in another way before.
    const differences = (evidence['differences'] as readonly string[]).map(one => one.replace(/^\w+/, flagOf))
    return failure(code, { ...evidence, what: String(evidence['what']), differences })
  }
  return known
}

function flagOf(name: string): string {
  const option = optionOf(name)
  return option === undefined ? name : (describeOption(option).flag ?? name)
}
