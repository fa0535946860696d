import { readFile } from 'node:fs/promises'
import { failure } from '../failure/failure.js'
import { SluiceError } from '../failure/sluice-error.js'
import { type Access, readAccess } from '../options/access.js'
import { type Effective, type OptionSources, resolveOptions } from '../options/resolve.js'
import type { Terminal } from './terminal.js'

/** Read from the working folder, where it exists. */
const configFile = 'sluice.config.json'

/** The options in force for this command line. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export async function loadOptions(flags: OptionSources['flags'], terminal: Terminal): Promise<Effective> {
  const text = await readIfThere(configFile)
  const file = text === undefined ? {} : { file: { path: configFile, values: parse(text) } }
  const effective = resolveOptions({ flags, env: terminal.env, ...file })
  terminal.manner.json = effective.values.json
  return effective
}

/** The contents of the files that options name; what is secret in them stays out of every error. */
export async function loadAccess(effective: Effective, terminal: Terminal): Promise<Access> {
  const access = await readAccess(effective, async path => await readFile(path, 'utf8'))
  const proxies = [access.proxy?.url, effective.values.httpsProxy].flatMap(url =>
    url === undefined ? [] : credentials(url),
  )
  terminal.manner.secrets = [access.apiKey, access.password, access.key, ...proxies].filter(
    secret => secret !== undefined,
  )
  return access
}

/** The credentials in a URL, as they stand there and as they are sent. */
function credentials(url: string): string[] {
  const userinfo = url.slice(0, Math.max(0, url.lastIndexOf('@'))).replace(/^[a-z][a-z0-9+.-]*:\/\//i, '')
  const password = userinfo.slice(userinfo.indexOf(':') + 1)
  return [userinfo, password, decoded(password), Buffer.from(userinfo).toString('base64')]
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

export function sayWarnings(effective: Effective, terminal: Terminal): void {
  for (const warning of effective.warnings) terminal.err(`warning: ${warning}\n`)
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new SluiceError(failure('OPTION_INVALID', { option: path, problem: `cannot be read (${code})` }), {
      cause: error,
    })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    // The parser's message quotes the text around the place, which may be a secret.
    const position = /position (\d+)/.exec(String(error))?.[1]
    const line = position === undefined ? '' : ` (line ${text.slice(0, Number(position)).split('\n').length})`
    throw new SluiceError(failure('OPTION_INVALID', { option: configFile, problem: `is not valid JSON${line}` }))
  }
}
