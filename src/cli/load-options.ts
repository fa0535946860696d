import { readFile, stat } from 'node:fs/promises'
import type { FreshCredentials } from '../index.js'
import {
  type ClusterAccess,
  readAccess,
  readAdminKey,
  readServeTls,
  readServeToken,
} from '../options/cluster-access.js'
import { type GuardedJson, readGuarded } from '../options/guarded.js'
import { nodeUrls } from '../options/urls.js'
import { type Effective, type OptionSources, resolveOptions } from '../options/resolve.js'
import { asTyped, sayingOf } from './as-typed.js'
import { knownSecrets } from './terminal/known-secrets.js'
import type { Terminal } from './terminal/terminal.js'
import { fail } from '../failure/fail.js'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Read from the working folder, if it exists. */
const configFile = 'sluice.config.json'

/** The options in force for this command line. Throws SluiceError OPTION_INVALID, INDEX_NAME_INVALID. */
export async function loadOptions(flags: OptionSources['flags'], terminal: Terminal): Promise<Effective> {
  const text = await readIfThere(configFile)
  const file = text === undefined ? {} : { file: { path: configFile, values: parse(text) } }
  const effective = resolveOptions({ flags, env: terminal.env, ...file })
  terminal.manner.json = effective.values.json
  const said = sayingOf(effective)
  terminal.manner.typed = known => asTyped(known, said)
  return effective
}

/** Reads the files that options name. Keeps their secrets out of every error. */
export async function loadAccess(effective: Effective, terminal: Terminal): Promise<ClusterAccess> {
  const access = await readAccess(effective, async path => await readAgain(path, effective))
  // Secrets of an earlier reading may still appear in messages.
  const { httpsProxy, nodes } = effective.values
  const secrets = [...terminal.manner.secrets, ...knownSecrets(access, httpsProxy, ...nodeUrls(nodes))]
  terminal.manner.secrets = [...new Set(secrets)]
  return access
}

/** Contents of files that can be read only once, such as pipes. */
const pipes = new WeakMap<Effective, Map<string, string>>()

/** A second read of a pipe would wait for a writer that is gone. */
async function readAgain(path: string, effective: Effective): Promise<string> {
  const known = pipes.get(effective)?.get(path)
  if (known !== undefined) return known
  const text = await readFile(path, 'utf8')
  const isFile = await stat(path).then(
    found => found.isFile(),
    () => false,
  )
  if (!isFile) pipes.set(effective, new Map(pipes.get(effective)).set(path, text))
  return text
}

/** The key of the filter administration, which stays out of every error. Throws SluiceError OPTION_INVALID. */
export async function loadAdminKey(effective: Effective, terminal: Terminal): Promise<string> {
  const key = await readAdminKey(effective, async path => await readFile(path, 'utf8'))
  terminal.manner.secrets = [...terminal.manner.secrets, ...knownSecrets({ apiKey: key }, undefined)]
  return key
}

/** The token of a receiver's callers, which stays out of every error. Throws SluiceError OPTION_INVALID. */
export async function loadServeToken(effective: Effective, terminal: Terminal): Promise<string | false> {
  const token = await readServeToken(effective, async path => await readFile(path, 'utf8'))
  if (token !== false && token !== '') terminal.manner.secrets = [...terminal.manner.secrets, token]
  return token
}

/** The certificate of a receiver, and its key. Throws SluiceError OPTION_INVALID. */
export async function loadServeTls(effective: Effective): ReturnType<typeof readServeTls> {
  return await readServeTls(effective, async path => await readFile(path, 'utf8'))
}

/** The JSON that a guarded load is given. Throws SluiceError OPTION_INVALID. */
export async function loadGuarded(effective: Effective): Promise<GuardedJson> {
  return await readGuarded(effective, async path => await readFile(path, 'utf8'))
}

/** Reads the credentials again: files may have changed since the command began. Throws SluiceError OPTION_INVALID. */
export async function reloadCredentials(effective: Effective, terminal: Terminal): Promise<FreshCredentials> {
  const { apiKey, username, password, proxy } = await loadAccess(effective, terminal)
  return { apiKey, username, password, proxy: proxy?.url }
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
    throw fail(
      'OPTION_INVALID',
      { option: path, problem: `cannot be read (${code})` },
      {
        cause: error,
      },
    )
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    // The parser's message quotes the text around the place, which may be a secret.
    const position = /position (\d+)/.exec(String(error))?.[1]
    const line = position === undefined ? '' : ` (line ${text.slice(0, Number(position)).split('\n').length})`
    throw fail('OPTION_INVALID', { option: configFile, problem: `is not valid JSON${line}` })
  }
}

/** Returns the folder for checkpoints: the option's value, or the usual place of this system. */
export function stateDir({ values }: Effective, { env }: Terminal): string {
  return values.stateDir ?? join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'sluice')
}
