import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ServiceNowOptions } from '../index.js'
import type { Effective } from '../options/resolve.js'
import { readServiceNowAccess } from '../options/servicenow-access.js'
import { secretForms } from './known-secrets.js'
import { stateDir } from './state-dir.js'
import type { Terminal } from './terminal.js'

/** In the state folder. */
const TOKENS = 'servicenow-tokens.json'

/**
 * The library's options for the service-management platform, from what the user set; what is secret in them stays out of every error.
 * Throws SluiceError OPTION_INVALID, also where the instance is not known.
 */
export async function serviceNowOptions(effective: Effective, terminal: Terminal): Promise<ServiceNowOptions> {
  const { values } = effective
  const access = await readServiceNowAccess(effective, async path => await readFile(path, 'utf8'))
  const { username = '', password, clientSecret, refreshToken } = access
  const secrets = [password, clientSecret, refreshToken].filter(secret => secret !== undefined)
  keepSecret(terminal, ...secrets.flatMap(secret => secretForms(username, secret)))
  // Every load knows of these options, and few have a platform.
  const { grantOf } = await import('../connect/open-instance.js')
  const grant = grantOf({ ...access, grant: values.servicenowGrant })
  // What the environment holds can be asked for again with each run; tokens that somebody logged in for, or that change, cannot.
  const isKept = grant === 'authorization_code' || grant === 'refresh_token'
  const tokenFile = values.tokenFile ?? (isKept ? join(stateDir(effective, terminal), TOKENS) : undefined)
  return { ...access, grant, ...(tokenFile === undefined ? {} : { tokenFile }) }
}

/** For what becomes known later: tokens. */
export function keepSecret(terminal: Terminal, ...secrets: readonly string[]): void {
  terminal.manner.secrets = [...new Set([...terminal.manner.secrets, ...secrets])]
}
